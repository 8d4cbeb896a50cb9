"""Ctrl-C while a report is made: all frames that were read count, and no others."""

import signal
from collections.abc import Iterator

import pytest
from zdissect_cli.interrupts import UntilInterrupted

from tests.alike import conversation
from zdissect.records import Frame

FRAMES = conversation().capture.frames


def test_what_was_read_is_given() -> None:
    with UntilInterrupted(FRAMES) as frames:
        given = []
        for frame in frames:
            given.append(frame)
            if len(given) == 3:
                signal.raise_signal(signal.SIGINT)
    assert given == FRAMES[:3]
    assert frames.interrupted
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_wait_for_frames_ends() -> None:
    def waiting() -> Iterator[Frame]:
        yield from FRAMES[:2]
        signal.raise_signal(signal.SIGINT)
        raise AssertionError

    with UntilInterrupted(waiting()) as frames:
        assert [*frames] == FRAMES[:2]
    assert frames.interrupted


def test_the_second_time_ends_everything() -> None:
    with UntilInterrupted(FRAMES) as frames:
        next(iter(frames))
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert frames.interrupted


def test_not_interrupted() -> None:
    with UntilInterrupted(FRAMES) as frames:
        assert [*frames] == FRAMES
    assert not frames.interrupted
