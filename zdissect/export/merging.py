"""The frames of one capture from its files, in order of time. Problems with a file are noted, never raised."""

import heapq
from collections.abc import Iterator
from typing import Any

from zdissect.capture import CaptureError, Defect
from zdissect.export.file_stats import CUT, DAMAGED, UNREADABLE, FileStats
from zdissect.export.filesystems import open_input
from zdissect.export.inputs import InputFile, Work
from zdissect.flow.clock import EARLY_NS, Clock
from zdissect.records import Frame


class Order:
    """The merge key of a file's frames: their time without leaps, but never earlier than that of a frame before."""

    def __init__(self, latest_ns: int = EARLY_NS, *clock: Any) -> None:
        """At the start of the file, or where another `Order` had this `state`."""
        self.latest_ns = latest_ns
        self.now_ns: int | None = None
        """The time of the last frame, without leaps; None before the first."""
        self.clock = Clock(*clock)

    def state(self) -> tuple[Any, ...]:
        """What another `Order` needs to go on from here, as JSON types."""
        return self.latest_ns, *self.clock.state()

    def feed(self, frame: Frame) -> int:
        """Takes a frame; returns its merge key."""
        self.now_ns = self.clock.feed(frame).now_ns
        self.latest_ns = max(self.latest_ns, self.now_ns)
        return self.latest_ns


class Place:
    """How far the last file of a capture was read: where another reader goes on if the file has grown."""

    def __init__(self, mark: list[Any] | None = None) -> None:
        self.mark = mark
        """See `Capture.mark`; None: the file must be read from its beginning."""


def frames(work: Work, files: dict[str, FileStats], place: Place | None = None) -> Iterator[Frame]:
    """The frames of a capture. What is known of its files is entered into `files`, in their order, after those that
    were read before.

    Args:
        place: Where to go on in the first file, if that was read before. Tells then how far the last one was read.
    """
    first = next(iter(files), work.inputs[0].name)
    for file in work.inputs:
        if file.name not in files:
            files[file.name] = FileStats(file.name, first, len(files), size=file.size)
    for group in work.merges:
        if len(group) == 1:
            yield from _file(group[0], files[group[0].name], place)
        else:
            if place is not None:
                place.mark = None
            merged = heapq.merge(*(_ordered(file, files[file.name]) for file in group))
            yield from (frame for _, _, frame in merged)


def _ordered(file: InputFile, file_stats: FileStats) -> Iterator[tuple[int, tuple[str, int], Frame]]:
    """Frames with their merge keys."""
    order = Order()
    for frame in _file(file, file_stats):
        yield order.feed(frame), (frame.source, frame.number), frame


def _file(file: InputFile, file_stats: FileStats, place: Place | None = None) -> Iterator[Frame]:
    """The frames of a file; those that were added to it, if it was read before."""
    mark, known = (place or Place()).mark, file_stats.format is not None
    if place is not None:
        place.mark = None
    if file.error:
        file_stats.problem(UNREADABLE, file.error)
        return
    number = before = 0
    try:
        with open_input(file.path, file.name) as capture:
            file_stats.format = capture.format
            file_stats.size = file.size if capture.size is None else capture.size  # unknown behind a URI
            if known and mark is not None:
                file_stats.grown()
                capture.resume(mark)
                number = before = capture.frames
            try:
                for number, frame in enumerate(capture, before + 1):  # noqa: B007  # counted for what comes after
                    yield frame
            finally:
                file_stats.link_types = tuple(sorted(capture.link_types.union(file_stats.link_types)))
                if place is not None:
                    place.mark = capture.mark()
    except CaptureError as problem:
        file_stats.problem(status(problem, number), str(shown(problem, file)))


def shown(problem: CaptureError, file: InputFile) -> CaptureError:
    """The problem, with the path that the user gave."""
    if not file.shown or problem.path != file.path:
        return problem
    return CaptureError(file.shown, problem.message, problem.kind)


def status(problem: CaptureError, frames: int) -> str:
    """The status of a file with a problem after `frames` good frames."""
    if not frames:
        return UNREADABLE
    return CUT if problem.kind is Defect.CUT else DAMAGED
