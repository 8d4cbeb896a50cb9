"""Queries: how many, what answered them and after which time, and which were never answered."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.stats.keys import wire_key
from zdissect.stats.times import Times

MOST_OPEN = 100_000
"""Queries whose answers are waited for; of more, the oldest count as unanswered."""
MOST_KEYS = 10_000
KEPT_PER_KEY = 1000
"""Response times kept for each key; of more, a sample."""

Ident = tuple[frozenset[str], int, int]
"""Who talks, the frame of the REQUEST and its id."""


@dataclass(slots=True)
class Asked:
    """The queries on one key."""

    queries: int = 0
    replies: int = 0
    errors: int = 0
    ended: int = 0
    """Queries whose RESPONSE_FINAL came."""
    empty: int = 0
    """Of these, those without any reply."""
    first: Times = field(default_factory=lambda: Times(KEPT_PER_KEY))
    """Times to the first reply."""
    final: Times = field(default_factory=lambda: Times(KEPT_PER_KEY))
    """Times to RESPONSE_FINAL."""

    def report(self) -> dict[str, Any]:
        """The entry of a key."""
        return {
            "queries": self.queries,
            "replies": self.replies,
            "errors": self.errors,
            "without_reply": self.empty,
            "unanswered": self.queries - self.ended,
            "response_time_ns": self.first.report(),
            "final_time_ns": self.final.report(),
        }


@dataclass(slots=True)
class _Open:
    """A query on its way."""

    asked: Asked
    answers: int = 0


class Queries:
    """All queries."""

    def __init__(self) -> None:
        self.all = Asked(first=Times(), final=Times())
        self.keys: dict[str, Asked] = {}
        self.others = Asked()
        """Queries on keys above the limit."""
        self.open: OrderedDict[Ident, _Open] = OrderedDict()
        self.stray = 0
        """Answers whose query isn't in the capture, or has ended."""

    def feed(self, item: Dissection, row: Row) -> None:
        """Takes a message."""
        name = row["message"]
        if name == "REQUEST":
            self.ask(item, row)
        elif name == "RESPONSE" or name == "RESPONSE_FINAL":
            frame, ident = row.get("request_frame"), row.get("request_id")
            known = self.open.get((_ends(item, row), frame or 0, ident or 0))
            if known is None:
                self.stray += 1
            elif name == "RESPONSE":
                self.answer(known, row)
            else:
                self.end(known, row)
                del self.open[_ends(item, row), frame or 0, ident or 0]

    def ask(self, item: Dissection, row: Row) -> None:
        """Takes a REQUEST."""
        key = wire_key(row) or ""
        asked = self.keys.get(key)
        if asked is None:
            asked = self.others if len(self.keys) >= MOST_KEYS else self.keys.setdefault(key, Asked())
        for one in (self.all, asked):
            one.queries += 1
        self.open[_ends(item, row), item.frame.number, row.get("request_id", 0)] = _Open(asked)
        if len(self.open) > MOST_OPEN:
            self.open.popitem(last=False)

    def answer(self, known: _Open, row: Row) -> None:
        """Takes a RESPONSE."""
        known.answers += 1
        for one in (self.all, known.asked):
            if row.get("body") == "ERR":
                one.errors += 1
            else:
                one.replies += 1
            if known.answers == 1:
                one.first.add(row["response_time_ns"])

    def end(self, known: _Open, row: Row) -> None:
        """Takes a RESPONSE_FINAL."""
        for one in (self.all, known.asked):
            one.ended += 1
            one.empty += not known.answers
            one.final.add(row["response_time_ns"])

    def report(self) -> dict[str, Any]:
        """Totals, and the keys with most queries first."""
        ordered = sorted(self.keys.items(), key=lambda pair: (-pair[1].queries, pair[0]))
        listed = [{"key_expr": name, **asked.report()} for name, asked in ordered]
        others = self.others.report() if self.others.queries else None
        return {**self.all.report(), "stray_answers": self.stray, "keys": listed, "others": others}


def _ends(item: Dissection, row: Row) -> frozenset[str]:
    """The two nodes of a session, whichever of its links carries the message; the flow if they aren't known."""
    src, dst = row.get("src_zid"), row.get("dst_zid")
    return frozenset((src, dst)) if src and dst else frozenset((item.flow.id,))
