"""Who should have got a sample, and didn't: a node had it, and a subscriber of a neighbour for it."""

from typing import NamedTuple

from zdissect.dissection import Dissection
from zdissect.engine.messages import DecodedMessage, Row
from zdissect.reach.sample_hops import Sample, SampleHop, SampleHops
from zdissect.reach.subscribers import Subscriber, Subscribers
from zdissect.stats.keys import wire_key
from zdissect.stats.same_query import Hop, hop_of

Expected = dict[Hop, Subscriber]
"""By (node that has the sample, neighbour that subscribes to it)."""


class LeftOut(NamedTuple):
    """That a neighbour of a node didn't get a sample."""

    node: str
    to: str
    subscriber: Subscriber
    certain: bool
    """Whether it should have got it from that node. Peers and routers may have other ways, which routing prefers."""


class SampleWatch:
    """Follows the samples of a capture, with what should become of each."""

    def __init__(self) -> None:
        self.samples = SampleHops()
        self.subscribers = Subscribers()
        self.expected: dict[int, Expected] = {}
        """Of the open samples, by their identity."""
        self.blind: set[Hop] = set()
        """Hops with samples whose keys aren't known: anything may have come that way."""

    def feed(self, item: Dissection, message: DecodedMessage, chosen: bool) -> SampleHop | None:
        """Takes a message; returns its place if it is a PUSH."""
        row: Row = message.row
        if row["message"] != "PUSH":
            self.subscribers.feed(item, row)
            return None
        if row.get("key_expr") is None or "body" not in row:
            self.blind.add(hop_of(item, row))
        known = len(self.samples.open)
        sample, hop = self.samples.feed(item, message, chosen)
        if len(self.samples.open) > known:
            self.expect(sample, hop.hop[0], hop.now_ns)
        if hop.roles[1] in ("router", "peer"):  # not a group, whose members all get it
            self.expect(sample, hop.hop[1], hop.now_ns)
        return hop

    def expect(self, sample: Sample, node: str, now_ns: int) -> None:
        """Notes to whom a node that has a sample should send it."""
        there = self.subscribers.of(node, wire_key(sample.row) or "", now_ns)
        if there:
            expected = self.expected.setdefault(id(sample), {})
            expected |= {(node, name): one for name, one in there.items() if (node, name) not in expected}

    def closed(self, sample: Sample, end_ns: int) -> tuple[list[LeftOut], bool]:
        """Who was left out of a sample that is over, and whether anybody was to get it from the nodes that have it.

        Args:
            end_ns: The end of the capture so far, as deadlines count it.
        """
        expected = self.expected.pop(id(sample), {})
        out = []
        for (node, name), one in expected.items():
            since_ns = SampleHops.came(sample, node)
            cut = end_ns - since_ns < TIME_NS or self.subscribers.over(one.flow, since_ns + TIME_NS)
            if name in sample.received or name == sample.source or cut or (node, name) in self.blind:
                continue
            certain = one.role == "client" and node in sample.received
            out.append(LeftOut(node, name, one, certain))
        return out, bool(expected)


TIME_NS = 200_000_000
"""Time that a node has to pass a sample on, and in which the link must still be there."""
