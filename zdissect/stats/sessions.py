"""Sessions: both ends, what they agreed on, what each sent, and how it ended. All links of a session are one row."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from zdissect.dissection import Dissection, Item, Notice, Skip
from zdissect.engine.lazy_messages import LazyTape
from zdissect.flow.conversation import Flow
from zdissect.flow.verdict import Verdict
from zdissect.session.handshake import LinkEnd
from zdissect.session.liveness import SLACK_MS
from zdissect.session.model import Link
from zdissect.stats.came import NOWHERE, At, Inseparable
from zdissect.table import endpoint

Times = tuple[int, int]
"""Capture time of a frame, and the same without leaps of the clock."""
_NEVER = float("inf")
"""Stands for an unknown lease."""

Began = tuple[int, At]
"""When a session began, without leaps of the clock, and where the first that it carried came: sorts sessions."""
Entries = list[tuple[Began, dict[str, Any]]]
"""The entries of sessions, which have no numbers yet."""


@dataclass(slots=True)
class Sent:
    """What one direction of a flow carried."""

    messages: int = 0
    size: int = 0
    """Bytes of its batches, with their length prefixes, and of what was skipped."""
    skipped: int = 0
    first_ns: int | None = None
    last_ns: int | None = None
    """First and last time at which it carried something; None if it never did."""
    began_ns: int = 0
    heard_ns: int = 0
    """The same without leaps of the clock."""


@dataclass(slots=True)
class Leg:
    """A flow that carries a session."""

    flow: Flow
    at: At = NOWHERE
    """Where the first that it carried came."""
    sent: tuple[Sent, Sent] = field(default_factory=lambda: (Sent(), Sent()))
    close: tuple[int, str] | None = None
    """Direction and reason of the first CLOSE."""
    heard: tuple[int, int] | None = None
    """`heard_ns` of both directions before the connection began to end, if anything came after that."""

    def times(self) -> tuple[int, int]:
        """First and last time at which it carried something."""
        first = [sent.first_ns for sent in self.sent if sent.first_ns is not None]
        last = [sent.last_ns for sent in self.sent if sent.last_ns is not None]
        return min(first, default=0), max(last, default=0)

    def passed(self) -> tuple[int, int]:
        """The same without leaps of the clock."""
        used = [sent for sent in self.sent if sent.first_ns is not None]
        return min((sent.began_ns for sent in used), default=0), max((sent.heard_ns for sent in used), default=0)


class SessionStats:
    """Collects legs; joins them to sessions at the end."""

    def __init__(self) -> None:
        self.at: At = NOWHERE
        """Where what is taken comes; matters only to those who put the sessions of several groups in order."""
        self.legs: dict[str, Leg] = {}

    def feed(self, item: Item) -> None:
        """Takes a dissection or skipped bytes."""
        if isinstance(item, Notice):
            return
        if item.flow.verdict is Verdict.TEXT:  # not a session
            return
        made = False
        if not isinstance(item, Skip):
            plain = isinstance(item.tape, LazyTape)  # FRAMEs and KEEP_ALIVEs, nothing else
            if item.scouting:
                return
            made = item.buffer.name in ("decompressed", "reassembled")
        leg = self.legs.get(item.flow.id)
        if leg is None:
            leg = self.legs[item.flow.id] = Leg(item.flow, self.at)
        sent = leg.sent[item.direction]
        self.time(leg, item.direction, item.frame.ts_ns, item.frame.now_ns)
        if isinstance(item, Skip):
            sent.size += self.size(item)
            sent.skipped += len(item.data)
            return
        sent.size += 0 if made else self.size(item)
        sent.messages += self.count(item)
        for message in () if plain else item.messages:
            if message.row["message"] == "CLOSE" and leg.close is None:
                leg.close = item.direction, str(message.row.get("close_reason"))

    @staticmethod
    def time(leg: Leg, direction: int, ts_ns: int, now_ns: int) -> None:
        """Takes a time at which a direction carried something."""
        sent, endings = leg.sent[direction], leg.flow.endings
        if endings and leg.heard is None and now_ns > endings[0][2]:
            leg.heard = leg.sent[0].heard_ns, leg.sent[1].heard_ns
        if sent.first_ns is None or sent.last_ns is None:
            sent.first_ns = sent.last_ns = ts_ns
            sent.began_ns = sent.heard_ns = now_ns
        else:
            sent.last_ns = max(sent.last_ns, ts_ns)
            sent.heard_ns = max(sent.heard_ns, now_ns)

    def run(self, flow: Flow, direction: int, times_ns: Iterable[Times], size: int, messages: int) -> None:
        """Takes whole batches of a direction: their first and last times, or that of a single one, bytes, messages."""
        leg = self.legs.get(flow.id)
        if leg is None:
            leg = self.legs[flow.id] = Leg(flow, self.at)
        for ts_ns, now_ns in times_ns:
            self.time(leg, direction, ts_ns, now_ns)
        leg.sent[direction].size += size
        leg.sent[direction].messages += messages

    def size(self, item: Dissection | Skip) -> int:
        """How many bytes an item counts for."""
        return len(item.data if isinstance(item, Skip) else item.buffer.data)

    def count(self, item: Dissection) -> int:
        """How many messages a dissection counts for."""
        return len(item.messages)

    def report(self, known: Iterable[Link], last_ns: int) -> list[dict[str, Any]]:
        """The sessions, in the order in which they began; arguments as of `entries`."""
        return numbered(self.entries(known, last_ns))

    def entries(self, known: Iterable[Link], last_ns: int) -> Entries:
        """The sessions.

        Args:
            known: Their links.
            last_ns: The end of the capture, without leaps of the clock.
        """
        links = {link.flow.id: link for link in known}
        groups: dict[int, list[tuple[Leg, Link]]] = {}
        for leg in self.legs.values():
            link = links.setdefault(leg.flow.id, Link(leg.flow))
            groups.setdefault(id(link.session), []).append((leg, link))
        return [
            ((min(leg.passed()[0] for leg, _ in legs), min(leg.at for leg, _ in legs)), _session(legs, last_ns))
            for legs in groups.values()
        ]


def numbered(entries: Entries) -> list[dict[str, Any]]:
    """Sessions in the order in which they began, with their numbers."""
    ordered = sorted(entries, key=itemgetter(0))
    return [{**entry, "session": number} for number, (_, entry) in enumerate(ordered, 1)]


def in_groups(entries: Entries, more: Entries) -> Entries:
    """All sessions of two groups. Raises Inseparable if it isn't known which began first."""
    if not {began for began, _ in entries}.isdisjoint(began for began, _ in more):
        raise Inseparable("two groups have sessions that began together")
    return entries + more


