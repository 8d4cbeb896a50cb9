"""The state of a session and of its links. Lists are indexed by side: 0 is the opener."""

from collections.abc import Callable
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
    """A request or interest that must be answered, or a pulse that must be heard."""
    link: "Link"
    direction: int
    """The side that asked, or that must be heard."""
    gaps: int
    """Gaps of the session when this was registered. If there are more by now, the capture may have lost the answer."""


class Opened(NamedTuple):
    """When and how a session began."""

    flow_id: str = ""
    """The flow with which it began; empty if its handshake isn't in the capture."""
    ts_ns: int = 0


UNSEEN = Opened()
"""Stands for a session whose handshake isn't in the capture."""


@dataclass(slots=True, eq=False)
class Side:
    """One of the two nodes of a session: who it is, and what it has declared, asked and told."""

    zid: str | None = None
    role: str | None = None
    initial_sn: int | None = None
    """Its first sequence number."""
    stated: Parameters | None = None
    """The parameters in its JOIN, where nothing is negotiated."""
    keys: KeyTable = field(default_factory=KeyTable)
    declared: DeclaredState = field(default_factory=DeclaredState)
    requests: Requests = field(default_factory=Requests)
    """Those that it has sent."""
    graph: Graph = field(default_factory=Graph)

    @property
    def tables(self) -> tuple[KeyTable | DeclaredState | Requests | Graph, ...]:
        """What grows with all that it declares, asks and tells."""
        return self.keys, self.declared, self.requests, self.graph


@dataclass(slots=True, eq=False)
class Session:
    """A session: all that two nodes say to each other, over one link or several."""

    sides: tuple[Side, Side] = field(default_factory=lambda: (Side(), Side()))
    agreed: Parameters | None = None
    opened: Opened = UNSEEN
    links: set[str] = field(default_factory=set)
    """Flows that carry it now."""
    carriers: int = 1
    """How many these are, with those that were closed and haven't ended: what is still under way there may refer to
    what was declared. It begins with the one link that it is made for."""
    shared: bool = False
    """Whether it has, or had, several links: messages on different links may be captured out of order."""
    gaps: int = 0
    """Gaps of the capture in its streams."""
    epoch: int = 0
    """Counts changes that may affect findings about usual messages: key expressions, handshakes, gaps."""
    channels: dict[Space, Channel] = field(default_factory=dict)
    chains: dict[Space, FragmentChain] = field(default_factory=dict)
    pieces: int = 0
    """The memory that these chains take."""
    timestamps: Timestamps = field(default_factory=Timestamps)
    awaited: Deadlines[Awaited] = field(default_factory=Deadlines)
    listed_ns: float = NEVER
    """When its deadlines will be checked, if no message comes earlier."""
    behind: Callable[[], None] | None = None
    """Takes the usual messages up to now, where messages are read in blocks: see `vector`."""

    @property
    def size(self) -> int:
        """The memory that is taken by what both sides declared, asked and told."""
        first, second = self.sides
        return (
            first.keys.size + first.declared.size + first.requests.size + first.graph.size
            + second.keys.size + second.declared.size + second.requests.size + second.graph.size
            + self.timestamps.size
        )  # fmt: skip

    def shrink(self) -> None:
        """Forgets what is older in the largest table: from now on not all of the session is known."""
        tables = [*self.sides[0].tables, *self.sides[1].tables, self.timestamps]
        max(tables, key=lambda table: table.size).shrink()
        self.gaps += 1
        self.epoch += 1

    def release(self) -> None:
        """A link doesn't carry it any more. If no other one does, nothing can refer to what was declared: who keeps
        links that have ended keeps none of it."""
        self.carriers -= 1
        if not self.carriers:
            self.clear()

    def clear(self) -> None:
        """Lets go of what only further messages would need, and what may be large. Who the nodes are, what was agreed
        on, and whether there were gaps stays: listings tell it at the end of the capture."""
        for side in self.sides:
            side.keys, side.declared, side.requests, side.graph = KeyTable(), DeclaredState(), Requests(), Graph()
        self.chains, self.pieces, self.timestamps = {}, 0, Timestamps()
        self.awaited.clear()

    def drop_fragments(self) -> int:
        """Gives up the chain of fragments that takes most memory; returns the bytes of it."""
        chain = max(self.chains.values(), key=lambda chain: chain.kept)
        size = chain.size
        self.pieces -= chain.kept
        chain.clear(broken=True)
        return size

    def share(self) -> None:
        """Notes that another link carries it, too: from now on, what is behind must keep to the order of both."""
        if self.behind is not None:
            self.behind()
        self.shared = True
        if self.behind is not None:
            self.behind()

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
        """Whether the capture holds all of it so far, in order: only then was an unknown id never declared."""
        return self.agreed is not None and not self.gaps and not self.shared

    @property
    def sourced(self) -> bool:
        """Whether declarations have no ids but 0, as between nodes that exchange link state (notes 6.1)."""
        return self.roles == ("router", "router") or any(side.graph.zids for side in self.sides)


class Speaker(NamedTuple):
    """A side of a session, as it was known at some time."""

    session: Session
    side: int
    sourced: bool
    """See `Session.sourced`."""


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
    """The results of `who` for each direction, cached."""
    over: bool = False
    """Whether a side has sent CLOSE or ended its stream: no sign of life is expected any more."""
    guessed: bool = False
    """Whether it was reported that its framing was found by trial."""

    def speaker(self, direction: int) -> Speaker:
        """Who sends in a direction."""
        return Speaker(self.session, direction ^ self.flip, self.session.sourced)

    @property
    def batch_size(self) -> int | None:
        """The size of a batch that was agreed on; None unless the handshake is complete."""
        agreed = self.handshake.agreed
        return agreed.batch_size if agreed is not None and self.handshake.complete else None

    def begins(self, direction: int) -> bool:
        """Whether the capture holds all that a direction has sent so far."""
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
