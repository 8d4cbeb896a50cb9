"""The messages of a reading with their rows, also of declarations and data sub-messages that stand alone."""

from zdissect.engine.messages import DecodedMessage, add_findings, messages
from zdissect.engine.tape import Tape
from zdissect.grammar.field import Field
from zdissect.grammar.types import Message
from zdissect.readings.attempt import DecodedUnit

_CARRIER = Field("zenoh", "message", "", "", Message("", 0, "transport", "", "", (), ()))
"""Wraps a declaration or a data sub-message that stands alone: only messages have rows."""


def decoded_messages(unit: DecodedUnit) -> list[DecodedMessage]:
    """The messages of a unit of a reading; offsets count from the first of the given bytes.

    Keys in the global scope are whole without a session; others have their scope and their suffix only.
    """
    tape = unit.tape
    decoded = messages(tape)
    if not decoded and any(span[0].kind == "message" for span in tape.spans):
        decoded = [_alone(tape)]
    add_findings(tape, decoded)
    for row in (message.row for message in decoded):
        for finding in row.get("findings", ()):
            finding["offset"] += unit.base
        if row.get("key_scope") == 0:
            row["key_expr"] = row.get("key_suffix", "")
        row["buffer"], row["offset"] = unit.buffer.name, row["offset"] + unit.base
    return decoded


def _alone(tape: Tape) -> DecodedMessage:
    """A declaration or a data sub-message alone."""
    carrier = (_CARRIER, 0, tape.start, tape.stop, "")
    first = next(index for index, span in enumerate(tape.spans) if span[0].kind == "message")
    inner = tape.spans[first][0].node
    row = messages(Tape(tape.data, tape.start, tape.stop, [carrier, *tape.spans[first:]], tape.remarks))[0].row
    row["message"] = row.pop("body")
    row["layer"] = inner.layer if isinstance(inner, Message) else ""
    return DecodedMessage(tape, first, row)
