"""Messages of pasted bytes as lines and as JSON."""

from collections.abc import Iterator

from zdissect.grammar.columns import SCHEMA_VERSION
from zdissect.output.line import summary
from zdissect.readings import Reading
from zdissect.readings.found_messages import decoded_messages

from .options import DisplayOptions


def lines(reading: Reading, display: DisplayOptions) -> Iterator[str]:
    """A line for each message."""
    rows = [message.row for unit in reading.units for message in decoded_messages(unit)]
    if display.form == "line":
        style = display.style
        yield from (summary(row, style, display.payload_bytes) for row in rows)
        return
    from zdissect.output import jsonl  # only here: it needs the pipeline

    for index, row in enumerate(rows):
        yield jsonl.line({**row, "message_index": index, "schema_version": SCHEMA_VERSION})
