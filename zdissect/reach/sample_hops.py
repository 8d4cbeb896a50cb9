"""Which PUSHes are one sample: what a node sends to several neighbours, and what nodes pass on.

A sample is known by its key and value, its SourceInfo and its timestamp. A client's sample often has no timestamp until
its router stamps it (notes 7.2): then only the order tells samples with equal values apart.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from zdissect.dissection import Dissection
from zdissect.engine.messages import DecodedMessage, Row
from zdissect.grammar.primitives import zid_text
from zdissect.records import Frame
from zdissect.stats.keys import wire_key
from zdissect.stats.same_query import Hop, content_of, hop_of, known_key, may_be_same

WINDOW_NS = 2_000_000_000
"""Most time in which a node passes a sample on, and after which nothing belongs to it any more."""
AT_ONCE_NS = 20_000_000
"""Time within which samples with equal values may be on their way through a node together."""
MOST_OPEN = 50_000
"""Most samples to which something may belong; beyond that, the oldest are closed."""
MOST_ALIKE = 64
"""Most of them with equal values."""

_CONTENT = ("body", "payload", "encoding", "attachment", "source_zid", "source_eid", "source_sn")
"""Columns that stay the same wherever a sample goes, besides its key."""
_STACK = "push.ext_timestamp_stack.stamps"

Stamp = tuple[int, str, int]
"""Entry of a timestamp stack: where it was taken (1 sent, 2 routed, 4 received), ZenohID of the clock, NTP64."""


@dataclass(slots=True, eq=False)
class SampleHop:
    """A PUSH."""

    frame: int
    ts_ns: int
    now_ns: int
    flow: str
    hop: Hop
    roles: tuple[str | None, str | None]
    """Those of its sender and of its receiver."""
    key: str | None
    """Its key expression, as it is on this hop."""
    stamp: int
    """Timestamp (NTP64); 0 without one."""
    stack: tuple[Stamp, ...] = ()
    parent: "SampleHop | None" = None
    """The PUSH that it passes on; None if its sender is the source, or who was seen first."""
    confidence: str | None = None
    """How sure it is that it passes that on: `certain` (SourceInfo or timestamp), `likely`, `ambiguous`."""


@dataclass(slots=True, eq=False)
class Sample:
    """A PUT or DEL, with the PUSHes that carry it."""

    frame: Frame
    row: Row
    """Columns of its first PUSH."""
    source: str
    """The node that sent it first, as far as the capture shows."""
    hops: list[SampleHop] = field(default_factory=list)
    received: dict[str, SampleHop] = field(default_factory=dict)
    """The nodes that got it, by its first PUSH to them."""
    last_ns: int = 0
    chosen: bool = False

    @property
    def stamp(self) -> int:
        """Its timestamp, as soon as it has one."""
        return next((hop.stamp for hop in self.hops if hop.stamp), 0)

    def fits(self, hop: SampleHop, key: int | None) -> bool:
        """Whether a PUSH with its content may be of it."""
        source = hop.hop[0]
        if (source != self.source and source not in self.received) or not may_be_same(known_key(self.row), key):
            return False
        if hop.stamp and self.stamp not in (0, hop.stamp):
            return False
        sent = {known.hop for known in self.hops}
        return hop.hop not in sent and hop.hop[::-1] not in sent and hop.now_ns - self.last_ns <= WINDOW_NS


_KEPT = ("key_expr", "key_scope", "key_suffix", "body", "payload_len", "src_role", "congestion_control", "priority",
         "express", "reliability", "source_zid", "source_sn")  # fmt: skip


class SampleHops:
    """The samples on their way. Those to which nothing belongs any more are given out, the oldest first."""

    def __init__(self) -> None:
        self.open: OrderedDict[int, Sample] = OrderedDict()
        self.alike: dict[int, list[Sample]] = {}
        self.contents: dict[int, int] = {}
        """Hash of the content of each open sample."""
        self.passed: dict[tuple[int, Hop], int] = {}
        """Time of the last sample of a content that was passed on over a hop: links keep the order."""

    def feed(self, item: Dissection, message: DecodedMessage, chosen: bool) -> tuple[Sample, SampleHop]:
        """Takes a PUSH; returns what it is of."""
        row, frame = message.row, item.frame
        content = content_of(row, _CONTENT)
        roles = row.get("src_role"), row.get("dst_role")
        stamp = row.get("timestamp_ntp64") or 0
        hop = SampleHop(
            frame.number, frame.ts_ns, frame.now_ns, item.flow.id, hop_of(item, row), roles, wire_key(row), stamp
        )
        if any(one["name"] == "timestamp_stack" for one in row.get("extensions", ())):
            hop.stack = tuple(_stamps(message))
        sample = self.find(content, hop, row) or self.new(content, item, row, hop)
        sample.hops.append(hop)
        sample.last_ns = hop.now_ns
        sample.received.setdefault(hop.hop[1], hop)
        sample.chosen = sample.chosen or chosen
        return sample, hop

    def find(self, content: int, hop: SampleHop, row: Row) -> Sample | None:
        """The sample that a PUSH is of, which is linked to what it passes on; None if it is a new one."""
        source, now_ns = hop.hop[0], hop.now_ns
        key = known_key(row)
        fitting = [one for one in self.alike.get(content, ()) if one.fits(hop, key)]
        if hop.roles[0] == "client":
            fitting = [one for one in fitting if one.source == source]
        stamped = [one for one in fitting if hop.stamp and one.stamp == hop.stamp]
        since_ns = self.passed.get((content, hop.hop), 0)
        fitting = stamped or [one for one in fitting if self.came(one, source) >= since_ns]
        if not fitting:
            return None
        recent = [one for one in fitting if now_ns - self.came(one, source) <= AT_ONCE_NS]
        sample = (stamped or recent or fitting[-1:])[0]
        self.passed[content, hop.hop] = self.came(sample, source)
        if sample.source != source:
            hop.parent = sample.received[source]
            sure = bool(stamped) or row.get("source_sn") is not None
            hop.confidence = "certain" if sure else "ambiguous" if len(fitting) > 1 else "likely"
        return sample

    @staticmethod
    def came(sample: Sample, node: str) -> int:
        """When a node got a sample, or made it."""
        known = sample.received.get(node)
        return sample.frame.now_ns if known is None else known.now_ns

    def new(self, content: int, item: Dissection, row: Row, hop: SampleHop) -> Sample:
        """A new sample."""
        sample = Sample(item.frame.bare(), {name: row[name] for name in _KEPT if name in row}, hop.hop[0])
        self.open[id(sample)] = sample
        self.contents[id(sample)] = content
        alike = self.alike.setdefault(content, [])
        alike.append(sample)
        del alike[:-MOST_ALIKE]
        return sample

    def over(self, now_ns: int | None) -> Iterator[Sample]:
        """Closes the samples that are over by a time; None: all."""
        while self.open:
            ident, sample = next(iter(self.open.items()))
            if now_ns is not None and now_ns - sample.frame.now_ns <= WINDOW_NS and len(self.open) <= MOST_OPEN:
                return
            del self.open[ident]
            self.close(self.contents.pop(ident), sample)
            yield sample

    def close(self, content: int, sample: Sample) -> None:
        """Nothing belongs to a sample any more."""
        alike = self.alike.get(content, [])
        if sample in alike:
            alike.remove(sample)
        if not alike:
            self.alike.pop(content, None)
            for hop in {known.hop for known in sample.hops}:
                self.passed.pop((content, hop), None)


def _stamps(message: DecodedMessage) -> Iterator[Stamp]:
    """The entries of a timestamp stack, without those of the application's own kind."""
    point, time = 0, 0
    for field_, _, _, _, value in message.spans():
        if field_.path == f"zenoh.{_STACK}.point":
            point = value
        elif field_.path == f"zenoh.{_STACK}.stamp.time":
            time = value
        elif field_.path == f"zenoh.{_STACK}.stamp.id":
            yield point, zid_text(value), time
