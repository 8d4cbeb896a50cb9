"""Messages of pasted bytes as lines and as JSON."""

from collections.abc import Iterator

from zdissect.engine.messages import DecodedMessage, Row, add_findings, messages
from zdissect.engine.tape import Tape
from zdissect.grammar.columns import SCHEMA_VERSION
from zdissect.grammar.field import Field
from zdissect.grammar.types import Message
from zdissect.output.line import summary
from zdissect.readings import DecodedUnit, Reading

from .options import DisplayOptions

_CARRIER = Field("zenoh", "message", "", "", Message("", 0, "transport", "", "", (), ()))
"""Wraps a declaration or a data sub-message that was pasted alone: only messages have rows."""


def lines(reading: Reading, display: DisplayOptions) -> Iterator[str]:
    """A line for each message."""
    rows = [row for unit in reading.units for row in _rows(unit)]
    if display.form == "line":
        style = display.style
        yield from (summary(row, style, display.payload_bytes) for row in rows)
        return
    from zdissect.output import jsonl  # only here: it needs the pipeline

    for index, row in enumerate(rows):
        yield jsonl.line({**row, "message_index": index, "schema_version": SCHEMA_VERSION})


def _rows(unit: DecodedUnit) -> Iterator[Row]:
    """The rows of a decoded unit."""
    tape = unit.tape
    decoded = messages(tape)
    if not decoded and any(span[0].kind == "message" for span in tape.spans):
        decoded = [_alone(tape)]
    add_findings(tape, decoded)
    for row in (message.row for message in decoded):
        for finding in row.get("findings", ()):
            finding["offset"] += unit.base
        yield {**row, "buffer": unit.buffer.name, "offset": row["offset"] + unit.base}


def _alone(tape: Tape) -> DecodedMessage:
    """A declaration or a data sub-message alone."""
    carrier = (_CARRIER, 0, tape.start, tape.stop, "")
    first = next(index for index, span in enumerate(tape.spans) if span[0].kind == "message")
    inner = tape.spans[first][0].node
    message = messages(Tape(tape.data, tape.start, tape.stop, [carrier, *tape.spans[first:]], tape.remarks))[0]
    row = message.row
    layer = inner.layer if isinstance(inner, Message) else ""
    row["message"] = row.pop("body")
    row["layer"] = layer
    return message
