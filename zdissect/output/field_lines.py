"""The lines of fields, messages and groups, all but the offset in front.

Without that, they follow from the field, its depth and its bytes; those of short fields come again and again, and are
kept.
"""

from collections.abc import Sequence
from typing import Any

from zdissect.engine.tape import Span
from zdissect.grammar.columns import changes
from zdissect.grammar.field import EXT_BITS, Field
from zdissect.grammar.flags import ID_BITS, named
from zdissect.grammar.types import ENC_NAMES
from zdissect.output.bit_text import bit_lines, bits_in_words
from zdissect.output.leaf_lines import LeafLines, LineShape, Placed

_ID, _ENC = named(EXT_BITS, "ID"), named(EXT_BITS, "ENC")
_EXTENSIONS = tuple(f"ext 0x{_ID.of(byte):x} {ENC_NAMES[_ENC.of(byte)]}" for byte in range(256))
"""What each header byte of an extension says."""
HEADED = frozenset({"message", "extension"})
"""Kinds whose first byte is their header."""
_GROUPS = frozenset({"group", "repeat", "item"})
_MOST_KEPT = 4096
_SHORT = 32
"""Fields of at most so many bytes are kept."""


class FieldLines:
    """Makes lines, and keeps them."""

    def __init__(self, shape: LineShape) -> None:
        self.shape = shape
        self.offset = shape.style.offset
        """What stands in front of an offset."""
        self.leaves: dict[tuple[Field, int], LeafLines] = {}
        self.kept: dict[tuple[Any, ...], tuple[Placed, ...]] = {}

    def span(
        self, spans: Sequence[Span], index: int, data: bytes, encoding: str = "", folded: int | None = None
    ) -> tuple[Placed, ...]:
        """The lines of one of several spans, with their places in its bytes.

        Args:
            spans: A tape's; the header byte of a message or an extension is in the line of that.
            index: Which one.
            data: The bytes of the tape.
            encoding: How a payload is to be read; empty if nothing says.
            folded: The number of findings of a message that is folded.
        """
        field, depth, start, stop, value = span = spans[index]
        kind = field.kind
        if field.leaf:
            if kind == "header":
                return ()
            raw = data[start:stop]
            if len(raw) > _SHORT or changes(field):
                return self.leaf(field, depth).lines(raw, value, encoding)
            key: tuple[Any, ...] = (field, depth, raw, encoding)
            kept = self.kept.get(key)
            return kept if kept is not None else self._keep(key, self.leaf(field, depth).lines(raw, value, encoding))
        if kind in HEADED:
            header = spans[index + 1]
            key = (field, depth, header[4], value, header[0], folded)
            kept = self.kept.get(key)
            return kept if kept is not None else self._keep(key, ((0, self.head(span, header, folded)),))
        return ((0, self.group(field, depth, value)),) if kind in _GROUPS else ()

    def head(self, span: Span, header: Span, folded: int | None) -> str:
        """The lines of a message or an extension with its header byte; if it is folded, without the bits of that, but
        with the number of its findings."""
        field, depth, _, _, label = span
        shape, byte = self.shape, header[4]
        style = shape.style
        if field.kind == "message":
            text = f"{style.message}{label}{style.end}  0x{byte & ID_BITS:02x}"
        else:
            name = field.name.removeprefix("ext_") if field.name != "ext" else "unknown"
            text = f"{_EXTENSIONS[byte]}: {style.message}{name}{style.end}"
        if not shape.with_bits and folded is None:
            text += f"  {words}" if (words := bits_in_words(header[0], byte)) else ""
        if folded:
            text += f"  {style.dim}[{folded} finding{'s' if folded > 1 else ''}]{style.end}"
        line = shape.line(byte.to_bytes(1, "big"), depth, text)
        if not shape.with_bits or folded is not None:
            return line
        return line + bit_lines(header[0], byte, f"{shape.blank}{'  ' * (depth + 1)}", style)

    def leaf(self, field: Field, depth: int) -> LeafLines:
        """What makes the lines of a field that owns bytes."""
        found = self.leaves.get((field, depth))
        if found is None:
            found = self.leaves[field, depth] = LeafLines(self.shape, field, depth)
        return found

    def _keep(self, key: tuple[Any, ...], lines: tuple[Placed, ...]) -> tuple[Placed, ...]:
        if len(self.kept) >= _MOST_KEPT:
            self.kept.clear()
        self.kept[key] = lines
        return lines

    def group(self, field: Field, depth: int, value: Any) -> str:
        """The line of a group: no bytes of its own."""
        name = f"{field.path.split('.')[-2]} {value}" if field.kind == "item" else field.name
        style = self.shape.style
        return self.shape.line(b"", depth, f"{style.dim}{name}{style.end}")

    def bracket(self, text: str, depth: int) -> str:
        """A line about a message, which owns no bytes."""
        style = self.shape.style
        return f"{self.shape.blank}{'  ' * (depth + 1)}{style.derived}[{text}]{style.end}"
