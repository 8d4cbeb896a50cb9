"""Tells those who count time from the first frame of a capture, such as `frame.time_relative`, when that was."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from zdissect.records import Frame

Frames = TypeVar("Frames", Frame, Frame | None)


class FromFirstFrame(Protocol):
    """A filter, or a reader of values."""

    began_ns: int | None


def told_when_it_began(frames: Iterable[Frames], readers: Iterable[FromFirstFrame]) -> Iterator[Frames]:
    """The same frames; when the first one comes, the readers are told its time. None: time passes without a frame."""
    began = False
    for frame in frames:
        if frame is not None and not began:
            began = True
            for reader in readers:
                reader.began_ns = frame.ts_ns
        yield frame
