"""A dump in which the bytes of each field have the colour that they have in the tree."""

from zdissect.engine.tape import Tape
from zdissect.output.style import Style
from zdissect.output.text import hexdump, printable_byte


def dump(tape: Tape, data: bytes, style: Style, indent: str = "") -> str:
    """A dump of the bytes of a tape: offset, hex and ASCII, 16 bytes a line."""
    if not style.end:
        return hexdump(data, indent)
    paint = [""] * len(data)
    for index, span in enumerate(tape.spans):
        if span[0].leaf:
            colour = style.fields[index % len(style.fields)]
            paint[span[2] - tape.start : span[3] - tape.start] = [colour] * (span[3] - span[2])
    lines = []
    for at in range(0, len(data), _ROW):
        row = list(zip(data[at : at + _ROW], paint[at : at + _ROW], strict=True))
        digits = [f"{colour}{byte:02x}{style.end}" for byte, colour in row]
        halves = " ".join(digits[: _ROW // 2]), " ".join(digits[_ROW // 2 :])
        missing = 3 * (_ROW - len(row)) - (len(row) <= _ROW // 2)
        text = "".join(f"{colour}{printable_byte(byte)}{style.end}" for byte, colour in row)
        gap = " " * max(0, missing)
        lines.append(f"{indent}{style.offset}{at:04x}{style.end}  {halves[0]}  {halves[1]}{gap}  {text}")
    return "\n".join(lines)


_ROW = 16
