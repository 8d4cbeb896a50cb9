"""The annotated tree: a line per field with offset, bytes, bits, name, value and meaning.

Lines are written straight from the spans. What doesn't change from message to message (the lines of flag bits, the
words of a header) is made once and kept.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zdissect.engine.tape import Remark, Span, Tape
from zdissect.engine.vle import read
from zdissect.grammar.derived import SHOWN, SHOWN_ONCE
from zdissect.grammar.field import EXT_BITS, EXT_HEADER, Field
from zdissect.grammar.flags import ID_BITS, named
from zdissect.grammar.primitives import RENDERINGS, encoding_text
from zdissect.grammar.rules import RULES
from zdissect.grammar.types import ENC_NAMES, Bit, Fixed
from zdissect.output.answers import answers
from zdissect.output.bit_text import bit_words, bits_in_words, pattern
from zdissect.output.folding import Folds, divided, unfolded
from zdissect.output.repeated_findings import gathered
from zdissect.output.style import Style
from zdissect.output.text import count, opaque, payload, quoted, safe, unresolved

if TYPE_CHECKING:  # a tree without a session, as for pasted hex, has no messages
    from zdissect.engine.messages import DecodedMessage

_ID, _ENC = named(EXT_BITS, "ID"), named(EXT_BITS, "ENC")
_EXTENSIONS = tuple(f"ext 0x{_ID.of(byte):x} {ENC_NAMES[_ENC.of(byte)]}" for byte in range(256))
"""What each header byte of an extension says."""
_NOTHING: Counter[int] = Counter()
_HEADED = frozenset({"message", "extension"})
"""Kinds whose first byte is their header."""
_GROUPS = frozenset({"group", "repeat", "item"})
_MEASURED = frozenset({"text", "blob"})
"""Kinds of fields with a length in front."""
_BRACKETS = tuple((field.column, field.label, field.show) for field in SHOWN if field.column not in SHOWN_ONCE)
"""What is said of each message: column, label, and how its value becomes text."""


class TreeWriter:
    """Turns tapes into lines.

    Args:
        style: The colours.
        columns: How many bytes of a field are shown in the column of bytes.
        limit: How many bytes of a payload are shown.
        with_bits: Whether each bit field has a line; otherwise those that are set stand behind the byte.
        paints: Whether the bytes of each field have a colour of their own, as in a dump that `dump` makes.
    """

    def __init__(
        self, style: Style, columns: int = 8, limit: int = 96, with_bits: bool = True, paints: bool = False
    ) -> None:
        self.style = style
        self.with_bits = with_bits
        self.paints = paints
        self.raw = style.raw
        """The colour of the bytes of the field that is being written."""
        self.hidden: Counter[int] = _NOTHING
        """Findings in the folded messages of what is being written, by the places of these."""
        self.columns = columns
        self.limit = limit
        self.width = 3 * columns + 2
        self.blank = " " * (self.width + 6)
        self.bit_lines: dict[tuple[Field, int, int], list[str]] = {}
        self.texts: dict[tuple[Field, int, int], str] = {}

    def lines(self, tape: Tape, messages: "Sequence[DecodedMessage]" = (), folds: Folds | None = None) -> list[str]:
        """The lines of a tape; offsets count from the start of its bytes. With `messages`, what is known of them; with
        `folds`, only what these leave."""
        data, start, spans = tape.data, tape.start, tape.spans
        known = {message.first: message for message in messages}
        order, stops = unfolded(spans) if folds is None else folds
        shown, self.hidden = divided(tape, stops) if stops and tape.remarks else (tape.remarks, _NOTHING)
        remarks = list(self.remarks(shown, tape, messages))[::-1] if shown else []
        colours, paints = self.style.fields, self.paints
        self.raw = self.style.raw
        out: list[str] = []
        encoding = ""
        for index in order:
            span = spans[index]
            field, depth, at, stop, value = span
            kind = field.kind
            if kind == "header":  # stands in the line of its message
                continue
            if paints:
                self.raw = colours[(index + (kind in _HEADED)) % len(colours)]
            if kind in _HEADED:
                self.head(out, index, spans, data, start, closed=index in stops)
                stop = stops.get(index, spans[index + 1][3])
                if kind == "message":
                    encoding = ""
                    if index in known:
                        self.derived(out, known[index], depth, closed=index in stops)
            elif field.leaf:
                if field.render == "encoding":
                    encoding = encoding_text(value >> 1, None)
                self.leaf(out, span, data, start, encoding)
            else:
                if kind in _GROUPS:
                    out.append(self.group(span, start))
                stop = at
            while remarks and remarks[-1][1] < stop:
                out.append(self.remark(remarks.pop(), depth))
        return out + [self.remark(remark, 1) for remark in reversed(remarks)]

    @staticmethod
    def remarks(shown: Sequence[Remark], tape: Tape, messages: "Sequence[DecodedMessage]") -> Iterator[Remark]:
        """Findings by their places; of many of a kind in a message, the first one with their number."""
        ordered = sorted(shown, key=lambda remark: remark[1])
        starts = [tape.spans[message.first][2] for message in messages]
        for remark, text in gathered(ordered, lambda one: (bisect(starts, one[1]), one[0]), lambda one: one[3]):
            yield (*remark[:3], text)

    def line(self, at: int, raw: bytes, depth: int, text: str) -> str:
        """One line: offset, bytes, indented text."""
        style, columns = self.style, self.columns
        shown = raw.hex(" ") if len(raw) <= columns else f"{raw[:columns].hex(' ')} .."
        return f"{style.offset}{at:04x}{style.end}  {self.raw}{shown.ljust(self.width)}{style.end}{'  ' * depth}{text}"

    def head(self, out: list[str], index: int, spans: Sequence[Span], data: bytes, start: int, closed: bool) -> None:
        """Adds a message or an extension with its header byte; if it is closed, without the bits of that, but with the
        number of its findings."""
        (field, depth, at, _, label), header = spans[index], spans[index + 1]
        style, byte = self.style, header[4]
        if field.kind == "message":
            text = f"{style.message}{label}{style.end}  0x{byte & ID_BITS:02x}"
        else:
            name = field.name.removeprefix("ext_") if field.name != "ext" else "unknown"
            text = f"{_EXTENSIONS[byte]}: {style.message}{name}{style.end}"
        if not self.with_bits and not closed:
            text += f"  {words}" if (words := bits_in_words(header[0], byte)) else ""
        if closed and (number := self.hidden[index]):
            text += f"  {style.dim}[{number} finding{'s' if number > 1 else ''}]{style.end}"
        out.append(self.line(at - start, data[at : header[3]], depth, text))
        if self.with_bits and not closed:
            out += self.bits(header[0], byte, depth)

    def derived(self, out: list[str], message: "DecodedMessage", depth: int, closed: bool) -> None:
        """Adds what the session knows of a message, in brackets; if it is closed, its key."""
        style, row = self.style, message.row
        before = f"{self.blank}{'  ' * (depth + 1)}{style.derived}["
        for column, label, show in _BRACKETS[:1] if closed else _BRACKETS:
            if column in row and (value := row[column]) is not None:
                out.append(f"{before}{label}: {safe(show(value))}]{style.end}")
        if "answered" in row and not closed:
            out += [f"{before}{text}]{style.end}" for text in answers(row)]
        if "key_scope" in row and row.get("key_expr") is None:
            out.append(f"{before}Key expression: {unresolved(row)}, not declared in the capture]{style.end}")

    def bits(self, field: Field, value: int, depth: int) -> list[str]:
        """The lines of the bit fields of a byte or of an integer."""
        key = (field, value, depth)
        lines = self.bit_lines.get(key)
        if lines is None:
            lines = [self.bit(bit, value, depth, field) for bit in field.bits if self.shows(bit, value, field)]
            if len(self.bit_lines) < _MOST_KEPT:
                self.bit_lines[key] = lines
        return lines

    @staticmethod
    def shows(bit: Field, value: int, field: Field) -> bool:
        """Reserved bits of a byte are always shown, those of an integer if they are set."""
        node = bit.node
        return field.kind != "vle" or not isinstance(node, Bit) or not node.reserved or bool(value & node.mask)

    def bit(self, bit: Field, value: int, depth: int, field: Field) -> str:
        """One bit field: its pattern, its name and what it means."""
        node = bit.node
        assert isinstance(node, Bit)
        style = self.style
        size = 8 if field.kind != "vle" else max(8, (max(value, 1).bit_length() + 7) // 8 * 8)
        number = value >> node.low & (1 << node.width) - 1
        shown = pattern(value, node.mask, size)
        if node.reserved:
            text = "reserved"
        elif field is EXT_HEADER or node.name != "message_id":
            text = f"{node.name}  {bit_words(node, number)}"
        else:
            text = f"id {field.node.name if hasattr(field.node, 'name') else ''}"
        indent = "  " * (depth + 1)
        opening, closing = ("[", "]") if field.kind == "vle" else ("", "")
        return f"{self.blank}{indent}{opening}{style.bits}{shown}{style.end}  {text}{closing}"

    def leaf(self, out: list[str], span: Span, data: bytes, start: int, encoding: str) -> None:
        """Adds one field. A length in front of it has a line of its own."""
        field, depth, at, stop, value = span
        style, kind = self.style, field.kind
        if kind in _MEASURED:
            length, at_value = read(data, at, stop)
            note = f"  {style.dim}({_vle_note(at_value - at)}){style.end}"
            text = f"{style.name}{field.name} length: {style.value}{count(length)}{style.end}{note}"
            out.append(self.line(at - start, data[at:at_value], depth, text))
            at = at_value
        text = self.text(field, value, stop - at, encoding) if kind != "undecoded" else self.undecoded(value)
        out.append(self.line(at - start, data[at:stop], depth, text))
        if field.bits and self.with_bits:
            out += self.bits(field, value, depth)

    def text(self, field: Field, value: Any, size: int, encoding: str) -> str:
        """A field with its value, and how long an integer is. Small numbers come again and again."""
        small = value.__class__ is int and value < 256
        if small and (kept := self.texts.get((field, value, size))) is not None:
            return kept
        style = self.style
        words = self.words(field, value, encoding)
        if field.bits and not self.with_bits and not field.render:
            words = f"{words}  {bits_in_words(field, value)}".rstrip()
        note = f"  {style.dim}({_vle_note(size)}){style.end}" if field.kind == "vle" else ""
        text = f"{style.name}{field.name}: {style.value}{words}{style.end}{note}"
        if small:
            self.texts[field, value, size] = text
        return text

    def undecoded(self, data: bytes) -> str:
        """What is said of bytes that no field owns."""
        shown = data[: self.limit].hex(" ") + (" .." if len(data) > self.limit else "")
        return f"{self.style.error}undecoded{self.style.end}: {count(len(data))}  {shown}"

    def words(self, field: Field, value: Any, encoding: str) -> str:
        """A value with its meaning."""
        if field.render == "payload":
            return payload(value, encoding, self.limit)
        if field.render == "zid":
            return RENDERINGS["zid"](value)
        if isinstance(value, str):
            return quoted(value)
        if isinstance(value, bytes):
            return opaque(value, min(self.limit, 16))
        if field.enum is not None:
            return f"{value} {field.enum.names.get(value, '(unknown)')}"
        if field.kind == "bits":
            return f"0x{value:02x}"
        if field.render:
            words = safe(RENDERINGS[field.render](value))
            return words if words.startswith(str(value)) or isinstance(field.node, Fixed) else f"{value}  {words}"
        return str(value)

    def group(self, span: Span, start: int) -> str:
        """The line of a group: no bytes of its own."""
        field, depth, at, _, value = span
        name = f"{field.path.split('.')[-2]} {value}" if field.kind == "item" else field.name
        return self.line(at - start, b"", depth, f"{self.style.dim}{name}{self.style.end}")

    def remark(self, remark: Remark, depth: int) -> str:
        """A finding, below the field where it was made."""
        code, start, stop, text = remark
        rule, style = RULES[code], self.style
        where = f" ({count(stop - start)})" if stop - start > 1 else ""
        colour = style.severity(rule.severity)
        return f"{self.blank}{'  ' * depth}{colour}^ {rule.severity}: {safe(text)}{where} [{code}]{style.end}"


_MOST_KEPT = 4096


def _vle_note(size: int) -> str:
    return "VLE" if size == 1 else f"VLE, {size} bytes"
