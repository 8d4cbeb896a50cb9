"""What INIT, OPEN and JOIN say about the ends of a link, and what a handshake has agreed on so far (notes 4.2).

The steps of a handshake, and its rules, are in `opening.py`.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from zdissect.grammar.enums import DEFAULT_BITS, RESOLUTION, SN_MASKS
from zdissect.grammar.structures import DEFAULT_BATCH_SIZE

_SN_MASKS = {int(name.split()[0]): SN_MASKS[value] for value, name in RESOLUTION.names.items()}
"""Mask of sequence numbers by the name of their resolution."""
ASSUMED_MASK = _SN_MASKS[DEFAULT_BITS]
"""Mask of sequence numbers where the handshake wasn't seen: the default resolution."""
STEPS = ("INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK")


class Parameters(NamedTuple):
    """What a handshake agreed on."""

    sn_bits: int = DEFAULT_BITS
    """Name of the resolution of sequence numbers: 8, 16, 32 or 64."""
    rid_bits: int = DEFAULT_BITS
    batch_size: int = DEFAULT_BATCH_SIZE
    patch: int = 0
    qos: bool = True
    low_latency: bool = False
    compression: bool = False
    multilink: bool = False
    shm: bool = True

    @property
    def sn_mask(self) -> int:
        """Mask of sequence numbers (notes 1.9)."""
        return _SN_MASKS.get(self.sn_bits, SN_MASKS[-1])

    @property
    def sn_limit(self) -> int:
        """The largest sequence number that may be sent: with 64 bits any, though Rust keeps 32 of them (notes 1.9)."""
        return self.sn_mask if self.sn_bits < 64 else (1 << 64) - 1


class Offer(NamedTuple):
    """The parameters of a link as one end states them, in INIT or JOIN, before both ends agree."""

    sn_bits: int = DEFAULT_BITS
    rid_bits: int = DEFAULT_BITS
    batch_size: int = DEFAULT_BATCH_SIZE
    patch: int = 0
    extensions: frozenset[str] = frozenset()
    """Names of the extensions that are present."""


NO_OFFER = Offer()
"""The defaults, used for an end that hasn't been heard."""


@dataclass(slots=True)
class LinkEnd:
    """What one end of a link said about itself."""

    zid: str | None = None
    wire_zid: bytes = b""
    """Its ZenohID as it is on the wire."""
    role: str | None = None
    version: int | None = None
    offer: Offer = NO_OFFER
    lease_ms: int | None = None
    cookie: bytes | None = None
    initial_sn: int | None = None
    opened: bool = False
    """Whether it has sent OPEN."""
    closed: bool = False
    """Whether it has sent CLOSE."""
    priorities: tuple[int, int] | None = None
    """Priority range that its QoSLink stated."""


@dataclass(slots=True)
class Handshake:
    """The handshake of a link, as far as it was seen."""

    ends: tuple[LinkEnd, LinkEnd] = field(default_factory=lambda: (LinkEnd(), LinkEnd()))
    opener: int = 0
    """Direction of the side that opened."""
    step: int = 0
    """How many of the four messages were seen."""
    agreed: Parameters | None = None
    partial: bool = False
    """Whether an INIT was cut off, so that its proposal isn't known."""
    said: dict[str, bytes] = field(default_factory=dict)
    """The last message of each step."""

    def forget(self) -> None:
        """Lets go of the bytes that only a repeated or further step would be compared with: they may be many."""
        self.said.clear()
        for end in self.ends:
            end.cookie = None

    @property
    def known(self) -> bool:
        """Whether both ends have said who they are."""
        return None not in (self.ends[0].zid, self.ends[1].zid)

    @property
    def low_latency(self) -> bool:
        """Whether low latency was agreed on."""
        return self.agreed is not None and self.agreed.low_latency

    @property
    def complete(self) -> bool:
        """Whether all four messages were seen."""
        return self.step == len(STEPS)
