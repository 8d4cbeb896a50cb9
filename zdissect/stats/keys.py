"""What was sent to each key: messages, bytes, rate, sources."""

from dataclasses import dataclass, field
from typing import Any

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.stats.came import NOWHERE, At, Inseparable, first_come
from zdissect.table import endpoint

MOST_KEYS = 100_000
"""Most distinct keys that are counted separately; the rest are counted together."""
MOST_SOURCES = 32
MOST_PATHS = 8
"""Most links, by direction, on which the rate of a key is measured."""

FEWEST = 3
"""Fewest messages that make a rate."""

Path = tuple[str, int]
"""Flow and direction."""

Seen = list[Any]
"""Messages, first and last time of these, and where the first one came."""


def wire_key(row: Row) -> str | None:
    """The key expression of a message; `?9/q` if the declared id 9 isn't known, None if it has none."""
    key: str | None = row.get("key_expr")
    if key is None and row.get("key_scope"):
        return f"?{row['key_scope']}{row.get('key_suffix') or ''}"
    return key


def sender(item: Dissection, row: Row) -> str:
    """Who sent a message: its ZenohID, or its address where that isn't known."""
    return row.get("src_zid") or endpoint(item.flow.ends[item.direction])


@dataclass(slots=True)
class Key:
    """What was sent to one key."""

    puts: int = 0
    deletes: int = 0
    replies: int = 0
    size: int = 0
    """Bytes of payloads."""
    resolved: bool = True
    sources: dict[str, At] = field(default_factory=dict)
    """Where the first message of each came."""
    paths: dict[Path, Seen] = field(default_factory=dict)
    """What each link and direction carried."""

    @property
    def messages(self) -> int:
        """Messages of all kinds."""
        return self.puts + self.deletes + self.replies

    def seen(self, source: str, path: Path, messages: int, now_ns: int, at: At = NOWHERE) -> Seen:
        """Notes where messages come from; returns what is known of their path, or what nobody will ask for."""
        if len(self.sources) < MOST_SOURCES:
            self.sources.setdefault(source, at)
        seen = self.paths.get(path)
        if seen is None:
            seen = [0, now_ns, now_ns, at]
            if len(self.paths) < MOST_PATHS:
                self.paths[path] = seen
        seen[0] += messages
        seen[2] = now_ns
        return seen

    def count(self, row: Row, messages: int, size: int) -> None:
        """Counts messages of the kind of one, with so many bytes of payloads in all."""
        if row["message"] == "RESPONSE":
            self.replies += messages
        elif row.get("body") == "DEL":
            self.deletes += messages
        else:
            self.puts += messages
        self.size += size

    def rate(self) -> float | None:
        """Messages per second on the link that carried most of them: through a router, each sample is seen twice."""
        count, first, last = max((seen[:3] for seen in self.paths.values()), default=[0, 0, 0])
        return (count - 1) * 1e9 / (last - first) if count >= FEWEST and last > first else None

    def add(self, other: "Key") -> None:
        """Adds what others have counted, in other sessions."""
        self.puts += other.puts
        self.deletes += other.deletes
        self.replies += other.replies
        self.size += other.size
        self.sources = first_come(self.sources, other.sources, MOST_SOURCES)
        paths = {**self.paths, **other.paths}  # no session is in both
        own, others = ({path: seen[3] for path, seen in one.paths.items()} for one in (self, other))
        self.paths = {path: paths[path] for path in first_come(own, others, MOST_PATHS)}

    def report(self, name: str) -> dict[str, Any]:
        """The entry of a key."""
        return {
            "key_expr": name,
            "resolved": self.resolved,
            "messages": self.messages,
            "puts": self.puts,
            "deletes": self.deletes,
            "replies": self.replies,
            "bytes": self.size,
            "rate_hz": self.rate(),
            "sources": list(self.sources),
        }


class Keys:
    """All keys: those of PUSH, and of RESPONSE with a value."""

    def __init__(self, limit: int = MOST_KEYS) -> None:
        self.limit = limit
        self.at: At = NOWHERE
        """Where what is taken comes; matters only to those who put several of these together."""
        self.known: dict[tuple[str, bool], Key] = {}
        self.others = Key()
        """All keys above the limit."""

    def feed(self, item: Dissection, row: Row) -> None:
        """Takes a message."""
        self.take(item, row, (1, row.get("payload_len") or 0), item.frame.now_ns)

    def take(self, item: Dissection, row: Row, sums: tuple[int, int], now_ns: int) -> Seen | None:
        """Takes messages of one direction with this row in common.

        Args:
            item: Stands for that direction.
            sums: Number of messages, and of bytes in their payloads.
            now_ns: The time of the first one, without leaps.

        Returns:
            What is known of their path; its last time is to be set by who takes several. None if they aren't sent to a
            key.
        """
        if row["message"] != "PUSH" and row.get("body") != "REPLY":
            return None
        name = wire_key(row)
        if name is None:
            return None
        resolved = row.get("key_expr") is not None
        key = self.known.get((name, resolved))
        if key is None:
            if len(self.known) >= self.limit:
                key = self.others
            else:
                key = self.known[name, resolved] = Key(resolved=resolved)
        key.count(row, *sums)
        return key.seen(sender(item, row), (item.flow.id, item.direction), sums[0], now_ns, self.at)

    def add(self, other: "Keys") -> None:
        """Adds what others have counted, in other sessions. Raises Inseparable if there are more keys than are
        counted separately: which of them these are depends on all before.
        """
        for named, key in other.known.items():
            known = self.known.get(named)
            if known is None:
                self.known[named] = key
            else:
                known.add(key)
        if other.others.messages or len(self.known) > self.limit:
            raise Inseparable("more keys than are counted separately")

    def report(self) -> dict[str, Any]:
        """The keys, those with most messages first."""
        ordered = sorted(self.known.items(), key=lambda pair: (-pair[1].messages, pair[0]))
        listed = [key.report(name) for (name, _), key in ordered]
        others = {"messages": self.others.messages, "bytes": self.others.size}
        return {"distinct": len(listed), "listed": listed, "others": others if others["messages"] else None}
