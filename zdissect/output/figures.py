"""Figures of messages as the specification draws them: a row for each field, bits of flags in their places."""

from collections.abc import Iterator

from zdissect.grammar.registry import PlacedMessage, PlacedNode
from zdissect.grammar.types import (
    Bit,
    Bits,
    Blob,
    Choice,
    Extension,
    Fixed,
    Group,
    Message,
    Node,
    Repeat,
    Rest,
    Text,
    Vle,
)

_WIDTH = 15
"""Characters between the edges of a row: two for each bit of a byte, less one."""
_RULE = "+---------------+"


def figure(placed: PlacedMessage) -> Iterator[str]:
    """The bytes of a message as the pages draw them."""
    yield " 7 6 5 4 3 2 1 0"
    if placed.header is not None and isinstance(placed.node, Message):
        yield "+-+-+-+-+-+-+-+-+"
        flags = "|".join(_cell(bit.node) for bit in placed.header.bits[:-1] if isinstance(bit.node, Bit))
        yield f"|{flags}|{placed.node.name[:9]:^9}|  id 0x{placed.node.id:02x}"
        yield "+-+-+-+---------+"
    else:
        yield _RULE
    yield from _drawn(placed.inside)


def _drawn(places: tuple[PlacedNode, ...], around: str = "", group: str = "") -> Iterator[str]:
    """Rows for fields, those of groups too; `around` is the condition of the group."""
    content: tuple[Node, ...] = ()
    for placed in places:
        node = placed.node
        if isinstance(node, Extension):
            continue
        when = " and ".join(filter(None, (around, node.when)))
        name = node.name if isinstance(node, Group) else ""
        if placed.count:
            yield from _drawn((placed.count,), when, name)
        if name:
            yield from _drawn(placed.inside, when, name)
        elif not isinstance(node, Group):
            edge, name, text = _kind(placed)
            name = f"{group}.{name}" if group and len(f"{group}.{name}") <= _WIDTH else name
            note = "; ".join(filter(None, (f"if {when}" if when else "", text)))
            yield f"{edge}{name[:_WIDTH]:^{_WIDTH}}{edge}  {note}".rstrip()
            yield _RULE
        elif node.fields is not content:  # the same content, whether its size is known or not, is drawn once
            yield from _drawn(placed.inside, around, group)
            content = node.fields


def _cell(bit: Bit) -> str:
    """A bit field in a byte: two characters a bit, less one."""
    return "|".join("X" * bit.width) if bit.reserved else f"{bit.name[: 2 * bit.width - 1]:^{2 * bit.width - 1}}"


def _kind(placed: PlacedNode) -> tuple[str, str, str]:
    """The edge of a row, its name, and what it holds."""
    match placed.node:
        case Bits() as node:
            cut = [bit.name for bit in node.bits if not bit.reserved and len(bit.name) > 2 * bit.width - 1]
            cells = "|".join(_cell(bit.node) for bit in placed.field.bits if isinstance(bit.node, Bit))
            return "|", cells, f"{node.name}: {', '.join(reversed(cut))}" if cut else node.name
        case Vle() as node:
            return "%", node.name, f"z{node.width}" + (f", wraps at {node.keeps}" if node.keeps else "")
        case Fixed() as node:
            return ("|", node.name, "") if node.size == 1 else ("~", node.name, f"{node.size} bytes")
        case Text() | Blob() as node:
            return "~", node.name, f"<{'utf8' if isinstance(node, Text) else 'u8'};z{node.length}>"
        case Rest() as node:
            return "~", node.name, "to the end"
        case Repeat() as node:
            return "~", f"[{node.name}]", f"{node.count if isinstance(node.count, str) else node.count.name} times"
        case Choice() as node:
            few = " or ".join(message.name for message in node.messages) if len(node.messages) < 5 else node.doc
            return "~", node.name, few
    return "~", "[extensions]", ""
