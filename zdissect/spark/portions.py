"""What a partition of the source `zenoh` reads: a capture, or a group of the sessions of a large one."""

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import decode_sessions
from zdissect.export.file_stats import FileStats
from zdissect.export.group_decoding import GroupDecoding
from zdissect.export.inputs import Work
from zdissect.export.merging import frames
from zdissect.export.tables import MESSAGES
from zdissect.export.work import look
from zdissect.parallel.split import SPLIT_BYTES, Split, worth


class DependentGroups(Exception):
    """The groups of a capture turned out to depend on each other."""


class Portion(NamedTuple):
    """A capture, or a group of one."""

    work: Work
    split: str = ""
    """All groups of the capture, as JSON; empty if it is read as a whole."""
    group: int = 0


def portions(works: list[Work], settings: Settings, most: int, split_bytes: int = SPLIT_BYTES) -> list[Portion]:
    """Captures as portions: those larger than their share, if there are `most`, in groups of sessions.

    Such captures are looked at here, which takes a tenth of the time of decoding them.
    """
    large = worth([work.size for work in works], most, split_bytes) if most > 1 else []
    out = []
    for index, work in enumerate(works):
        text = look(work, settings, most).split if index in large else ""
        groups = range(len(Split.load(text).sizes)) if text else range(1)
        out += [Portion(work, text, group) for group in groups]
    return out


def messages(portion: Portion, settings: Settings) -> Iterator[pa.RecordBatch]:
    """The rows of `messages`. Raises DependentGroups at the end of a group that isn't independent of the others."""
    files: dict[str, FileStats] = {}
    given = frames(portion.work, files)
    if not portion.split:
        for table, batch in decode_sessions(given, settings, files):
            if table == MESSAGES:
                yield batch
        return
    split, name = Split.load(portion.split), portion.work.inputs[0].name
    decoding = GroupDecoding(settings, split.share(name, portion.group))
    for table, batch in decoding.guarded(decoding.tables(split.of(portion.group, given))):
        if table == MESSAGES:
            yield batch
    group = decoding.summary().group
    if not group.sound or any(pair not in split.pairs[portion.group] for pair in group.pairs):
        raise DependentGroups(
            f"{name}: its sessions can't be decoded apart from each other; read it as a whole, with the option "
            "partitions=1"
        )
