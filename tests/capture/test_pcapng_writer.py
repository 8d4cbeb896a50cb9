"""pcapng that is written: what is read of it again."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zdissect.capture import CaptureError, open_capture
from zdissect.capture.output_file import OutputFile
from zdissect.capture.pcapng_writer import LONGEST_COMMENT, PcapngWriter
from zdissect.records import Frame

FRAMES = st.builds(
    Frame, st.just(""), st.just(1), st.integers(0, (1 << 64) - 1), st.sampled_from([1, 101, 113, 276]),
    st.just(0), st.binary(max_size=40),
).map(lambda frame: frame._replace(wire_len=len(frame.data) + 3))  # fmt: skip


def read(path):
    with open_capture(str(path)) as capture:
        return [frame._replace(source="", number=1) for frame in capture]


@given(st.lists(FRAMES))
def test_frames_are_read_as_they_were(tmp_path_factory, frames):
    path = tmp_path_factory.mktemp("written") / "out.pcapng"
    with OutputFile(str(path)) as out:
        for frame in frames:
            out.write(frame, ["a comment", "ü" * LONGEST_COMMENT])
    assert read(path) == frames


def test_times_that_the_format_cannot_hold():
    writer = PcapngWriter()
    for ts_ns in (-1, 1 << 64):
        assert len(writer.frame(Frame("", 1, ts_ns, 1, 0, b""))) % 4 == 0


def test_comments_are_options():
    block = PcapngWriter().frame(Frame("", 1, 0, 1, 3, b"abc"), ["sn-gap: 3 missing"])
    assert b"abc\0\x01\0\x11\0sn-gap: 3 missing\0\0\0\0\0\0\0" in block


def test_a_file_is_there_as_a_whole_or_not(tmp_path):
    path = tmp_path / "out.pcapng"
    with suppress(AttributeError), OutputFile(str(path)) as out:
        out.write(Frame("", 1, 0, 1, 1, b"a"))
        out.write(None)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_not_there_is_named(tmp_path):
    path = str(tmp_path / "missing" / "out.pcapng")
    with pytest.raises(FileNotFoundError) as problem, OutputFile(path):
        pass
    assert problem.value.filename == path


def test_captures_that_are_read_are_not_overwritten(tmp_path):
    path = tmp_path / "in.pcap"
    path.write_bytes(b"x")
    for force in (False, True):
        with pytest.raises(CaptureError, match="it is the capture being read"):
            OutputFile(str(path), [str(path)], force)
    with pytest.raises(CaptureError, match="it already exists"):
        OutputFile(str(path))
    with OutputFile(str(path), force=True):
        pass
    assert read(path) == []
