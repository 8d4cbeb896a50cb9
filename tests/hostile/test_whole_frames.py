"""Who takes frames one by one never holds all that one of them brings: `-v`, excerpts, `anonymize`, pipes."""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import repeat

import pytest

from tests.hostile.test_parts import MOST, jumbo
from tests.hostile.work import peak
from zdissect.anonymize.recorder import Recorder
from zdissect.excerpt.choice import choose
from zdissect.fed import one_by_one
from zdissect.pipeline import Options, Pipeline, dissect
from zdissect.records import Frame
from zdissect.verbose import Verbose


def verbose(frames: Iterable[Frame]) -> None:
    source = Verbose(Pipeline(Options()))
    for frame in frames:
        deque(source.ranked(frame), 0)


def excerpt(frames: Iterable[Frame]) -> None:
    choose(lambda: frames, Options(), lambda item: [*repeat(False, len(getattr(item, "messages", ())) or 1)])


def anonymize(frames: Iterable[Frame]) -> None:
    recorder = Recorder(Options())
    for frame in frames:
        deque(recorder.feed(frame), 0)


def piped(frames: Iterable[Frame]) -> None:
    for _, items in one_by_one(Pipeline(Options()), frames):
        deque(items, 0)


def library(frames: Iterable[Frame]) -> None:
    deque(dissect(frames), 0)


@pytest.mark.parametrize("take", [verbose, excerpt, anonymize, piped, library])
def test_frames_are_taken_in_parts(take: Callable[[Iterable[Frame]], None]) -> None:
    take(jumbo(100))
    frames = jumbo(15_000)
    assert peak(lambda: take(frames)) < MOST
