"""A capture can be read from any frame on, by another process: what bulk conversion cuts into ranges."""

import json
from pathlib import Path

import pytest

from zdissect.capture import open_capture

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.pcap*"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_reading_goes_on_at_any_mark(path):
    marks, frames = [], []
    with open_capture(str(path)) as capture:
        marks.append(json.dumps(capture.mark()))
        for frame in capture:
            frames.append(frame)
            marks.append(json.dumps(capture.mark()))
    for start in {0, 1, len(frames) // 2, len(frames)}:
        with open_capture(str(path)) as capture:
            capture.resume(json.loads(marks[start]))
            assert list(capture) == frames[start:]
            assert capture.frames == len(frames)
