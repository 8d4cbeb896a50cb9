"""How long samples take: by key, by hop, and inside the nodes that pass them on; and who was left out how often."""

from collections import Counter
from collections.abc import Container
from typing import Any

from zdissect.grammar.primitives import ntp64_ns
from zdissect.listing.hop_times import Times, add, amount, count, ranked, reported, times_of
from zdissect.reach.left_out import LeftOut
from zdissect.reach.sample_hops import Sample
from zdissect.stats.keys import wire_key


class SampleTimes:
    """Collects the times of samples."""

    def __init__(self) -> None:
        self.keys: dict[str, Times] = {}
        self.hops: dict[tuple[str, str], Times] = {}
        self.nodes: dict[str, Times] = {}
        self.roles: dict[str, str | None] = {}
        self.missed: Counter[tuple[str, str, str, str]] = Counter()
        """How often: key, node, who was left out, flow of the subscriber; of what is certain but for gaps."""

    def feed(self, sample: Sample, left_out: list[LeftOut]) -> None:
        """Takes a sample that is over."""
        key = wire_key(sample.row) or ""
        times = times_of(self.keys, key)
        count(times)
        add(times, "latency", sample.last_ns - sample.frame.now_ns if len(sample.hops) > 1 else None)
        for hop in sample.hops:
            self.roles |= zip(hop.hop, hop.roles, strict=True)
            times = times_of(self.hops, hop.hop)
            count(times)
            add(times, "since_stamp", hop.ts_ns - ntp64_ns(hop.stamp) if hop.stamp else None)
            if hop.parent is not None:
                add(times_of(self.nodes, hop.hop[0]), "forwarding", hop.now_ns - hop.parent.now_ns)
        for one in left_out:
            if one.certain and (len(self.missed) < _MOST_MISSED):
                self.missed[key, one.node, one.to, one.subscriber.flow.id] += 1

    def report(self, gaps: Container[str]) -> dict[str, Any]:
        """`keys` (`key_expr`, `samples`, `left_out`, `latency_ns`: from the first PUSH to the last), `hops` (`from`,
        `to`, their roles, `samples`, `left_out`, `since_stamp_ns`: from the timestamp to the frame, by two clocks) and
        `nodes` (`node`, `role`, `forwarding_ns`: from a PUSH to the one that passes it on).

        Args:
            gaps: Flows in which the capture has gaps: who is missing something there may have got it.
        """
        missed = {place: number for place, number in self.missed.items() if place[3] not in gaps}
        by_key, by_hop = Counter[str](), Counter[tuple[str, str]]()
        for (key, node, to, _), number in missed.items():
            by_key[key] += number
            by_hop[node, to] += number
        keys = [
            {
                "key_expr": key, "samples": amount(times), "left_out": by_key[key],
                "latency_ns": reported(times, "latency"),
            }
            for key, times in ranked(self.keys)
        ]  # fmt: skip
        hops = [
            {
                "from": hop[0], "from_role": self.roles.get(hop[0]), "to": hop[1], "to_role": self.roles.get(hop[1]),
                "samples": amount(times), "left_out": by_hop[hop], "since_stamp_ns": reported(times, "since_stamp"),
            }
            for hop, times in ranked(self.hops | {hop: {} for hop in by_hop if hop not in self.hops})
        ]  # fmt: skip
        nodes = [
            {"node": node, "role": self.roles.get(node), "forwarding_ns": reported(times, "forwarding")}
            for node, times in self.nodes.items()
        ]
        return {"keys": keys, "hops": hops, "nodes": nodes}


_MOST_MISSED = 100_000
"""Most kinds of what is counted."""
