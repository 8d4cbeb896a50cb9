"""The result of decoding: a flat list of spans over a buffer, and the remarks made on the way."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from zdissect.grammar.field import Field
from zdissect.grammar.rule import Rule
from zdissect.grammar.rules import RULES

Span = tuple[Field, int, int, int, Any]
"""(field, depth, start, stop, value): bytes start..stop of the buffer. Groups come before their content, one level up.

Values: an integer for numbers and bytes of bit fields, str for text, bytes for bytes, the name for messages and units,
None for groups. The span of a text or blob includes its length prefix.
"""

Remark = tuple[str, int, int, str]
"""(code, start, stop, text): a finding at bytes start..stop of the buffer."""


@dataclass(slots=True)
class Origin:
    """Where a piece of a buffer came from: its bytes from `start` on are those of `frame` from `offset` on."""

    start: int
    frame: int
    offset: int


@dataclass(slots=True)
class Buffer:
    """Bytes with a name and an origin: a batch of a TCP stream, a datagram, reassembled or decompressed bytes."""

    name: str
    data: bytes
    origin: list[Origin] = field(default_factory=list)


@dataclass(slots=True)
class Tape:
    """Spans and remarks about bytes `start`..`stop` of `data`."""

    data: bytes
    start: int
    stop: int
    spans: list[Span]
    remarks: list[Remark]

    def leaves(self) -> Iterator[Span]:
        """The spans that own bytes; together they cover start..stop, each byte once."""
        return (span for span in self.spans if span[0].leaf)

    def findings(self) -> Iterator[tuple[Rule, int, int, str]]:
        """The remarks, each with its rule."""
        return ((RULES[code], start, stop, text) for code, start, stop, text in self.remarks)
