"""Captures cut into ranges: a survey of a file, and the frames of a range, both as JSON types.

A survey reads a file once, without decoding. It finds where frames are, so that many workers can read one file, and
everything that the row in `captures` says about the file itself, including what is wrong with it.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from zdissect.capture import CaptureError
from zdissect.capture.capture_file import Capture
from zdissect.export.file_stats import OK, UNREADABLE
from zdissect.export.filesystems import open_input
from zdissect.export.inputs import InputFile
from zdissect.export.merging import Order, shown, status
from zdissect.records import Frame

RANGE_BYTES = 64 << 20
"""Bytes of frames in a range: smaller ranges are more work for Spark, larger ones keep workers waiting at the end."""


class Range(NamedTuple):
    """Some frames of a file that follow each other."""

    mark: list[Any] | None
    """Where they start (`Capture.mark`); None: at the start of the file."""
    frames: int
    order: tuple[Any, ...] = ()
    """`Order.state` before them; empty at the start of the file."""


class Survey(NamedTuple):
    """What is known of a file."""

    name: str
    path: str
    size: int
    format: str | None = None
    link_types: tuple[int, ...] = ()
    status: str = OK
    error: str | None = None
    first_ns: int | None = None
    last_ns: int | None = None
    end_ns: int | None = None
    """The time of the last frame, without leaps of its clock."""
    ranges: tuple[Range, ...] = ()

    def json(self) -> str:
        """As text."""
        return json.dumps(self)

    @classmethod
    def load(cls, text: str) -> "Survey":
        """From text."""
        survey = cls(*json.loads(text))
        return survey._replace(ranges=tuple(Range(*values) for values in survey.ranges))


def survey(source: InputFile, range_bytes: int = RANGE_BYTES) -> Survey:
    """Surveys a file. Never raises: what is wrong with it is in the survey, with the path as users wrote it."""
    path = source.path
    out = Survey(source.name, path, source.size)
    if source.error:
        return out._replace(status=UNREADABLE, error=source.error)
    try:
        with open_input(path, source.name) as capture:
            size = out.size if capture.size is None else capture.size
            look = _Look(capture, range_bytes)
            problem = look.run()
            out = out._replace(
                format=capture.format, size=size, link_types=tuple(sorted(capture.link_types)),
                first_ns=look.first_ns, last_ns=look.last_ns, end_ns=look.end_ns, ranges=tuple(look.ranges),
            )  # fmt: skip
            if problem is not None:
                out = out._replace(status=status(problem, capture.frames), error=str(shown(problem, source)))
            return out
    except CaptureError as problem:
        return out._replace(status=UNREADABLE, error=str(shown(problem, source)))


class _Look:
    """A file being surveyed."""

    def __init__(self, capture: Capture, range_bytes: int) -> None:
        self.capture = capture
        self.range_bytes = range_bytes
        self.first_ns: int | None = None
        self.last_ns: int | None = None
        self.end_ns: int | None = None
        self.ranges: list[Range] = []

    def run(self) -> CaptureError | None:
        """Reads all frames; returns the error that ended that, if any."""
        capture, limit = self.capture, self.range_bytes
        order = Order()
        start, full = 0, limit
        before: tuple[Any, ...] = None, ()
        try:
            for frame in capture:
                self.last_ns = frame.ts_ns
                if self.first_ns is None:
                    self.first_ns = frame.ts_ns
                order.feed(frame)
                if capture.bytes >= full and (mark := capture.mark()) is not None:
                    self.ranges.append(self.range(start, *before))
                    start, before, full = capture.frames, (mark, order.state()), capture.bytes + limit
        except CaptureError as problem:
            return problem
        finally:
            if capture.frames > start:
                self.ranges.append(self.range(start, *before))
            self.end_ns = order.now_ns
        return None

    def range(self, start: int, mark: list[Any] | None, order: tuple[Any, ...]) -> Range:
        """The range of the frames since frame `start`."""
        return Range(mark, self.capture.frames - start, order)


def frames(name: str, path: str, part: Range) -> Iterator[Frame]:
    """The frames of a range. Raises CaptureError, also where the file has changed since the survey."""
    left = part.frames
    with open_input(path, name) as capture:
        if part.mark is not None:
            capture.resume(part.mark)
        for frame in capture:
            yield frame
            left -= 1
            if not left:
                return
    raise CaptureError(path, f"it changed while it was being read: {left} frames are gone")
