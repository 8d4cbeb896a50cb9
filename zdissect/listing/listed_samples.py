"""The samples of a capture, a row each: who sent what, which nodes passed it on, and who didn't get it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from zdissect.dissection import Dissection, Item
from zdissect.grammar.primitives import ntp64_ns
from zdissect.listing.listing import MOST_ROWS, Entry, Listing, columns
from zdissect.listing.sample_times import SampleTimes
from zdissect.pipeline import Pipeline
from zdissect.reach.left_out import LeftOut, SampleWatch
from zdissect.reach.sample_hops import Sample, SampleHop
from zdissect.session.model import Link
from zdissect.stats.keys import wire_key

_COLUMNS = columns("""
frame           number    Frame!     Number of the frame with its first PUSH.
ts_ns           time      Time       Time of that frame.
key_expr        long      Key!       Key expression; ?9/q where the declared id 9 isn't known.
body            text      -          PUT or DEL.
source_role     text      Sent_by    Role of the node that sent it first, as far as the capture shows.
source          zid       ZenohID    Its ZenohID, or its address.
session         number    Session    Number of the session that carries the first PUSH.
flow_id         text      -          The conversation of the first PUSH.
payload_len     bytes     Payload    Bytes of its payload.
congestion_control text   Congestion What a node without room does with it: Drop, Block, BlockFirst.
priority        text      -          Its priority.
timestamp_ns    time      -          Its timestamp, nanoseconds since 1970 by the clock of who stamped it.
pushes          number    Hops       PUSHes that carry it, on all sessions.
receivers       list      Got_by     The nodes that got it and passed it on to nobody.
latency_ns      duration  Latency!   From its first PUSH to the last.
state           text      State!     delivered; no subscriber (it ends at a router to which nobody has declared one); unknown (or the capture lacks the declaration); left out (somebody who should have got it); perhaps left out (or it came another way, or was in bytes that the capture lacks).
left_out        list      Left_out   The nodes that have a subscriber for it, and didn't get it.
hops            rows      -          Its PUSHes: see docs/hops.md.
missing         rows      -          Who was left out, by whom, and the subscriber.
""")  # noqa: E501


POINTS = {1: "sent", 2: "routed", 4: "received"}
"""Where a stamp of a stack was taken (notes 2.3)."""


class ListedSample(NamedTuple):
    """A sample that is over."""

    sample: Sample
    left_out: list[LeftOut]
    awaited: bool
    """Whether a node that has it has a subscriber for it."""


class SampleListing(Listing):
    """The samples; of a choice of messages those with a PUSH among them, in full."""

    name = "samples"
    columns = _COLUMNS
    shown_as = "summary"

    def __init__(self) -> None:
        super().__init__()
        self.watch = SampleWatch()
        self.listed: list[ListedSample] = []
        self.times = SampleTimes()
        self.numbers: dict[str, int] = {}
        """Those of the sessions, by flow, once the rows were made."""
        self.gaps: frozenset[str] = frozenset()
        """Flows of sessions of which the capture lacks something."""
        self.unsure: frozenset[str | None] = frozenset()
        """The nodes at their ends; None if they aren't known."""

    def take(self, item: Item, chosen: Sequence[bool] | None) -> None:
        if not isinstance(item, Dissection):
            return
        for index, message in enumerate(item.messages):
            if message.shared["message"] in ("PUSH", "DECLARE", "CLOSE"):
                self.watch.feed(item, message, chosen is None or chosen[index])
        self.close(item.frame.now_ns)

    def close(self, now_ns: int | None) -> None:
        """Lists the samples that are over by a time; None: all."""
        for sample in self.watch.samples.over(now_ns):
            left_out, awaited = self.watch.closed(sample, self.extent.now_ns if now_ns is None else now_ns)
            if not sample.chosen:
                continue
            one = ListedSample(sample, left_out, awaited)
            self.times.feed(sample, left_out)
            if len(self.listed) < MOST_ROWS:
                self.listed.append(one)
            else:
                self.unlisted += 1

    def rows(self, pipeline: Pipeline) -> list[Entry]:
        self.close(None)
        lacking = [link for link in pipeline.all_links() if _lacks(link)]
        self.gaps = frozenset(link.flow.id for link in lacking)
        self.unsure = frozenset(zid for link in lacking for zid in link.session.zids)
        self.listed.sort(key=lambda one: one.sample.frame.number)
        self.numbers = self.session_numbers(pipeline)
        return [self.row(one) for one in self.listed]

    def summary(self) -> dict[str, Any]:
        """How long the samples took, and how many were left out: what `SampleTimes.report` says."""
        return self.times.report(self.gaps)

    def row(self, one: ListedSample) -> Entry:
        """The row of a sample."""
        sample = one.sample
        passing = {hop.hop[0] for hop in sample.hops}
        known: Entry = {column.name: sample.row.get(column.name) for column in _COLUMNS}
        return known | {
            "frame": sample.frame.number,
            "ts_ns": sample.frame.ts_ns,
            "key_expr": wire_key(sample.row),
            "source_role": sample.row.get("src_role"),
            "source": sample.source,
            "session": self.numbers.get(sample.hops[0].flow),
            "flow_id": sample.hops[0].flow,
            "timestamp_ns": ntp64_ns(sample.stamp) if sample.stamp else None,
            "pushes": len(sample.hops),
            "receivers": [node for node in sample.received if node not in passing],
            "latency_ns": sample.last_ns - sample.frame.now_ns if len(sample.hops) > 1 else None,
            "state": self.state(one),
            "left_out": [missing.to for missing in one.left_out],
            "hops": one,
            "missing": one,
        }

    def whole(self, row: Entry) -> Entry:
        one: ListedSample = row["hops"]
        return row | {
            "hops": [_hop(hop, one.sample, self.numbers) for hop in one.sample.hops],
            "missing": [self.missing(missing) for missing in one.left_out],
        }

    def certain(self, missing: LeftOut) -> bool:
        """Whether somebody was left out for sure."""
        return missing.certain and missing.subscriber.flow.id not in self.gaps

    def state(self, one: ListedSample) -> str:
        """What has become of a sample."""
        if one.left_out:
            return "left out" if any(map(self.certain, one.left_out)) else "perhaps left out"
        passing = {hop.hop[0] for hop in one.sample.hops}
        ends = [hop for hop in one.sample.hops if hop.hop[1] not in passing]
        if one.awaited or any(hop.roles[1] != "router" and hop.roles != (None, None) for hop in ends):
            return "delivered"  # who is only a receiver, and has no role, is a group
        unsure = any(hop.hop[1] in self.unsure or hop.roles[1] is None for hop in ends)
        unsure = unsure or None in self.unsure or self.watch.subscribers.exhausted
        return "unknown" if unsure else "no subscriber"

    def missing(self, missing: LeftOut) -> Entry:
        """The entry of somebody who was left out."""
        return {
            "node": missing.node,
            "to": missing.to,
            "to_role": missing.subscriber.role,
            "subscriber_key": missing.subscriber.key,
            "subscriber_frame": missing.subscriber.frame,
            "certain": self.certain(missing),
        }


def _lacks(link: Link) -> bool:
    """Whether the capture lacks something of a link, or of its session: not if the other side refused it."""
    if link.session.gaps:
        return True
    return not link.handshake.complete and not link.refused(0) and not link.refused(1)


def _hop(hop: SampleHop, sample: Sample, numbers: dict[str, int]) -> Entry:
    """The entry of a PUSH."""
    parent = hop.parent
    return {
        "frame": hop.frame,
        "ts_ns": hop.ts_ns,
        "after_ns": hop.now_ns - sample.frame.now_ns,
        "session": numbers.get(hop.flow),
        "flow_id": hop.flow,
        "from": hop.hop[0],
        "from_role": hop.roles[0],
        "to": hop.hop[1],
        "to_role": hop.roles[1],
        "key_expr": hop.key,
        "passes_on_frame": parent.frame if parent is not None else None,
        "confidence": hop.confidence,
        "held_ns": hop.now_ns - parent.now_ns if parent is not None else None,
        "since_stamp_ns": hop.ts_ns - ntp64_ns(hop.stamp) if hop.stamp else None,
        "stamps": [
            {"point": POINTS.get(point, str(point)), "node": node, "ts_ns": ntp64_ns(time)}
            for point, node, time in hop.stack
        ],
    }
