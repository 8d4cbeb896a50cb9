"""Groups of a split capture: their tables in the workers, and what the driver makes of what they tell."""

from collections.abc import Iterable, Iterator
from typing import Any

from zdissect.export.decoding import Settings, TableBatch
from zdissect.export.facts import FileFacts
from zdissect.export.groups import GroupDecoding, Moment, Share
from zdissect.spark import notes
from zdissect.spark.frames import Row
from zdissect.spark.plan import Planned

Told = dict[str, Any]
"""What there is to tell of a capture or group."""


def tables(group: Iterable[Row], settings: Settings, share: Share, told: Told) -> Iterator[TableBatch]:
    """The tables of a group, from its rows in order, but for rows about files: the driver makes them."""
    decoding = GroupDecoding(settings, share)
    try:
        for _, frame, note in group:
            moment = notes.read(note) if note is not None else None
            yield from decoding.moment(moment) if isinstance(moment, Moment) else decoding.feed(frame)
        yield from decoding.close()
        told |= {"sound": decoding.sound(), "accounting": decoding.accounting()}
    except Exception:  # the capture is decoded as a whole instead: that says what is wrong
        told |= {"sound": False, "accounting": {}}
        for _ in group:
            pass  # groupby would go on with them
    told |= {
        "share": share.capture,
        "pairs": decoding.pairs(),
        "counts": {one.file: one.counts() for one in decoding.files.values()},
        "codes": decoding.codes,
        "files": [],
        "rows": {table: batches.total for table, batches in decoding.out.items()},
    }


def unsound(told: Iterable[Told]) -> set[str]:
    """The captures that weren't split where they may be: a connection belongs to another group than was foreseen."""
    out: set[str] = set()
    seen: set[tuple[str, ...]] = set()
    for one in told:
        if "share" in one:
            pairs = {(one["share"], *pair) for pair in one["pairs"]}
            if not one["sound"] or pairs & seen:
                out.add(one["share"])
            seen |= pairs
    return out


def files(capture: Iterable[Planned], told: Iterable[Told]) -> dict[str, FileFacts]:
    """What is known of the files of a split capture, by what is told of all its groups."""
    out: dict[str, FileFacts] = {}
    for survey, place in capture:
        facts = out[survey.name] = Planned(survey, place).facts
        facts.first_ns, facts.last_ns = survey.first_ns, survey.last_ns
    for one in told:
        for file, counts in one["counts"].items():
            out[file].add(counts)
    return out
