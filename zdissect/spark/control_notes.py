"""Notes between the frames of a group, as text: what its decoder needs besides frames."""

import json
from collections.abc import Iterable, Iterator

from zdissect.parallel.split import Moment
from zdissect.records import Frame

Row = tuple[Frame, str | None]
"""(frame, note): of a row with a note, only the file and the number of the frame mean something."""


def group(number: int) -> str:
    """The note that begins a group, even one without frames."""
    return json.dumps(number)


def moment(elsewhere: Moment) -> str:
    """A note about a moment elsewhere, before the next frame."""
    return json.dumps(elsewhere)


def group_of(first: Row) -> int:
    """The number of a group, from its first row."""
    number: int = json.loads(first[1] or "")
    return number


def items(rows: Iterable[Row]) -> Iterator[Frame | Moment]:
    """The frames and moments of a group, from its other rows."""
    for frame, note in rows:
        yield frame if note is None else Moment.of(json.loads(note))
