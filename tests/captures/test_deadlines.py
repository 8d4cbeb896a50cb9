"""What is due, in every form of output: the same finding at the same frame, and no number that is negative."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

from tests.conversation import Conversation
from tests.export.tables import converted, rows, write_pcap
from tests.messages import put, request, response, response_final

NEVER = 2**64 - 1
REPLY = {"message": "REPLY", "body": put(b"done")}


def endless() -> Conversation:
    """A request that waits for ever, as rmw_zenoh asks for the result of an action; the answer comes after 15 s."""
    conversation = Conversation().open().frame(0, request(1, "fib/result", timeout=NEVER)).idle(15)
    return conversation.frame(1, response(1, "fib/result", body=REPLY), response_final(1))


def quiet() -> Conversation:
    """A request that nobody answers, and then only KEEP_ALIVEs."""
    return Conversation().open().frame(0, request(2, "svc/2", timeout=1000)).idle(8)


def hung_up() -> Conversation:
    """A request that nobody answers until the connection ends."""
    return Conversation().open().frame(0, request(2, "svc/2", timeout=1000)).wait(5).hang_up()


def silent() -> Conversation:
    """A router with a lease of a second falls silent; its client closes."""
    conversation = Conversation().init_syn().init_ack().open_syn(lease=10).open_ack(lease=1)
    return conversation.wait(0.33).keep_alive(0).wait(0.33).keep_alive(0).wait(1.35).close(0, 5)


def impatient() -> Conversation:
    """A client takes its own lease for that of the router."""
    conversation = Conversation().init_syn().init_ack().open_syn(lease=10).open_ack(lease=60)
    for _ in range(3):
        conversation.wait(3.33).keep_alive(0)
    return conversation.wait(0.03).close(0, 5)


CASES = [
    (endless, None, 0),
    (quiet, ("no-final", "request 2 of frame 8 has no RESPONSE_FINAL, its timeout is 1000 ms"), 11),
    (hung_up, ("no-final", "request 2 of frame 8 has no RESPONSE_FINAL, its timeout is 1000 ms"), 9),
    (silent, ("lease-exceeded", "the other side was silent for 2010 ms, its lease is 1000 ms"), 10),
    (impatient, ("expired-early", "the other side was silent for 10020 ms, but its lease is 60000 ms"), 11),
]
case = pytest.mark.parametrize(("hold", "finding", "frame"), CASES, ids=lambda one: getattr(one, "__name__", ""))


@pytest.fixture
def capture(tmp_path: Path, hold: Any) -> Path:
    (tmp_path / "in").mkdir()
    write_pcap(tmp_path / "in" / "some.pcap", hold().capture.frames)
    return tmp_path / "in" / "some.pcap"


def run(*args: str | Path) -> tuple[str, str, int]:
    done = CliRunner().invoke(cli, [str(arg) for arg in args], standalone_mode=False)
    return done.stdout, done.stderr, done.return_value


@case
def test_lines_and_trees(capture: Path, finding: tuple[str, str] | None, frame: int) -> None:
    lines = [line for line in run("-T", "line", capture)[0].splitlines() if "warning" in line or "error" in line]
    tree, told, code = run("--fail-on", "warning", capture)
    assert code == (0 if finding is None else 3)
    assert tree
    assert " -1" not in tree
    if finding is None:
        assert not lines
        return
    (line,) = lines
    assert f"[warning: {finding[1]}" in line
    assert int(line.split()[0]) == frame
    part = next(part for part in tree.split("\n\n") if finding[1] in part)
    assert part.startswith(f"Frame {frame} ")
    assert f"1 warning ({finding[0]} 1)" in told


@case
def test_tables(capture: Path, finding: tuple[str, str] | None, frame: int, tmp_path: Path) -> None:
    converted(capture.parent, tmp_path / "out")
    assert rows(tmp_path / "out")
    found = [row for row in rows(tmp_path / "out", "findings") if row["severity"] != "note"]
    assert [(row["code"], row["frame_number"]) for row in found] == ([(finding[0], frame)] if finding else [])
    assert all(row["message"].startswith(finding[1]) for row in found if finding)


@case
def test_stats(capture: Path, finding: tuple[str, str] | None, frame: int) -> None:
    report = json.loads(run("stats", "--json", capture)[0])
    assert report["messages"]
    found = {one["code"]: one["first_frame"] for one in report["findings"] if one["severity"] != "note"}
    assert found == ({finding[0]: frame} if finding else {})


@pytest.mark.parametrize("hold", [endless])
def test_without_end(capture: Path, tmp_path: Path) -> None:
    """The number is what stands on the wire; only tables keep its bits."""
    (row,) = [json.loads(line) for line in run("-T", "jsonl", capture)[0].splitlines() if '"REQUEST"' in line]
    assert row["timeout_ms"] == NEVER
    assert f"timeout_ms {NEVER}" in run("-T", "line", "--long", capture)[0]
    assert f"{NEVER} ms, without end" in run(capture)[0]
    queries = json.loads(run("stats", "--json", capture)[0])["queries"]
    assert (queries["queries"], queries["replies"], queries["unanswered"], queries["stray_answers"]) == (1, 1, 0, 0)
    assert 15 * 10**9 < queries["response_time_ns"]["max"] < 16 * 10**9
    converted(capture.parent, tmp_path / "out")
    (row,) = [row for row in rows(tmp_path / "out") if row["message"] == "REQUEST"]
    assert row["timeout_ms"] == -1
