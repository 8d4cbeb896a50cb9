"""Current activity: rates of keys over the last seconds, with their last values, for `zdissect top`. Bounded."""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zdissect.dissection import Dissection, Finding, Item, findings
from zdissect.engine.messages import Row
from zdissect.stats.keys import wire_key

if TYPE_CHECKING:
    from zdissect.vector.usual_batches import UsualBatches

MOST_ACTIVE = 10_000
"""Most keys that are kept; beyond that, the key that has been silent longest is dropped."""
MARKS = 10
"""Times at which the counters of a key are remembered: a rate is measured from the oldest of them."""
LEAST_NS = 10**9
"""The shortest time that a rate is measured over."""
VALUE_BYTES = 64
"""Bytes of a value that are kept."""


@dataclass(slots=True)
class KeyActivity:
    """What was sent to one key: by PUSH, and in answer to queries."""

    name: str
    first_ns: int
    last_ns: int = 0
    messages: int = 0
    size: int = 0
    """Bytes of payloads."""
    encoding: str = ""
    """The encoding of the last value."""
    value: bytes = b""
    """The beginning of the last value."""
    value_size: int | None = None
    """Its size in bytes; None if there was none: a DEL."""
    marks: deque[tuple[int, int, int]] = field(default_factory=lambda: deque(maxlen=MARKS))
    """Times, with the counts of messages and bytes until then."""

    def take(self, row: Row, now_ns: int, sums: tuple[int, int]) -> None:
        """Takes messages: how many, with how many bytes of payloads, and the last one of them with its time."""
        self.last_ns = now_ns
        self.messages += sums[0]
        self.size += sums[1]
        payload = row.get("payload")
        self.value_size = row.get("payload_len")
        self.encoding = row.get("encoding") or ""
        self.value = bytes(payload[:VALUE_BYTES]) if payload is not None else b""

    def rates(self, now_ns: int) -> tuple[float, float]:
        """Messages and bytes per second, until now."""
        since_ns, messages, size = self.marks[0] if self.marks else (self.first_ns, 0, 0)
        seconds = max(now_ns - since_ns, LEAST_NS) / 1e9
        return (self.messages - messages) / seconds, (self.size - size) / seconds


class Activity:
    """The activity of all keys, and findings.

    Args:
        limit: Most keys that are kept.
    """

    def __init__(self, limit: int = MOST_ACTIVE) -> None:
        self.limit = limit
        self.keys: OrderedDict[str, KeyActivity] = OrderedDict()
        """By name; the key that has been silent longest comes first."""
        self.dropped = 0
        """Keys that weren't kept."""
        self.messages = 0
        """Messages of all kinds."""
        self.findings: Counter[str] = Counter()
        self.last_finding: Finding | None = None
        self.total = KeyActivity("", 0)
        """All keys together."""

    def take(self, item: Item) -> None:
        """Takes an item of a pipeline."""
        for finding in findings(item):
            self.findings[finding.rule.code] += 1
            self.last_finding = finding
        if not isinstance(item, Dissection):
            return
        self.messages += len(item.messages)
        for message in item.messages:
            if (name := _key(row := message.row)) is not None:
                self.sent(name, row, item.frame.now_ns, (1, row.get("payload_len") or 0))

    def usual(self, usual: "UsualBatches") -> Iterator[None]:
        """Takes usual batches, each when its turn comes; all messages of a kind count at the last one.

        They aren't the first ones to their keys: the first of a kind isn't usual.
        """
        tallies, endings = usual.tallies(), usual.endings()
        rows = [*usual.rows([tally.last for tally in tallies])]
        names = [_key(one.template.row) for one in usual.kinds[0]]
        for batch, (frame, messages) in enumerate(zip(usual.frames, usual.counts.tolist(), strict=True)):
            self.messages += messages
            for number in endings.get(batch, ()):
                if (name := names[number]) is not None:
                    tally = tallies[number]
                    self.sent(name, rows[number], frame.now_ns, (tally.messages, tally.payloads))
            yield

    def sent(self, name: str, row: Row, now_ns: int, sums: tuple[int, int]) -> None:
        """Takes messages to a key; see `KeyActivity.take`."""
        key = self.keys.get(name)
        if key is None:
            key = self.keys[name] = KeyActivity(name, now_ns)
            if len(self.keys) > self.limit:
                self.keys.popitem(last=False)
                self.dropped += 1
        else:
            self.keys.move_to_end(name)
        key.take(row, now_ns, sums)
        if not self.total.messages:
            self.total.first_ns = now_ns
        self.total.take(row, now_ns, sums)

    def mark(self, now_ns: int) -> None:
        """Remembers the counters: rates are measured from one of the last marks."""
        for key in (self.total, *self.keys.values()):
            key.marks.append((now_ns, key.messages, key.size))


def _key(row: Row) -> str | None:
    """The key that a value is sent to by a message, if one is."""
    return wire_key(row) if row["message"] == "PUSH" or row.get("body") == "REPLY" else None
