"""Groups of a split capture: their tables in the workers, and the rows that the driver makes from their summaries."""

from collections.abc import Iterable, Iterator, Sequence

from zdissect.export.block_tables import TableBatch
from zdissect.export.conversion_settings import Settings
from zdissect.export.file_stats import FileStats
from zdissect.export.group_decoding import GroupDecoding
from zdissect.export.summary import Summary, count
from zdissect.parallel.split import Moment, Share
from zdissect.records import Frame
from zdissect.spark import control_notes
from zdissect.spark.frames import Row
from zdissect.spark.plan import Planned


def tables(group: Iterable[Row], settings: Settings, share: Share) -> Iterator[TableBatch | Summary]:
    """The tables of a group, from its rows in order, and its summary; rows about files are made by the driver."""
    decoding = GroupDecoding(settings, share)

    def fed() -> Iterator[Frame | Moment]:
        for _, frame, note in group:
            moment = control_notes.read(note) if note is not None else None
            yield moment if isinstance(moment, Moment) else frame

    yield from decoding.guarded(decoding.tables(fed()))
    yield decoding.summary()


def files(capture: Iterable[Planned], groups: Sequence[Summary]) -> dict[str, FileStats]:
    """The files of a split capture, from the summaries of all its groups."""
    out: dict[str, FileStats] = {}
    for survey, placement in capture:
        file_stats = out[survey.name] = Planned(survey, placement).file_stats
        file_stats.first_ns, file_stats.last_ns = survey.first_ns, survey.last_ns
    count(out, groups)
    return out
