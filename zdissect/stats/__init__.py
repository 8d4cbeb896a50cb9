"""Statistics of a capture: a collector that takes items and makes one report.

    pipeline, stats = Pipeline(Options(history=True)), Stats()
    for frame in frames:
        stats.frame(frame)
        for item in pipeline.feed(frame):
            stats.feed(item)
    for item in pipeline.close():
        stats.feed(item)
    report = stats.finish(pipeline)

The report is a plain dict, what `zdissect stats --json` prints. Times are nanoseconds where the name says `_ns`,
seconds where it says `_s`; `null` is what isn't known. Durations are without leaps of the clock.

- `schema_version`: version of this layout.
- `capture`: `files`, `frames`, `first_ts_ns`, `last_ts_ns`, `duration_s`.
- `accounting`: `captured`, the payload bytes of all TCP segments and UDP datagrams, and what became of them, which adds
  up: `decoded`; `undecoded` (bytes that no field owns); `skipped` (bytes of Zenoh streams that belong to no batch);
  `framing` (WebSocket); `opaque` (TLS, QUIC); `not_zenoh`; `repeated` (retransmitted, or of no connection).
  Not part of the sum: `not_captured` (known to be missing), `decompressed` and `reassembled` (made from other bytes).
- `unopened`: frames that gave neither a TCP segment nor a UDP datagram: `what` they are, `frames`, and whether that is
  ordinary `background` (ARP, ICMP...) or may hold Zenoh (unknown links, tunnels, bad headers, lost IP fragments).
- `conversations`: those that aren't Zenoh, by what they are.
- `sessions`: `session`, `handshake` (complete, partial, join, none), two `ends` (0 is the opener: `zid`, `role`,
  `version`, `address`, `lease_ms`, `initial_sn`, `messages` and `bytes` sent), `negotiated`, `first_ts_ns`,
  `last_ts_ns`, `duration_s`, `skipped_bytes`, `ended` (`how`: close, fin, rst, lease, reused, silent, open; `by`: the
  end; `reason` of a CLOSE), `links` (each with `flow_id`, `link`, `addresses`, times and `ended`).
- `messages`: by `layer`, `message`, `body`, `reply_body`: `count` and `bytes` (those of a FRAME with what it carries).
- `keys`: `distinct`, `listed` (`key_expr`, `resolved`, `messages`, `puts`, `deletes`, `replies`, `bytes` of payloads,
  `rate_hz` on the link that carried most, `sources`), `others` (keys above the limit).
- `queries`: `queries` that were asked, `requests` (those by which a node asked several neighbours, or passed a query
  on, too), `replies` and `errors` that came back to the asker, `without_reply` (ended with none), `unanswered` (none,
  and no RESPONSE_FINAL), `response_time_ns` (to the first answer: `count`, `min`, `median`, `p95`, `max`),
  `final_time_ns`, and the same of each of `keys` and of `others`; `silent`, the `count` of those without any answer and
  the first `frames`; `stray_answers`.
- `refused`: connections that ended during their handshakes: `count`, and the first `frames`.
- `findings`: `code`, `severity`, `group`, `count`, `first_file`, `first_frame`, `text`.
- `intervals`, if they were asked for: `every_s`, the length of one (longer than `asked_s` where there would be too
  many), and `listed`: `start_s` since the first frame, `ts_ns`, `frames`, `messages`, `bytes` (of batches, datagrams,
  and what was skipped), `findings`.

Of a choice of messages, as a display filter makes it, `messages`, `keys`, `findings` and `intervals` (except for their
`frames`) are of these only; `queries` those whose REQUEST is chosen, with all their answers; `sessions` those that
carry some, with how many. Everything else is of the whole capture.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from zdissect.dissection import Dissection, Item, Notice, findings_of
from zdissect.engine.messages import DecodedMessage, Row
from zdissect.grammar.rule import SEVERITIES
from zdissect.grammar.rules import RULES
from zdissect.pipeline import Pipeline
from zdissect.records import Frame
from zdissect.session.occurrences import Occurrences
from zdissect.stats.accounting import Accounting, unopened
from zdissect.stats.came import NOWHERE, At
from zdissect.stats.chosen_sessions import ChosenSessions
from zdissect.stats.extent import Extent
from zdissect.stats.keys import Keys, Seen
from zdissect.stats.over_time import OverTime
from zdissect.stats.query_stats import Queries
from zdissect.stats.sessions import Entries, numbered

if TYPE_CHECKING:
    from zdissect.vector.usual_batches import UsualBatches

SCHEMA_VERSION = 1

_LAYERS = ("scouting", "transport", "network")

Kind = tuple[str, str, str | None, str | None]
"""Layer, message, body, body of a REPLY."""


class First(NamedTuple):
    """The first of several findings."""

    at: At
    file: str
    frame: int


class Ended(NamedTuple):
    """What is known when a pipeline has ended."""

    accounting: dict[str, int]
    unopened: Counter[str]
    """Frames that weren't opened, by why."""
    conversations: Counter[str]
    """Those that aren't Zenoh, by what they are."""
    sessions: Entries
    refused: Occurrences
    """Connections that ended during their handshakes."""


