"""Messages of pasted bytes as lines and as JSON."""

from collections.abc import Iterator

from zdissect.engine.messages import DecodedMessage, Row, add_findings, messages
from zdissect.engine.tape import Tape
from zdissect.grammar.columns import SCHEMA_VERSION
from zdissect.grammar.field import Field
from zdissect.grammar.types import Message
from zdissect.output.line import summary
from zdissect.output.style import Style
from zdissect.readings import DecodedUnit, Reading

_CARRIER = Field("zenoh", "message", "", "", Message("", 0, "transport", "", "", (), ()))
"""Wraps a declaration or a data sub-message that was pasted alone: only messages have rows."""


def lines(reading: Reading, form: str, style: Style, limit: int) -> Iterator[str]:
    """A line for each message."""
    found = [row for part in reading.units for row in _rows(part)]
    if form == "line":
        yield from (summary(row, style, limit) for row in found)
        return
    from zdissect.output import jsonl  # only here: it needs the pipeline

    for index, row in enumerate(found):
        yield jsonl.line({**row, "message_index": index, "schema_version": SCHEMA_VERSION})


def _rows(part: DecodedUnit) -> Iterator[Row]:
    """The rows of a part."""
    tape = part.tape
    found = messages(tape)
    if not found and any(span[0].kind == "message" for span in tape.spans):
        found = [_alone(tape)]
    add_findings(tape, found)
    for row in (message.row for message in found):
        for finding in row.get("findings", ()):
            finding["offset"] += part.base
        yield {**row, "buffer": part.buffer.name, "offset": row["offset"] + part.base}


def _alone(tape: Tape) -> DecodedMessage:
    """A declaration or a data sub-message alone."""
    carrier = (_CARRIER, 0, tape.start, tape.stop, "")
    first = next(index for index, span in enumerate(tape.spans) if span[0].kind == "message")
    inner = tape.spans[first][0].node
    found = messages(Tape(tape.data, tape.start, tape.stop, [carrier, *tape.spans[first:]], tape.remarks))[0]
    row = found.row
    layer = inner.layer if isinstance(inner, Message) else ""
    row["message"] = row.pop("body")
    row["layer"] = layer
    return found
