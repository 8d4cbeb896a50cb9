"""Messages of pasted bytes as lines and as JSON, and which of them a display filter selects."""

from bisect import bisect
from collections.abc import Iterator
from itertools import compress
from typing import TYPE_CHECKING

from zdissect.dissection import Dissection
from zdissect.flow.conversation import Flow
from zdissect.flow.framing import DATAGRAM
from zdissect.grammar.columns import SCHEMA_VERSION
from zdissect.grammar.rules import RULES
from zdissect.output.folding import Folds, folded
from zdissect.output.line import summary
from zdissect.readings import DecodedUnit, Reading
from zdissect.readings.found_messages import decoded_messages
from zdissect.records import Endpoint, Frame

from .options import DisplayOptions

if TYPE_CHECKING:
    from zdissect.filters import Filter

_NOWHERE = Endpoint(b"", 0)


def lines(reading: Reading, display: DisplayOptions) -> Iterator[str]:
    """A line for each message that is wanted."""
    rows = [
        message.row
        for unit in reading.units
        for message in compress(decoded_messages(unit), selected(unit, display.wanted))
    ]
    if display.form == "line":
        style = display.style
        yield from (summary(row, style, display.payload_bytes) for row in rows)
        return
    from zdissect.output import jsonl  # only here: it needs the pipeline

    for index, row in enumerate(rows):
        yield jsonl.line({**row, "message_index": index, "schema_version": SCHEMA_VERSION})


def documents(reading: Reading, display: DisplayOptions) -> Iterator[str]:
    """The units of a reading as JSON, with commas between, as `-T json` has the batches of a capture; those without a
    wanted message are left out."""
    wanted = [unit for unit in reading.units if shows(unit, display.wanted)]
    if wanted:
        yield ",\n".join(_document(reading.name, unit) for unit in wanted)


def _document(kind: str, unit: DecodedUnit) -> str:
    """A unit with its fields and findings."""
    from zdissect.output.documents import described
    from zdissect.output.named_members import unit_text
    from zdissect.output.printable import dumps  # only here: trees and lines don't need it

    tape = unit.tape
    buffer = {"name": unit.buffer.name, "offset": unit.base, "data": tape.data[tape.start : tape.stop].hex()}
    found = [
        described(RULES[code], text, (start - tape.start, stop - tape.start))
        for code, start, stop, text in tape.remarks
    ]
    start = dumps({"kind": kind, "buffer": buffer})[:-1]
    return f'{start},"unit":{unit_text(tape, decoded_messages(unit))},"findings":{dumps(found)}}}'


def has_messages(reading: Reading) -> bool:
    """Whether a reading has a message at all: a structure, or an extension, alone is none."""
    return any(map(decoded_messages, reading.units))


def selected(unit: DecodedUnit, wanted: "Filter | None") -> list[bool]:
    """Whether each message of a unit is wanted. There is no packet and no session around it."""
    found = decoded_messages(unit)
    if wanted is None or not found:
        return [True] * len(found)
    data = unit.buffer.data
    frame, flow = Frame(unit.buffer.name, 1, 0, 0, len(data), data), Flow("", "", (_NOWHERE, _NOWHERE))
    item = Dissection(frame, (1,), flow, 0, unit.buffer, unit.tape, DATAGRAM)
    item.messages = found
    return wanted.select(item)


def folds(unit: DecodedUnit, wanted: "Filter | None") -> Folds | None:
    """What a tree shows of a unit: wanted messages in full, of others the header; None: all."""
    if wanted is None:
        return None
    starts, chosen = [message.first for message in decoded_messages(unit)], selected(unit, wanted)
    return folded(unit.tape.spans, lambda index, _: bool(starts) and chosen[bisect(starts, index) - 1])


def shows(unit: DecodedUnit, wanted: "Filter | None") -> bool:
    """Whether a unit has a message that is wanted."""
    return wanted is None or any(selected(unit, wanted))
