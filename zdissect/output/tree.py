"""The annotated tree: a line per field with offset, bytes, bits, name, value and meaning.

Lines are written straight from the spans, or for usual batches of a block from stencils.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Remark, Tape
from zdissect.engine.templates import MOST_TEMPLATES
from zdissect.grammar.batch import BATCH
from zdissect.grammar.primitives import encoding_text
from zdissect.grammar.rules import RULES
from zdissect.output.brackets import brackets
from zdissect.output.field_lines import HEADED, FieldLines
from zdissect.output.folding import Folds, divided, unfolded
from zdissect.output.leaf_lines import LineShape
from zdissect.output.repeated_findings import gathered
from zdissect.output.style import Style
from zdissect.output.text import count, safe

if TYPE_CHECKING:  # a tree without a session, as for pasted hex, has no messages
    from zdissect.engine.messages import DecodedMessage, Row

_NOTHING: Counter[int] = Counter()


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
        shape = LineShape(style, columns, limit, with_bits, style.raw)
        self.fields = FieldLines(shape)
        self.painted = [FieldLines(shape._replace(raw=colour)) for colour in style.fields] if paints else []
        """The same, in the colours that take turns."""
        self.prefixes: dict[bytes, str] = {}

    def lines(self, tape: Tape, messages: "Sequence[DecodedMessage]" = (), folds: Folds | None = None) -> list[str]:
        """The lines of a tape; offsets count from the start of its bytes. With `messages`, what is known of them; with
        `folds`, only what these leave."""
        return "\n".join(self.blocks(tape, messages, folds)).split("\n") if tape.spans else []

    def blocks(self, tape: Tape, messages: "Sequence[DecodedMessage]" = (), folds: Folds | None = None) -> list[str]:
        """The same, several lines in one text where that is faster."""
        remarks: list[Remark] = []
        stops, hidden = {} if folds is None else folds.stops, _NOTHING
        if tape.remarks:
            shown, hidden = divided(tape, stops) if stops else (tape.remarks, _NOTHING)
            remarks = list(self.remarks(shown, tape, messages))[::-1]
        known = {message.first: message.row for message in messages}
        out = self.walked(tape, folds or unfolded(tape.spans), known, remarks, hidden)
        return out + [self.remark(remark, 1) for remark in reversed(remarks)]

    def prefix(self, data: bytes) -> str:
        """The line of the length prefix of a batch."""
        line = self.prefixes.get(data)
        if line is None:
            if len(self.prefixes) >= MOST_TEMPLATES:
                self.prefixes.clear()
            spans = interpret(BATCH, data, cut=True, prefix=len(data)).spans
            ((place, lines),) = self.fields.span(spans, 1, data)
            line = self.prefixes[data] = f"{self.fields.offset}{place:04x}{lines}"
        return line

    def walked(
        self, tape: Tape, folds: Folds, known: "Mapping[int, Row]", remarks: list[Remark], hidden: Counter[int]
    ) -> list[str]:
        """The lines of some spans.

        Args:
            tape: Where they are.
            folds: Which ones, and what is folded.
            known: What is known of messages, by their places.
            remarks: The findings that are shown, the last one first; those whose place is reached are taken.
            hidden: How many findings each folded message has.
        """
        data, start, spans, stops = tape.data, tape.start, tape.spans, folds.stops
        offset, fields, painted = self.style.offset, self.fields, self.painted
        out: list[str] = []
        encoding = ""
        for index in folds.order:
            field, depth, at, stop, value = spans[index]
            kind = field.kind
            if kind == "message":
                encoding = ""
            elif field.render == "encoding":
                encoding = encoding_text(value >> 1, None)
            if painted:
                fields = painted[(index + (kind in HEADED)) % len(painted)]
            folded = hidden[index] if index in stops else None
            for place, lines in fields.span(spans, index, data, encoding, folded):
                out.append(f"{offset}{at - start + place:04x}{lines}")
            if kind == "message" and index in known:
                out += [fields.bracket(text, depth) for text in brackets(known[index], index in stops)]
            if remarks and kind != "header":
                reached = stops.get(index, spans[index + 1][3]) if kind in HEADED else stop if field.leaf else at
                while remarks and remarks[-1][1] < reached:
                    out.append(self.remark(remarks.pop(), depth))
        return out

    @staticmethod
    def remarks(shown: Sequence[Remark], tape: Tape, messages: "Sequence[DecodedMessage]") -> Iterator[Remark]:
        """Findings by their places; of many of a kind in a message, the first one with their number."""
        ordered = sorted(shown, key=lambda remark: remark[1])
        starts = [tape.start + message.offset for message in messages]
        for remark, text in gathered(ordered, lambda one: (bisect(starts, one[1]), one[0]), lambda one: one[3]):
            yield (*remark[:3], text)

    def remark(self, remark: Remark, depth: int) -> str:
        """A finding, below the field where it was made."""
        code, start, stop, text = remark
        rule, style = RULES[code], self.style
        where = f" ({count(stop - start)})" if stop - start > 1 else ""
        colour = style.severity(rule.severity)
        before = f"{self.fields.shape.blank}{'  ' * depth}{colour}^ {rule.severity}: "
        return f"{before}{safe(text)}{where} [{code}]{style.end}"
