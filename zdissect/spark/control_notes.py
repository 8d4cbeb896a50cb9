"""Notes between the frames of a capture, as text: what its decoder needs besides frames."""

import json

from zdissect.export.file_stats import FileStats
from zdissect.parallel.split import Moment, Share
from zdissect.spark.plan import Placement, Planned
from zdissect.spark.ranges import Survey

FILE, SHARE, MOMENT = "file", "share", "moment"

ControlNote = FileStats | Share | Moment


def file(survey: str, placement: Placement) -> str:
    """A note with what is known of a file."""
    return json.dumps((FILE, survey, placement))


def share(group: Share) -> str:
    """A note with what a group must know, for its first row."""
    return json.dumps((SHARE, *group))


def moment(elsewhere: Moment) -> str:
    """A note about a moment elsewhere, before the next frame."""
    return json.dumps((MOMENT, *elsewhere))


def read(note: str) -> ControlNote:
    """The content of a note."""
    kind, *values = json.loads(note)
    if kind == FILE:
        survey, placement = values
        return Planned(Survey.load(survey), Placement(*placement)).file_stats
    if kind == SHARE:
        capture, group, numbers, last = values
        return Share(capture, group, numbers, Moment.of(last))
    return Moment.of(values)
