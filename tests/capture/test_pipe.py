"""Pipes: what has come can be told from what hasn't, to the byte."""

import gzip
import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capturing import SAMPLES
from zdissect.capture import Capture, open_capture
from zdissect.capture.pipe import Pipe
from zdissect.records import Frame

PATHS = [SAMPLES / "query-router.pcap", *sorted(SAMPLES.glob("*.pcapng"))[:2]]


@pytest.fixture
def ends() -> Iterator[tuple[Pipe, int]]:
    """A pipe, and the descriptor of its writing end."""
    reading, writing = os.pipe()
    pipe = Pipe(io.FileIO(reading))
    yield pipe, writing
    pipe.close()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
@pytest.mark.parametrize("step", [1, 5, 64, 1000])
def test_a_frame_is_ready_when_its_last_byte_has_come(path: Path, step: int, ends: tuple[Pipe, int]) -> None:
    pipe, writing = ends
    data = path.read_bytes()
    with open_capture(str(path)) as capture:
        expected = [(frame.ts_ns, frame.data) for frame in capture]
        marks = []
    with open_capture(str(path)) as capture:
        for _ in capture:
            mark = capture.mark()
            assert mark is not None
            marks.append(mark[0])
    os.write(writing, data[:300])  # more than the headers of the file, so that it can be opened
    written, found = 300, list[tuple[int, bytes]]()
    with Capture("-", "-", pipe) as capture:
        frames: Iterator[Frame] = iter(capture)
        while len(found) < len(expected):
            while capture.ready():
                frame = next(frames)
                found.append((frame.ts_ns, frame.data))
                if len(found) == len(expected):
                    break
            assert len(found) == sum(mark <= written for mark in marks)  # all that are whole
            os.write(writing, data[written : written + step])
            written = min(written + step, len(data))
        os.close(writing)
        assert capture.ready()  # the end is there
        assert next(frames, None) is None
    assert found == expected


def test_what_is_packed_is_never_known_to_be_ready(ends: tuple[Pipe, int]) -> None:
    pipe, writing = ends
    os.write(writing, gzip.compress(PATHS[0].read_bytes()))
    os.close(writing)
    with Capture("-", "-", pipe) as capture:
        assert not capture.ready()
        assert len(list(capture)) > 10


def test_damage_is_ready(ends: tuple[Pipe, int]) -> None:
    pipe, writing = ends
    data = bytearray(PATHS[0].read_bytes()[:200])
    data[32:36] = b"\xff\xff\xff\x7f"  # the length of the first frame
    os.write(writing, data)
    with Capture("-", "-", pipe) as capture:
        assert capture.ready()
    os.close(writing)


def test_a_file_is_always_ready() -> None:
    with open_capture(str(PATHS[0])) as capture:
        assert capture.ready()