class Stats:
    """Collects; its memory is bounded, except for a little per session and finding code.

    Args:
        every_ns: Length of the intervals in which it counts over time, nanoseconds; None for no intervals.
    """

    def __init__(self, every_ns: int | None = None) -> None:
        self.over_time = OverTime(every_ns) if every_ns is not None else None
        self.extent = Extent()
        self.accounting = Accounting()
        self.sessions = ChosenSessions()
        self.choice = False
        self.keys = Keys()
        self.queries = Queries()
        self.kinds: Counter[Kind] = Counter()
        self.sizes: Counter[Kind] = Counter()
        self.codes: Counter[str] = Counter()
        self.firsts: dict[str, First] = {}
        """The first finding of each code."""
        self.at: At = NOWHERE
        """Where what is taken comes; matters only to those who put several of these together."""

    def frame(self, frame: Frame) -> None:
        """Takes a frame, whatever is in it."""
        self.extent.frame(frame)
        if self.over_time is not None:
            self.over_time.frame(self.extent.latest_ns)

    def feed(self, item: Item, chosen: Sequence[bool] | None = None) -> None:
        """Takes an item of the pipeline.

        Args:
            item: What the pipeline gave.
            chosen: Whether each message of it counts, or the item where it has none; None: all do.
        """
        self.accounting.feed(item)
        self.sessions.chosen = chosen
        self.sessions.feed(item)
        self.choice = self.choice or chosen is not None
        number = 0
        for finding in findings_of(item, chosen):
            number += 1
            code = finding.rule.code
            self.codes[code] += 1
            if code not in self.firsts:
                self.firsts[code] = First(self.at, item.frame.source, item.frame.number)
        if self.over_time is not None:
            size = self.sessions.size(item) if chosen is not None and not isinstance(item, Notice) else None
            self.over_time.feed(item, number, chosen, size)
        if isinstance(item, Dissection):
            for message, counts in zip(item.messages, chosen or repeat(True), strict=False):
                self.message(item, message, counts)

    def usual(self, usual: "UsualBatches", chosen: Sequence[bool] | None = None) -> Iterator[None]:
        """Takes usual batches, each when its turn comes.

        Args:
            chosen: Whether each message of them counts; None: all do.
        """
        items = [usual.item(way) for way in range(len(usual.ways))]
        some, sizes, counting = usual, usual.sizes, [True] * len(usual.batches)
        if chosen is not None:
            self.choice = True
            some, counting = usual.chosen([*chosen])
            sizes = some.message_sizes()
        counted = self.counted(some, sizes, items)
        for frame, way, whole, counts in zip(usual.frames, usual.way.tolist(), usual.sizes, counting, strict=True):
            size, messages = next(counted) if counts else (0, 0)
            self.accounting.batch(whole)
            self.sessions.run(items[way].flow, items[way].direction, [(frame.ts_ns, frame.now_ns)], size, messages)
            if self.over_time is not None:
                self.over_time.batch(frame.now_ns, size, messages)
            yield

    def counted(self, usual: "UsualBatches", sizes: list[int], items: list[Dissection]) -> Iterator[tuple[int, int]]:
        """Counts the messages of usual batches, those of a kind together at the first one.

        Args:
            sizes: How many bytes each batch counts for.
            items: Stand for the ways.

        Returns:
            How many bytes and messages each batch counts for.
        """
        kinds, tallies, endings = usual.kinds[0], usual.tallies(), usual.endings()
        begin = defaultdict[int, list[int]](list)
        for number, one in enumerate(kinds):
            begin[one.batch].append(number)
        seen: dict[int, Seen | None] = {}
        counts = zip(usual.frames, usual.way.tolist(), sizes, usual.counts.tolist(), strict=True)
        for batch, (frame, way, size, messages) in enumerate(counts):
            for number in begin.get(batch, ()):
                row, tally = kinds[number].template.row, tallies[number]
                self.kind(row, tally.messages, tally.size)
                seen[number] = self.keys.take(items[way], row, (tally.messages, tally.payloads), frame.now_ns)
            for number in endings.get(batch, ()):
                if (known := seen[number]) is not None:
                    known[2] = frame.now_ns
            yield size, messages

    def message(self, item: Dissection, message: DecodedMessage, counts: bool) -> None:
        """Takes a message. One that doesn't count itself may answer a query that does."""
        row = message.row
        if counts:
            self.kind(row, 1, row["length"])
        if row["layer"] == "network":
            if counts:
                self.keys.feed(item, row)
            self.asked(item, row, counts)

    def asked(self, item: Dissection, row: Row, counts: bool) -> None:
        """Takes a message of the network layer, which may be of a query."""
        if not self.choice or self.queries.concerns(item, row, counts):
            self.queries.feed(item, row)

    def kind(self, row: Row, messages: int, size: int) -> None:
        """Counts messages of the kind of one."""
        kind = row["layer"], row["message"], row.get("body"), row.get("reply_body")
        self.kinds[kind] += messages
        self.sizes[kind] += size

    def finish(self, pipeline: Pipeline) -> dict[str, Any]:
        """The report, once the pipeline has ended."""
        return self.report(self.ended(pipeline, self.extent.now_ns))

    def ended(self, pipeline: Pipeline, last_ns: int) -> Ended:
        """What is known at the end.

        Args:
            last_ns: The end of the capture, without leaps of the clock.
        """
        return Ended(
            self.accounting.report(pipeline),
            pipeline.decoder.unopened.total(),
            pipeline.others(),
            self.sessions.entries(pipeline.all_links(), last_ns),
            pipeline.sessions.refused,
        )

    def report(self, ended: Ended) -> dict[str, Any]:
        """The report."""
        report: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "capture": self.extent.report(),
            "accounting": ended.accounting,
            "unopened": unopened(ended.unopened),
            "conversations": dict(sorted(ended.conversations.items())),
            "sessions": self.chosen_sessions(ended.sessions),
            "messages": self.messages(),
            "keys": self.keys.report(),
            "queries": self.queries.report(),
            "refused": ended.refused.report(),
            "findings": self.findings(),
        }
        if self.over_time is not None:
            report["intervals"] = self.over_time.report(report["capture"]["first_ts_ns"])
        return report

    def chosen_sessions(self, entries: Entries) -> list[dict[str, Any]]:
        """The sessions; of a choice of messages those that carry some of them."""
        return [one for one in numbered(entries) if not self.choice or any(end["messages"] for end in one["ends"])]

    def messages(self) -> list[dict[str, Any]]:
        """Messages by kind: layer by layer, the most frequent first."""
        ordered = sorted(self.kinds.items(), key=lambda pair: (_LAYERS.index(pair[0][0]), -pair[1], str(pair[0])))
        return [
            {"layer": kind[0], "message": kind[1], "body": kind[2], "reply_body": kind[3],
             "count": count, "bytes": self.sizes[kind]}
            for kind, count in ordered
        ]  # fmt: skip

    def findings(self) -> list[dict[str, Any]]:
        """Findings by code, the most severe first."""
        out = []
        for code, count in self.codes.items():
            rule, first = RULES[code], self.firsts[code]
            out.append({
                "code": code, "severity": rule.severity, "group": rule.group, "count": count,
                "first_file": first.file, "first_frame": first.frame, "text": rule.text,
            })  # fmt: skip
        return sorted(out, key=lambda entry: (-SEVERITIES.index(entry["severity"]), -entry["count"], entry["code"]))