def _session(legs: list[tuple[Leg, Link]], last_ns: int) -> dict[str, Any]:
    """The entry of a session; its ends are numbered as the session numbers its sides, 0 is the opener."""
    first, last = min(leg.times()[0] for leg, _ in legs), max(leg.times()[1] for leg, _ in legs)
    links = [_link(leg, link, last_ns) for leg, link in legs]
    agreed = legs[0][1].session.agreed or legs[0][1].handshake.agreed
    alive = [link for link in links if link["ended"]["how"] == "open"]
    latest = alive[0] if alive else max(links, key=lambda link: link["last_ts_ns"])
    return {
        "session": 0,
        "handshake": _handshake(legs),
        "ends": [_end(legs, side) for side in (0, 1)],
        "negotiated": agreed._asdict() if agreed is not None else None,
        "first_ts_ns": first,
        "last_ts_ns": last,
        "duration_s": (max(leg.passed()[1] for leg, _ in legs) - min(leg.passed()[0] for leg, _ in legs)) / 1e9,
        "skipped_bytes": sum(sent.skipped for leg, _ in legs for sent in leg.sent),
        "ended": latest["ended"],
        "links": links,
    }


def _handshake(legs: list[tuple[Leg, Link]]) -> str:
    """How much of the handshake is there: complete, partial, join (multicast) or none."""
    shakes = [link.handshake for _, link in legs]
    if any(shake.complete for shake in shakes):
        return "complete"
    if any(shake.step or shake.agreed for shake in shakes):
        return "partial"
    return "join" if any(end.zid for shake in shakes for end in shake.ends) else "none"


def _end(legs: list[tuple[Leg, Link]], side: int) -> dict[str, Any]:
    """One end of a session: who it is, and what it sent over all links."""
    leg, link = legs[0]
    end: LinkEnd = link.handshake.ends[side ^ link.flip]
    sent = [leg.sent[side ^ link.flip] for leg, link in legs]
    return {
        "zid": link.session.zids[side] or end.zid,
        "role": link.session.roles[side] or end.role,
        "version": end.version,
        "address": endpoint(leg.flow.ends[side ^ link.flip]),
        "lease_ms": end.lease_ms,
        "initial_sn": end.initial_sn,
        "messages": sum(direction.messages for direction in sent),
        "bytes": sum(direction.size for direction in sent),
    }


def _link(leg: Leg, link: Link, last_ns: int) -> dict[str, Any]:
    """The entry of a link."""
    first, last = leg.times()
    how, by, reason = _ended(leg, link, last_ns)
    return {
        "flow_id": leg.flow.id,
        "link": leg.flow.link,
        "addresses": [endpoint(end) for end in leg.flow.ends],
        "first_ts_ns": first,
        "last_ts_ns": last,
        "ended": {"how": how, "by": by if by is None else by ^ link.flip, "reason": reason},
    }


def _ended(leg: Leg, link: Link, last_ns: int) -> tuple[str, int | None, str | None]:
    """How a link ended, by which direction, and the reason of a CLOSE.

    `close`, `fin`, `rst`; `lease` (the other side was silent for longer than its lease, and the connection was closed
    without a CLOSE); `reused` (another connection took its ports); `silent` (at the end of the capture, a side has been
    silent for longer than its lease); `open`.
    """
    if leg.close is not None:
        return "close", leg.close[0], leg.close[1]
    direction, how, ended_ns = leg.flow.endings[0] if leg.flow.endings else (0, "capture", 0)
    if how in ("fin", "rst"):
        overdue = _silent_ms(leg, 1 - direction, ended_ns) >= (link.handshake.ends[1 - direction].lease_ms or _NEVER)
        return "lease" if overdue else how, direction, None
    if how == "reused":
        return how, None, None
    leases = [end.lease_ms or _NEVER for end in link.handshake.ends]
    silent = next((side for side in (0, 1) if _silent_ms(leg, side, last_ns) > leases[side] + SLACK_MS), None)
    return "open" if silent is None else "silent", silent, None


def _silent_ms(leg: Leg, direction: int, now_ns: int) -> float:
    """How long a direction has been silent; 0 if it never spoke."""
    heard_ns = leg.heard[direction] if leg.heard is not None else leg.sent[direction].heard_ns
    return (now_ns - heard_ns) / 1e6 if heard_ns else 0
