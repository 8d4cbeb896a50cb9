"""The handshake of a link: INIT and OPEN, what they negotiate, and what they may not do (notes 4.2)."""

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from zdissect.engine.messages import DecodedMessage
from zdissect.flow.framing import UNKNOWN, Framing
from zdissect.grammar.enums import DEFAULT_BITS, RANGED, RESOLUTION, SN_MASKS
from zdissect.grammar.ports import SCOUTING_PORT
from zdissect.grammar.structures import DEFAULT_BATCH_SIZE
from zdissect.grammar.transport import FIRST_PRIORITY, LAST_PRIORITY, LINK_TAG

if TYPE_CHECKING:
    from zdissect.session.model import Link

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


@dataclass(slots=True)
class LinkEnd:
    """What one end of a link said of itself."""

    zid: str | None = None
    wire_zid: bytes = b""
    role: str | None = None
    version: int | None = None
    sn_bits: int = DEFAULT_BITS
    rid_bits: int = DEFAULT_BITS
    batch_size: int = DEFAULT_BATCH_SIZE
    patch: int = 0
    extensions: frozenset[str] = frozenset()
    cookie: bytes | None = None
    lease_ms: int | None = None
    initial_sn: int | None = None
    opened: bool = False
    """It has sent its OPEN."""
    closed: bool = False
    """It has sent CLOSE."""
    priorities: tuple[int, int] | None = None
    """Range of QoSLink."""


@dataclass(slots=True)
class Handshake:
    """The handshake of one link, as far as it was seen."""

    ends: tuple[LinkEnd, LinkEnd] = field(default_factory=lambda: (LinkEnd(), LinkEnd()))
    opener: int = 0
    """Direction of the side that opened."""
    step: int = 0
    """How many of the four messages were seen."""
    agreed: Parameters | None = None
    partial: bool = False
    """An INIT was cut: what it proposed isn't known."""
    said: dict[str, bytes] = field(default_factory=dict)
    """The last message of each step."""

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

    def feed(self, message: DecodedMessage, link: "Link", direction: int, whole: bool) -> Framing | None:
        """Takes an INIT or OPEN of a link; the framing of this direction from its next batch on, if that changes.

        Args:
            whole: Its end is in the capture.
        """
        row = message.row
        name = row["message"]
        step = STEPS.index(name)
        heard = link.messages[1 - direction] > 0
        port = link.flow.ends[1 - direction].port
        if step == 0 and link.flow.link == "udp" and port == SCOUTING_PORT:
            message.remark("misplaced-message", f"INIT_SYN to port {port}, which is for scouting")
        if step == 0:
            self.opener = direction
            if link.flow.replaces:
                message.remark("session-reopened", f"opened again from the same port: {link.flow.replaces} is over")
        if step and step > self.step:
            text = f"{name} without {STEPS[step - 1]}"
            first = link.begins(direction) and (name == "OPEN_SYN" or link.begins(1 - direction))
            if (self.step and heard) or (first and not self.step):
                message.remark("handshake-order", text)
        elif step < self.step and link.flow.link != "tcp" and self.said.get(name) == message.data:
            message.remark("handshake-repeated", f"{name} is repeated with the same bytes")
            self.step = 1 if step == 0 else self.step
        elif step < self.step:
            message.remark("handshake-order", f"{name} after {STEPS[self.step - 1]}")
        self.said[name] = message.data
        self.step = max(self.step, step + 1) if self.step or step == 0 else self.step
        end, other = self.ends[direction], self.ends[1 - direction]
        if name.startswith("INIT"):
            self.init(message, row, end)
            self.partial = self.partial or not whole
            if name == "INIT_ACK" and not self.partial:
                self.answer(message, end, other)
            return None
        return self.open(message, row, end, other)

    def init(self, message: DecodedMessage, row: dict[str, Any], end: LinkEnd) -> None:
        """What both forms of INIT say."""
        end.zid, end.role, end.version = row.get("zid"), row.get("whatami"), row.get("version")
        end.wire_zid = message.value("init.zid") or b""
        end.sn_bits = row.get("resolution_sn", DEFAULT_BITS)
        end.rid_bits = row.get("resolution_rid", DEFAULT_BITS)
        end.batch_size = row.get("batch_size", DEFAULT_BATCH_SIZE)
        end.patch = row.get("patch", 0)
        end.cookie = row.get("cookie")
        end.extensions = frozenset(ext["name"] for ext in row.get("extensions", ()) if ext["name"])
        if {"qos", "qos_link"} <= end.extensions:
            message.remark("qos-twice", "QoS and QoSLink together", "init.ext_qos_link")
        link = message.value("init.ext_qos_link.value")
        if link is not None and LINK_TAG.of(link) & RANGED:
            end.priorities = FIRST_PRIORITY.of(link), LAST_PRIORITY.of(link)

    def answer(self, message: DecodedMessage, end: LinkEnd, other: LinkEnd) -> None:
        """INIT_ACK: it may not answer more than was proposed. Where that wasn't seen, it tells all the same."""
        if other.zid is None:
            other = end
        for what, at, asked, answered in (
            ("sn resolution", "resolution", other.sn_bits, end.sn_bits),
            ("request id resolution", "resolution", other.rid_bits, end.rid_bits),
            ("batch size", "batch_size", other.batch_size, end.batch_size),
            ("patch", "ext_patch", other.patch, end.patch),
        ):
            if self.step >= 2 and answered > asked:
                message.remark("ack-raises", f"{what} {answered} answers {asked}", f"init.{at}")
        if other is not end and end.zid is not None and end.zid == other.zid:
            message.remark("same-zid", f"both ends are {end.zid}", "init.zid")
        both = end.extensions & other.extensions
        qos = all({"qos", "qos_link"} & one.extensions for one in (end, other))
        self.agreed = Parameters(
            min(end.sn_bits, other.sn_bits), min(end.rid_bits, other.rid_bits), min(end.batch_size, other.batch_size),
            min(end.patch, other.patch), qos, "low_latency" in both, "compression" in both, "multilink" in both,
            "shm" in both,
        )  # fmt: skip

    def open(self, message: DecodedMessage, row: dict[str, Any], end: LinkEnd, other: LinkEnd) -> Framing:
        """Both forms of OPEN; the framing behind them."""
        end.lease_ms, end.initial_sn = row.get("lease_ms"), row.get("initial_sn")
        end.opened = True
        if row["message"] == "OPEN_SYN" and other.cookie is not None and row.get("cookie") not in (None, other.cookie):
            message.remark("cookie-mismatch", "the cookie isn't that of INIT_ACK", "open.cookie")
        agreed = self.agreed
        if agreed is None:
            return UNKNOWN
        if end.initial_sn is not None and end.initial_sn > agreed.sn_limit:
            text = f"initial_sn {end.initial_sn} is above 0x{agreed.sn_limit:x}"
            message.remark("initial-sn-range", text, "open.initial_sn")
        elif self.known and end.initial_sn != rust_initial_sn(end.wire_zid, other.wire_zid, agreed.sn_mask):
            text = "initial_sn isn't computed as in Rust"
            message.remark("initial-sn-foreign", text, "open.initial_sn")
        return Framing(0, agreed.compression, agreed.low_latency)


def rust_initial_sn(sender: bytes, receiver: bytes, mask: int) -> int:
    """initial_sn as the Rust implementation computes it: SHAKE128 of both wire ZenohIDs, masked (notes 4.2)."""
    return int.from_bytes(hashlib.shake_128(sender + receiver).digest(4), "little") & mask
