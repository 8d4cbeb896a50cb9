"""The content of a message: its fields by name, each with a text to compare and the bytes behind it.

What only says how the rest is written isn't content: which fields follow, how many there are, how long they are.
"""

from collections import Counter
from dataclasses import dataclass
from dataclasses import field as member
from functools import cache
from hashlib import blake2b

from zdissect.comparison.varying import Names, stands_for, varies
from zdissect.engine.messages import DecodedMessage
from zdissect.engine.tape import Span
from zdissect.grammar import conditions
from zdissect.grammar.field import EXT_BITS, EXT_HEADER, EXT_LENGTH, EXT_UNKNOWN, UNDECODED, Field
from zdissect.grammar.flags import ID_BITS, named
from zdissect.grammar.registry import PlacedNode, fields, place
from zdissect.grammar.types import Bit, Message
from zdissect.output.leaf_lines import LeafLines, LineShape
from zdissect.output.style import PLAIN

_LIMIT = 24
"""Bytes of a payload that a text has."""
_SHAPE = LineShape(PLAIN, 8, _LIMIT, False, "")
MOST_BYTES = 24
"""Bytes that are kept of a field."""
_MEASURES = ("length", "count", "link_count")
_MORE = named(EXT_BITS, "Z")
_SHORT = 16
"""Bytes of which a text always has all."""
_LONGEST = 200
"""Characters of a text."""
RELIABILITY, SENT = "[reliability]", "[sent]"
"""Names of what a message has of its FRAME."""
PRESENT = "present"
"""The text of an extension, whose fields have their own."""


@dataclass(frozen=True, slots=True)
class ContentPart:
    """A field of a message. Equal to another whose bytes differ in what varies only."""

    name: str
    """Without `zenoh.`; with `#2` behind it if it is the second of its name."""
    text: str
    """What is compared, or the beginning of it."""
    rest: bytes
    """What stands for the whole where the text is only its beginning."""
    data: bytes = member(compare=False)
    """The first of its bytes."""


Content = tuple[ContentPart, ...]
_Piece = tuple[str, str, bytes, bytes]
"""Name, text and bytes of a part, and what is compared besides the text."""


def content(message: DecodedMessage, names: Names) -> Content:
    """The fields of a message, without those of messages inside it that have a row of their own.

    Args:
        message: The message.
        names: What stands for ZenohIDs.
    """
    out: list[ContentPart] = []
    seen: Counter[str] = Counter()
    data, encoding = message.tape.data, message.row.get("encoding") or ""
    spans = list(message.spans())
    mapped = bool(message.row.get("key_scope"))
    for index, span in enumerate(spans):
        for name, text, raw, exact in _parts(span, spans, index, data, encoding, names):
            if not mapped and name in _mappings():  # whose table means nothing without an id
                continue
            seen[name] += 1
            number = f"#{seen[name]}" if seen[name] > 1 else ""
            out.append(_part(f"{name.removeprefix('zenoh.')}{number}", text, raw, exact))
    return (*out, *_channel(message))


def _channel(message: DecodedMessage) -> Content:
    """What a network message has of the FRAME that carries it."""
    row = message.row
    if row["layer"] != "network":
        return ()
    whole = "in fragments" if row.get("fragments") else "whole"
    return _part(RELIABILITY, str(row.get("reliability")), b""), _part(SENT, whole, b"")


def _part(name: str, text: str, raw: bytes, exact: bytes = b"") -> ContentPart:
    """A part; long texts and bytes are shortened, and compared in full all the same.

    Args:
        exact: What is compared besides the text, where that doesn't say all.
    """
    if len(text) > _LONGEST:
        exact = text.encode("utf-8", "surrogateescape")
    return ContentPart(name, shortened(text), digest(exact) if exact else b"", raw[:MOST_BYTES])


def digest(data: bytes) -> bytes:
    """What stands for bytes that are too long to be kept."""
    return blake2b(data, digest_size=16).digest()


def shortened(text: str) -> str:
    """A text of any length, with its beginning only where it is long."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def _parts(span: Span, spans: list[Span], index: int, data: bytes, encoding: str, names: Names) -> list[_Piece]:
    """What a span has to compare."""
    field, _, start, stop, value = span
    raw = bytes(data[start:stop])
    if field.kind == "extension":
        return [(_extension(field, spans, index), PRESENT, raw, b"")]
    if not field.leaf or field in (EXT_HEADER, EXT_LENGTH) or field.name in _MEASURES:
        return []
    if field.kind == "header":
        return [(bit.path, _bit(bit, value), raw, b"") for bit in field.bits if bit.name in _own_flags(field)]
    text = stands_for(field, value, names)
    if text is not None:
        return [(field.path, text, raw, b"")]
    if field.bits:
        shown = [bit for bit in field.bits if not varies(bit) and (_number(bit, value) or not _is_reserved(bit))]
        return [(bit.path, _bit(bit, value), raw, b"") for bit in shown]
    if field is UNDECODED:
        return [(field.path, raw[:MOST_BYTES].hex(" "), raw, raw)]
    exact = raw if isinstance(value, bytes) and len(raw) > _SHORT else b""
    return [(field.path, _leaf(field).words(value, encoding), raw, exact)]


def _extension(field: Field, spans: list[Span], index: int) -> str:
    """The name of an extension; one that isn't known goes by its header byte."""
    if field is EXT_UNKNOWN and index + 1 < len(spans):
        return f"{field.path} 0x{spans[index + 1][4] & ~_MORE.mask:02x}"
    return field.path


@cache
def _mappings() -> frozenset[str]:
    """The names of the flags that say whose table an id is in."""
    return frozenset(path for path, field in fields().items() if field.column == "key_mapping")


@cache
def _leaf(field: Field) -> LeafLines:
    return LeafLines(_SHAPE, field, 0)


def _number(field: Field, value: int) -> int:
    """The value of a bit field."""
    node = field.node
    assert isinstance(node, Bit)
    return value >> node.low & (1 << node.width) - 1


def _is_reserved(field: Field) -> bool:
    return isinstance(field.node, Bit) and field.node.reserved


def _bit(field: Field, value: int) -> str:
    """The value of a bit field, with what it means."""
    node, number = field.node, _number(field, value)
    assert isinstance(node, Bit)
    if node.says:
        return f"{number} {node.says[number]}"
    if node.enum is not None:
        return f"{number} {node.enum.names.get(number, '(unknown)')}"
    return str(number)


@cache
def _own_flags(header: Field) -> frozenset[str]:
    """The flags of a message that say something by themselves, and not only which fields follow."""
    node = header.node
    assert isinstance(node, Message)
    used = {_MORE.name}

    def walk(placed: tuple[PlacedNode, ...]) -> None:
        for one in placed:
            used.update(conditions.names(getattr(one.node, "when", "")))
            walk(one.inside)

    walk(place(node).inside)
    return frozenset(
        bit.name
        for bit in header.bits
        if isinstance(bit.node, Bit) and bit.node.mask & ~ID_BITS and bit.node.name not in used
    )
