"""What became of every captured payload byte: each is in exactly one class, and no class is what the others leave."""

from collections import Counter
from typing import Any

from zdissect.dissection import Item, Notice, Skip
from zdissect.engine.lazy_messages import LazyTape
from zdissect.engine.tape import Tape
from zdissect.flow.protocol_numbers import BACKGROUND
from zdissect.flow.verdict import Verdict
from zdissect.grammar.field import UNDECODED
from zdissect.pipeline import Pipeline

CLASSES = ("decoded", "undecoded", "skipped", "framing", "opaque", "not_zenoh", "repeated")
"""The classes. Each is counted by itself; together they are `captured`."""

_OPAQUE = (Verdict.TLS, Verdict.QUIC)
_MADE = frozenset({"decompressed", "reassembled"})
"""Buffers made from bytes that are counted already."""


class Accounting:
    """Counts the bytes of dissections and skips; the pipeline counts the others."""

    def __init__(self) -> None:
        self.decoded = self.undecoded = self.skipped = self.framing = self.not_captured = 0
        self.made: Counter[str] = Counter()

    def feed(self, item: Item) -> None:
        """Takes a dissection or skipped bytes; a notice has none."""
        if isinstance(item, Notice):
            return
        if isinstance(item, Skip):
            size = len(item.data)
            self.skipped += size
            if not size and item.code != "tcp-overlap":
                self.not_captured += item.size
        else:
            size = len(item.buffer.data)
            if item.buffer.name in _MADE:
                self.made[item.buffer.name] += size
                return
            undecoded = _undecoded(item.tape)
            self.undecoded += undecoded
            self.decoded += size - undecoded
            self.framing += item.around

    def batch(self, size: int) -> None:
        """Takes a batch of a TCP stream in which all bytes were decoded."""
        self.decoded += size

    def add(self, other: "Accounting") -> None:
        """Adds the counts of another file of the same capture."""
        self.decoded += other.decoded
        self.undecoded += other.undecoded
        self.skipped += other.skipped
        self.framing += other.framing
        self.not_captured += other.not_captured
        self.made += other.made

    def report(self, pipeline: Pipeline) -> dict[str, int]:
        """The classes with their bytes, once the pipeline has ended."""
        datagrams = [conversation for conversation in pipeline.datagrams.all() if conversation.opaque]
        opaque = sum(pipeline.opaque[verdict.value] for verdict in _OPAQUE)
        not_zenoh = pipeline.opaque.total() - opaque
        for conversation in datagrams:
            if conversation.flow.verdict in _OPAQUE:
                opaque += conversation.opaque
            else:
                not_zenoh += conversation.opaque
        return {
            "captured": pipeline.captured,
            "decoded": self.decoded,
            "undecoded": self.undecoded,
            "skipped": self.skipped,
            "framing": self.framing,
            "opaque": opaque,
            "not_zenoh": not_zenoh,
            "repeated": pipeline.streams.undelivered + pipeline.datagrams.repeated,
            "not_captured": self.not_captured,
            "decompressed": self.made["decompressed"],
            "reassembled": self.made["reassembled"],
        }


def unopened(kinds: Counter[str]) -> list[dict[str, Any]]:
    """Frames that gave neither a segment nor a datagram: `what`, `frames`, and whether it is ordinary `background`."""
    return [{"what": what, "frames": frames, "background": what in BACKGROUND} for what, frames in kinds.most_common()]


def _undecoded(tape: Tape) -> int:
    """Bytes that no field owns. A batch that was read without a tape has none: it would have been declined."""
    if isinstance(tape, LazyTape):
        return 0
    return sum(stop - start for field, _, start, stop, _ in tape.spans if field is UNDECODED)
