"""A capture cut into files anywhere gives the same rows (invariant 7)."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.export.tables import OLD_TIMES, SAMPLES, converted, frames, rows, write_pcap

FORMS = ("x.part{}.pcap", "x.pcap{}", "x_{:05}_20260102030405.pcap")
REFERENCES = ("key_frame", "request_frame", "interest_frame", "fragments")
"""Numbers of frames, perhaps in an earlier file."""


def _write(directory: Path, some, cuts, form) -> dict[str, int]:
    """Cuts frames into files; how many frames come before each file."""
    before = {}
    for number, (start, stop) in enumerate(zip([0, *cuts], [*cuts, len(some)], strict=True)):
        write_pcap(directory / form.format(number), some[start:stop])
        before[form.format(number)] = start
    return before


def _rows(out: Path, table: str, before: dict[str, int]):
    """Rows with frames numbered through, so that they don't tell how the capture was cut."""
    found = rows(out, table)
    for row in found:
        if row.get("frame_number") is not None:
            row["frame_number"] += before[row["file"]]
        del row["file"]
        for name in REFERENCES:
            row.pop(name, None)
    return found


@given(st.data())
@settings(max_examples=15)
@pytest.mark.parametrize("join", ["auto", "one"])
def test_cut_anywhere(join, data):
    name = data.draw(st.sampled_from(OLD_TIMES))
    some = frames(SAMPLES / name)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(some)), max_size=5)))
    form = data.draw(st.sampled_from(FORMS))
    with TemporaryDirectory() as scratch:
        whole, parts = Path(scratch, "whole"), Path(scratch, "parts")
        whole.mkdir()
        parts.mkdir()
        base = _write(whole, some, [], "x.pcap")
        before = _write(parts, some, cuts, form)
        converted(whole, Path(scratch, "a"))
        converted(parts, Path(scratch, "b"), join=join)
        assert rows(Path(scratch, "a"))
        for table in ("messages", "findings", "sessions"):
            assert _rows(Path(scratch, "b"), table, before) == _rows(Path(scratch, "a"), table, base)
        captures = rows(Path(scratch, "b"), "captures")
        with_frames = [row for row in captures if row["frames"]]
        assert len({row["capture"] for row in with_frames}) == 1
        assert sum(row["decoded_bytes"] for row in captures) == rows(Path(scratch, "a"), "captures")[0]["decoded_bytes"]


def test_separate_files_lose_their_state(tmp_path):
    some = frames(SAMPLES / "query-router.pcap")
    directory = tmp_path / "in"
    directory.mkdir()
    _write(directory, some, [100], "x.part{}.pcap")
    converted(directory, tmp_path / "out", join="separate")
    assert {row["capture"] for row in rows(tmp_path / "out", "captures")} == {"x.part0.pcap", "x.part1.pcap"}
    handshakes = {row["handshake"] for row in rows(tmp_path / "out", "sessions") if row["file"] == "x.part1.pcap"}
    assert "none" in handshakes


def test_two_interfaces_are_one_capture_if_asked(tmp_path):
    """Each file has one direction; frame by frame they are put together again."""
    some = frames(SAMPLES / "pubsub-tcp.pcap")
    directory, whole = tmp_path / "in", tmp_path / "whole"
    directory.mkdir()
    whole.mkdir()
    write_pcap(whole / "x.pcap", some)
    write_pcap(directory / "x.pcap1", some[::2])
    write_pcap(directory / "x.pcap2", some[1::2])
    converted(whole, tmp_path / "a")
    converted(directory, tmp_path / "b", join="one")
    ignored = {"file", "frame_number", *REFERENCES}
    a, b = ([{k: v for k, v in row.items() if k not in ignored} for row in rows(tmp_path / out)] for out in "ab")
    assert a == b
    converted(directory, tmp_path / "c")
    assert len({row["capture"] for row in rows(tmp_path / "c", "captures")}) == 2
