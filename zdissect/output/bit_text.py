"""Bit fields in words and as patterns."""

from zdissect.grammar.field import EXT_HEADER, Field
from zdissect.grammar.types import Bit
from zdissect.output.style import Style


def bits_in_words(field: Field, value: int) -> str:
    """The bit fields of a byte or of an integer in a line: flags that are set by their names, others with their values.

    What the line of a message or an extension says anyway is left out: ids and encodings.
    """
    words = []
    for bit in field.bits:
        node = bit.node
        assert isinstance(node, Bit)
        number = node.of(value)
        if node.name in _SAID or (field is EXT_HEADER and node.width > 1):
            continue
        if node.width == 1 or node.reserved:
            words += [node.name] if number else []
        else:
            words.append(f"{node.name} {bit_words(node, number)}")
    return ", ".join(words)


_SAID = frozenset({"message_id"})


def bit_words(node: Bit, number: int) -> str:
    """What the value of a bit field means."""
    if node.says is not None:
        return node.says[number]
    if node.enum is not None:
        return f"{number} {node.enum.names.get(number, '(unknown)')}"
    return f"{number} ({number + node.plus})" if node.plus else str(number)


def pattern(value: int, mask: int, size: int) -> str:
    """`..1. ....`: the bits of a field in their place."""
    bits = "".join(("1" if value >> i & 1 else "0") if mask >> i & 1 else "." for i in range(size - 1, -1, -1))
    return " ".join(bits[i : i + 4] for i in range(0, size, 4))


def bit_lines(field: Field, value: int, before: str, style: Style) -> str:
    """The lines of the bit fields of a byte or of an integer, below another line; each begins with `before`.

    Reserved bits of a byte are always shown, those of an integer if they are set.
    """
    integer = field.kind == "vle"
    size = 8 if not integer else max(8, (max(value, 1).bit_length() + 7) // 8 * 8)
    opening, closing = ("[", "]") if integer else ("", "")
    out = [""]
    for bit in field.bits:
        node = bit.node
        assert isinstance(node, Bit)
        if node.reserved:
            if integer and not value & node.mask:
                continue
            text = "reserved"
        elif field is EXT_HEADER or node.name not in _SAID:
            text = f"{node.name}  {bit_words(node, node.of(value))}"
        else:
            text = f"id {field.node.name if hasattr(field.node, 'name') else ''}"
        out.append(f"{before}{opening}{style.bits}{pattern(value, node.mask, size)}{style.end}  {text}{closing}")
    return "\n".join(out)
