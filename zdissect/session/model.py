"""What one session knows, and each of its links. Indexed by side: 0 is the opener."""

from dataclasses import dataclass, field
from typing import NamedTuple

from zdissect.engine.messages import Row
from zdissect.flow.conversation import Flow
from zdissect.grammar.enums import PRIORITY
from zdissect.session.deadlines import NEVER, Deadlines
from zdissect.session.fragments import FragmentChain
from zdissect.session.handshake import STEPS, Handshake, Parameters
from zdissect.session.interests import DeclaredState, Interest
from zdissect.session.key_tables import KeyTable
from zdissect.session.liveness import Pulse
from zdissect.session.message_checks import Timestamps
from zdissect.session.requests import Request, Requests
from zdissect.session.routing import Graph
from zdissect.session.sequence import Channel, Space

_PRIORITIES = {name: value for value, name in PRIORITY.names.items()}


class Awaited(NamedTuple):
    """Something that a side has a deadline for."""

    what: Request | Interest | Pulse
    """What must be answered to its end, or be heard."""
    link: "Link"
    direction: int
    """Who asked, or must be heard."""
    gaps: int
    """Gaps of the session when this was registered. If there are more by now, the capture may have lost what came."""


class Opened(NamedTuple):
    """When and how a session began."""

    flow_id: str = ""
    """The flow with which it began; empty if the capture holds no handshake of it."""
    ts_ns: int = 0


UNSEEN = Opened()
"""The capture holds no handshake of the session."""


@dataclass(slots=True, eq=False)
class Side:
    """One of the two nodes of a session: who it is, and what it has declared, asked and told."""

    zid: str | None = None
    role: str | None = None
    initial_sn: int | None = None
    """Its first sequence number."""
    stated: Parameters | None = None
    """What its JOIN says, where nothing is agreed on."""
    keys: KeyTable = field(default_factory=KeyTable)
    declared: DeclaredState = field(default_factory=DeclaredState)
    requests: Requests = field(default_factory=Requests)
    """Those that it has sent."""
    graph: Graph = field(default_factory=Graph)


@dataclass(slots=True, eq=False)
class Session:
    """A session: all that two nodes say to each other, over one link or several."""

    sides: tuple[Side, Side] = field(default_factory=lambda: (Side(), Side()))
    agreed: Parameters | None = None
    opened: Opened = UNSEEN
    links: set[str] = field(default_factory=set)
    """Flows that carry it now."""
    shared: bool = False
    """It has, or had, several links: order between them isn't that of the capture."""
    gaps: int = 0
    """Gaps of the capture in its streams."""
    epoch: int = 0
    """Counts what it has learned that may change what is said of usual messages: key expressions, handshakes, gaps."""
    channels: dict[Space, Channel] = field(default_factory=dict)
    chains: dict[Space, FragmentChain] = field(default_factory=dict)
    timestamps: Timestamps = field(default_factory=Timestamps)
    awaited: Deadlines[Awaited] = field(default_factory=Deadlines)
    listed_ns: float = NEVER
    """When it will be checked, if no message comes before."""

    @property
    def zids(self) -> tuple[str | None, str | None]:
        """The ZenohIDs of both sides."""
        return self.sides[0].zid, self.sides[1].zid

    @property
    def roles(self) -> tuple[str | None, str | None]:
        """The roles of both sides."""
        return self.sides[0].role, self.sides[1].role

    @property
    def complete(self) -> bool:
        """Whether the capture holds all of it so far, in order: only then what isn't known wasn't sent."""
        return self.agreed is not None and not self.gaps and not self.shared

    @property
    def sourced(self) -> bool:
        """Whether declarations have no ids but 0: between those who tell each other of their links (notes 6.1)."""
        return self.roles == ("router", "router") or any(side.graph.zids for side in self.sides)


@dataclass(slots=True, eq=False)
class Link:
    """A flow that carries a session."""

    flow: Flow
    handshake: Handshake = field(default_factory=Handshake)
    session: Session = field(default_factory=Session)
    flip: int = 0
    """1 if its direction 0 is side 1 of the session."""
    pulses: tuple[Pulse, Pulse] = field(default_factory=lambda: (Pulse(), Pulse()))
    gaps: list[int] = field(default_factory=lambda: [0, 0])
    """Gaps of the capture in each direction."""
    messages: list[int] = field(default_factory=lambda: [0, 0])
    """Messages of each direction."""
    names: list[dict[str, str] | None] = field(default_factory=lambda: [None, None])
    """What `who` says of each direction, once it was asked."""
    over: bool = False
    """A side has sent CLOSE or ended its stream: no sign of life is awaited any more."""
    guessed: bool = False
    """It was reported that its framing was found by trial."""

    def begins(self, direction: int) -> bool:
        """Whether the capture holds all that a direction has said so far."""
        return self.flow.begins(direction) and not self.gaps[direction]

    def is_closed(self) -> bool:
        """Whether a side has sent CLOSE: the next handshake on these ports is a new one."""
        return any(end.closed for end in self.handshake.ends)

    def refused(self, uncounted: int) -> str:
        """How far its handshake came, if it began, wasn't completed, and nothing else was said; empty otherwise.

        Args:
            uncounted: Messages of the link that don't count: 1 if a CLOSE ends it.
        """
        shake = self.handshake
        if not shake.step or shake.complete or sum(self.messages) - uncounted > shake.step:
            return ""
        return f"handshake came as far as {STEPS[shake.step - 1]}"

    def who(self, direction: int) -> dict[str, str]:
        """The columns that name both ends of a message of this direction."""
        names = self.names[direction]
        if names is None:
            source, target = self.handshake.ends[direction], self.handshake.ends[1 - direction]
            known = {
                "src_zid": source.zid, "dst_zid": target.zid, "src_role": source.role, "dst_role": target.role,
            }  # fmt: skip
            names = self.names[direction] = {name: value for name, value in known.items() if value is not None}
        return names

    def side(self, direction: int) -> Side:
        """The side of the session that sends in this direction."""
        return self.session.sides[direction ^ self.flip]

    def space(self, row: Row, direction: int) -> Space:
        """The space of sequence numbers that a FRAME or FRAGMENT of this direction is in."""
        return direction ^ self.flip, row.get("reliability") == "reliable", _PRIORITIES[row["priority"]]

    def gap(self, direction: int) -> None:
        """Bytes of a direction aren't in the capture, or couldn't be read."""
        self.gaps[direction] += 1
        self.session.gaps += 1
        self.session.epoch += 1
