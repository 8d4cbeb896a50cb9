"""Notes between the frames of a capture: what its decoder is told besides frames, as text."""

import json

from zdissect.export.file_stats import FileStats
from zdissect.export.groups import Moment, Share
from zdissect.spark.plan import Place, Planned
from zdissect.spark.ranges import Survey

FILE, SHARE, MOMENT = "file", "share", "moment"

Told = FileStats | Share | Moment


def file(survey: str, place: Place) -> str:
    """What is known of a file."""
    return json.dumps((FILE, survey, place))


def share(one: Share) -> str:
    """What a group has to know: the first row of it."""
    return json.dumps((SHARE, *one))


def moment(one: Moment) -> str:
    """What happens elsewhere, before the next frame."""
    return json.dumps((MOMENT, *one))


def read(note: str) -> Told:
    """What a note tells."""
    kind, *values = json.loads(note)
    if kind == FILE:
        survey, place = values
        return Planned(Survey.load(survey), Place(*place)).facts
    if kind == SHARE:
        capture, group, numbers, last = values
        return Share(capture, group, numbers, Moment.of(last))
    return Moment.of(values)
