"""Who speaks to whom, in a few characters: `34ad→83a6`, the arrow turned by direction; introduced once."""

from collections import Counter, OrderedDict
from collections.abc import Iterable

from zdissect.dissection import Dissection, Item
from zdissect.engine.messages import Row
from zdissect.flow.conversation import Flow
from zdissect.flow.verdict import Verdict
from zdissect.records import Endpoint
from zdissect.table import address, endpoint, is_ip

ARROWS = ("→", "←")
_FIRST = 4
"""Hex digits of a ZenohID that name a node, unless another one begins with them."""


MOST = 1 << 14
"""Conversations whose names are remembered..."""
MOST_LIVE = 4096
"""... and in a capture without an end."""
MOST_NAMED = 8
"""Names that a conversation keeps: of its nodes, those that it had before, as it may state ever new ZenohIDs, and its
endpoints."""

_Named = str | Endpoint
"""What has a short name: a ZenohID, or an endpoint whose ZenohID isn't known."""


class _Known:
    """What is known of a conversation: its nodes, the one that opened it first.

    It doesn't hold the flow, which nobody else needs once that is over.
    """

    __slots__ = ("columns", "introduced", "named", "pair", "roles", "zids")

    def __init__(self) -> None:
        self.zids: list[str | None] = [None, None]
        self.roles: list[str | None] = [None, None]
        self.introduced = False
        self.columns = ("", "")
        """What the column says, by direction."""
        self.named: dict[_Named, None] = {}
        """What has names because of this conversation, the latest last; these are forgotten with it."""
        self.pair: frozenset[str | None] = frozenset()
        """The nodes that were seen first in this conversation, if these are those that it has now."""


class Ends:
    """Names the two ends of each conversation."""

    def __init__(self) -> None:
        self.most = MOST
        """So many conversations are remembered, those that spoke last. One that speaks again after it was forgotten is
        introduced again."""
        self.known: OrderedDict[str, _Known] = OrderedDict()
        self.names: dict[str, str] = {}
        """Short names, and what they stand for."""
        self.short: dict[_Named, str] = {}
        self.uses: Counter[_Named] = Counter()
        """How many conversations need a short name: another node may take it when none does."""
        self.seen: dict[frozenset[str | None], str] = {}
        """Pairs of nodes, with the conversation in which they were seen first."""

    def column(self, item: Item, row: Row | None) -> tuple[str, bool]:
        """(`34ad→83a6`, whether these were introduced); row: that of the first message, if there is one."""
        flow, direction = item.flow, item.direction
        if not flow.id:
            return "", True
        known = self.known.get(flow.id)
        if known is None:
            if len(self.known) >= self.most:
                self._forget()
            known = self.known[flow.id] = _Known()
            self._name(known, flow)
        else:
            self.known.move_to_end(flow.id)
        if row is not None and "src_zid" in row:
            source, target = row["src_zid"], row.get("dst_zid")
            if known.zids[direction] != source or (target is not None and known.zids[1 - direction] != target):
                self._learn(known, flow, direction, row)
        return known.columns[direction], known.introduced

    def introduction(self, item: Dissection, row: Row) -> str:
        """Who talks, and where: to be told before this message; empty if it needn't be, or can't be yet."""
        flow = item.flow
        known = self.known.get(flow.id)
        if known is None or item.scouting or row.get("layer") == "scouting":
            return ""
        nodes = known.zids
        if known.introduced or (None in nodes and row.get("message") == "INIT_SYN"):
            return ""
        known.introduced = True
        ends = [
            " ".join(filter(None, (known.roles[side], zid and self.short[zid], endpoint(flow.ends[side]))))
            for side, zid in enumerate(known.zids)
        ]
        text = f"{flow.id}: {ends[0]} {ARROWS[0]} {ends[1]}"
        if flow.verdict is Verdict.MIDDLE and not any(nodes):
            return f"{text}, begun before the capture"
        first = self._first(known, flow) if None not in nodes else flow.id
        return text if first == flow.id else f"{text}, the nodes of {first}"

    def _first(self, known: _Known, flow: Flow) -> str:
        """The conversation in which the nodes of this one were seen first."""
        pair = frozenset(known.zids)
        first = self.seen.setdefault(pair, flow.id)
        if first == flow.id:
            known.pair = pair
        return first

    def _forget(self) -> None:
        """Forgets the conversation that was silent for longest, and the names that no other one needs."""
        _, known = self.known.popitem(last=False)
        self.seen.pop(known.pair, None)
        self._release(known.named)

    def _release(self, named: Iterable[_Named]) -> None:
        """A conversation doesn't need these names any more."""
        for what in named:
            self.uses[what] -= 1
            if not self.uses[what]:
                del self.uses[what]
                self.names.pop(self.short.pop(what), None)

    def _learn(self, known: _Known, flow: Flow, direction: int, row: Row) -> None:
        """Take over what a message tells of its ends."""
        for side, prefix in ((direction, "src"), (1 - direction, "dst")):
            if row.get(f"{prefix}_zid") is not None:
                known.zids[side], known.roles[side] = row[f"{prefix}_zid"], row.get(f"{prefix}_role")
        self.seen.pop(known.pair, None)
        known.pair = frozenset()
        known.introduced = False
        self._name(known, flow)

    def _name(self, known: _Known, flow: Flow) -> None:
        """Names both ends."""
        named = [end if zid is None else zid for zid, end in zip(known.zids, flow.ends, strict=True)]
        self.uses.update({*named} - known.named.keys())
        for what in named:
            known.named.pop(what, None)
            known.named[what] = None
        left, right = (
            self.of_node(zid) if zid is not None else self.of_end(end)
            for zid, end in zip(known.zids, flow.ends, strict=True)
        )
        known.columns = (f"{left}{ARROWS[0]}{right}", f"{left}{ARROWS[1]}{right}")
        if len(known.named) > MOST_NAMED:
            former = [*known.named][:-MOST_NAMED]
            for what in former:
                del known.named[what]
            self._release(former)

    def of_node(self, zid: str) -> str:
        """The first digits of a ZenohID: so many that no other node has them."""
        return self._shortest(zid, [zid[:digits] for digits in range(_FIRST, len(zid))] + [zid])

    def of_end(self, end: Endpoint) -> str:
        """`:7447`, with as much of the address as tells it from others; what isn't IP in full."""
        if not is_ip(end):
            return self._shortest(end, [endpoint(end)])
        text = address(end.address)
        last = max(text.rfind("."), text.rfind(":"))
        return self._shortest(end, [f":{end.port}", f"{text[last:]}:{end.port}", endpoint(end)])

    def _shortest(self, what: _Named, names: list[str]) -> str:
        name = self.short.get(what)
        if name is None:
            whole = names[-1]
            name = next((name for name in names if self.names.setdefault(name, whole) == whole), whole)
            self.short[what] = name
        return name
