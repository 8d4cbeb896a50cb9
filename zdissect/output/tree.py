"""The annotated tree: a line per field with offset, bytes, bits, name, value and meaning.

Lines are written straight from the spans, or for messages that were read without a tape from their stencils.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from zdissect.engine.lazy_messages import LazyMessage, LazyTape
from zdissect.engine.tape import Remark, Tape
from zdissect.grammar.primitives import encoding_text
from zdissect.grammar.rules import RULES
from zdissect.output.brackets import brackets
from zdissect.output.field_lines import HEADED, FieldLines
from zdissect.output.folding import Folds, divided, unfolded
from zdissect.output.leaf_lines import LineShape
from zdissect.output.repeated_findings import gathered
from zdissect.output.stencils import Stencils
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
        self.stencils = Stencils(self.fields)

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
        first = messages[0] if messages else None
        if folds is None and not self.painted and isinstance(first, LazyMessage):
            out = self.of_messages(first.tape, messages, remarks)
            return out + [self.remark(remark, 1) for remark in reversed(remarks)]
        known = {message.first: message.row for message in messages}
        out = self.walked(tape, folds or unfolded(tape.spans), known, remarks, hidden)
        return out + [self.remark(remark, 1) for remark in reversed(remarks)]

    def of_messages(self, tape: LazyTape, messages: "Sequence[DecodedMessage]", remarks: list[Remark]) -> list[str]:
        """The lines of a tape that may not be made, message by message: by the stencil of its template, unless there
        are findings in it."""
        data = tape.data
        out: list[str] = []
        if remarks and remarks[-1][1] < tape.prefix:
            out += self.walked(tape, Folds(range(tape.place_of(0)), {}), {}, remarks, _NOTHING)
        elif tape.prefix:
            out.append(self.stencils.prefix(data[: tape.prefix]))
        for message, following in zip_longest(messages, messages[1:]):
            found = remarks and remarks[-1][1] < (following.offset if following is not None else len(data))
            if message.template is not None and not found:
                out.append(self.stencils.filled(message))
            else:
                folds = Folds(range(message.first, message.stop), {})
                out += self.walked(tape, folds, {message.first: message.shared}, remarks, _NOTHING)
        return out

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
