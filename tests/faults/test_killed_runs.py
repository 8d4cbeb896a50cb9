"""kill -9 while an output is written: it isn't there; the next run says what was left, removes it, and writes it."""

import errno
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults.commands import Call, calls
from tests.faults.runs import Runs
from zdissect.capture.leftovers import Temporary, temporary, write_text
from zdissect.export.payload_files import PayloadFiles

pytest.importorskip("fcntl")
WRITERS = [call for call in calls() if call.writes]


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    with Runs() as server:
        yield server


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("call", WRITERS, ids=str)
def test_the_next_run_says_what_was_left_and_removes_it(runs: Runs, tmp_path: Path, call: Call) -> None:
    streams, out, usual = tmp_path / "streams", tmp_path / "out", tmp_path / "usual"
    for folder in (out, usual):
        folder.mkdir()
    assert runs.run(call.args(usual), streams).code == 0
    killed = runs.run(call.args(out), streams, (), killed=True)
    assert killed.code == -signal.SIGKILL
    (left,) = [path for path in out.rglob("*") if path.suffix == ".tmp"]
    assert {path.name for path in out.iterdir()} <= {left.name, "out"}
    done = runs.run(call.args(out), streams)
    assert done.code == 0
    assert [line for line in done.said if line == f"zdissect: {left}: a run that was killed left it; it is removed"]
    if not str(call).startswith("batch"):  # parts are named by their run
        assert _files(out) == _files(usual)
    assert not [path for path in out.rglob("*") if path.suffix == ".tmp"]


def test_a_run_that_is_under_way_is_left_alone(runs: Runs, tmp_path: Path) -> None:
    call = next(call for call in WRITERS if str(call).startswith("anonymize"))
    out = tmp_path / "out"
    out.mkdir()
    with Temporary(out / "out.pcapng") as held:
        (held.path / "capture").write_text("x")
        assert runs.run(call.args(out), tmp_path / "streams").said[0].startswith("zdissect: 36 frames")
        assert (held.path / "capture").read_text() == "x"
        with pytest.raises(OSError, match="No such file"):
            held.put("nothing")
    assert os.listdir(out) == ["out.pcapng"]


def test_names_that_are_as_long_as_they_may_be(tmp_path: Path) -> None:
    """What is added to them would be too much; names that begin alike stay apart."""
    one, other = ("\u00e9" * 125 + end for end in ("a", "b"))
    assert temporary(tmp_path / one, "0").name != temporary(tmp_path / other, "0").name
    assert write_text(str(tmp_path / one), "x") == []
    assert os.listdir(tmp_path) == [one]


def test_a_text_is_written_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "text")
    write_text(str(tmp_path / "link"), "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "text").read_text() == "x"
    with pytest.raises(OSError, match="nowhere") as problem:
        write_text(str(tmp_path / "nowhere" / "text"), "x")
    assert problem.value.filename == str(tmp_path / "nowhere" / "text")


def test_an_index_that_lists_a_part_is_none(tmp_path: Path) -> None:
    """Payloads that were written whole stay; a list of them would look like one of all."""
    row = {"payload": b"x", "key_expr": "a", "ts_ns": 0, "frame_number": 1, "message": "PUSH", "file": "f"}
    files, names = PayloadFiles(str(tmp_path)), []
    with suppress(OSError), files:
        names.append(files.write(row))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert os.listdir(tmp_path) == names
