"""The lines of one field at one depth, all but the offset in front: bytes, name, value and meaning.

What follows from field and depth alone is made once, with the object.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from zdissect.engine.vle import read
from zdissect.grammar.field import Field
from zdissect.grammar.primitives import RENDERINGS
from zdissect.grammar.types import Fixed
from zdissect.output.bit_text import bit_lines, bits_in_words
from zdissect.output.style import Style
from zdissect.output.text import count, opaque, payload, quoted, safe

Placed = tuple[int, str]
"""(offset, text): the lines that belong to an offset, without that."""

Words = Callable[[Any, str], str]
"""A value, and the encoding of a payload (empty if nothing says it), in words."""

_MEASURED = frozenset({"text", "blob"})
"""Kinds of fields with a length in front."""
_LONGEST_VLE = 9
_MOST_LENGTHS = 512


class LineShape(NamedTuple):
    """How lines look."""

    style: Style
    columns: int
    """How many bytes of a field are shown in the column of bytes."""
    limit: int
    """How many bytes of a payload are shown."""
    with_bits: bool
    """Whether each bit field has a line; otherwise those that are set stand behind the byte."""
    raw: str
    """The colour of the bytes."""

    @property
    def width(self) -> int:
        """The width of the column of bytes."""
        return 3 * self.columns + 2

    @property
    def blank(self) -> str:
        """The room of offset and bytes."""
        return " " * (self.width + 6)

    def line(self, raw: bytes, depth: int, text: str) -> str:
        """What stands behind the offset in a line of few bytes: these, indented text."""
        return f"{self.before}{raw.hex(' ').ljust(self.width)}{self.indent(depth)}{text}"

    @property
    def before(self) -> str:
        """What stands between offset and bytes."""
        return f"{self.style.end}  {self.raw}"

    def indent(self, depth: int) -> str:
        """What stands between bytes and text."""
        return f"{self.style.end}{'  ' * depth}"


class LeafLines:
    """Makes the lines of a field.

    Args:
        shape: How they look.
        field: A field that owns bytes, but no header.
        depth: How far it is indented.
    """

    def __init__(self, shape: LineShape, field: Field, depth: int) -> None:
        self.shape, self.field = shape, field
        self.columns, self.width = shape.columns, shape.width
        self.words = _words(field, shape.limit)
        self.measured = field.kind in _MEASURED
        """Whether it has a length in front, which has a line of its own."""
        style, name = shape.style, field.name
        indent = shape.indent(depth)
        self.before = shape.before
        self.named = f"{indent}{style.name}{name}: {style.value}"
        self.measures = f"{indent}{style.name}{name} length: {style.value}"
        self.lengths: dict[bytes, str] = {}
        """Lines of lengths, by their bytes."""
        self.notes = [f"{style.end}  {style.dim}({_vle_note(size)}){style.end}" for size in range(_LONGEST_VLE + 1)]
        """What is said of an integer, by the number of its bytes."""
        self.end = None if field.kind == "vle" else style.end
        if field.kind == "undecoded":
            self.named = f"{indent}{style.error}undecoded{style.end}: "
            self.end = ""
        self.bits_below = f"{shape.blank}{'  ' * (depth + 1)}" if field.bits and shape.with_bits else ""
        self.bits_behind = bool(field.bits) and not shape.with_bits and not field.render

    def lines(self, data: bytes, value: Any, encoding: str) -> tuple[Placed, ...]:
        """The lines of all its bytes, with their places in these."""
        if not self.measured:
            return ((0, self.content(data, value, encoding)),)
        length, at = read(data, 0, len(data))
        return (0, self.length(data[:at], length)), (at, self.content(data[at:], value, encoding))

    def length(self, raw: bytes, length: int) -> str:
        """The line of the length in front of it."""
        line = self.lengths.get(raw)
        if line is None:
            line = f"{self.before}{self.shown(raw)}{self.measures}{count(length)}{self.notes[len(raw)]}"
            if len(self.lengths) < _MOST_LENGTHS:
                self.lengths[raw] = line
        return line

    def shown(self, raw: bytes) -> str:
        """The column of bytes."""
        columns = self.columns
        return (raw.hex(" ") if len(raw) <= columns else f"{raw[:columns].hex(' ')} ..").ljust(self.width)

    def content(self, raw: bytes, value: Any, encoding: str) -> str:
        """Its lines without that of the length."""
        words, end = self.words(value, encoding), self.end
        if self.bits_behind:
            words = f"{words}  {bits_in_words(self.field, value)}".rstrip()
        text = f"{self.before}{self.shown(raw)}{self.named}{words}{self.notes[len(raw)] if end is None else end}"
        return text + bit_lines(self.field, value, self.bits_below, self.shape.style) if self.bits_below else text


def _words(field: Field, limit: int) -> Words:
    """How the values of a field become words."""
    kind, render, enum = field.kind, field.render, field.enum
    if kind == "undecoded":
        return lambda value, _: f"{count(len(value))}  {value[:limit].hex(' ')}{' ..' if len(value) > limit else ''}"
    if render == "payload":
        return lambda value, encoding: payload(value, encoding, limit)
    if render == "zid":
        zid = RENDERINGS["zid"]
        return lambda value, _: zid(value)
    if kind == "text" or (kind == "rest" and getattr(field.node, "text", False)):
        return lambda value, _: quoted(value)
    if kind in ("blob", "raw", "rest"):
        return lambda value, _: opaque(value, min(limit, 16))
    if enum is not None:
        names = enum.names
        return lambda value, _: f"{value} {names.get(value, '(unknown)')}"
    if kind == "bits":
        return lambda value, _: f"0x{value:02x}"
    if render:
        return _rendered(RENDERINGS[render], isinstance(field.node, Fixed))
    return lambda value, _: str(value)


def _rendered(rendering: Callable[..., str], alone: bool) -> Words:
    """A number with what it stands for: behind it, unless that begins with it or is all that is asked for."""

    def words(value: Any, _: str) -> str:
        text = safe(rendering(value))
        return text if alone or text.startswith(str(value)) else f"{value}  {text}"

    return words


def _vle_note(size: int) -> str:
    return "VLE" if size == 1 else f"VLE, {size} bytes"
