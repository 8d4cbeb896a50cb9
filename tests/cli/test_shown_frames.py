"""Which frames are shown, `-t`, `-x`, options that tshark's users type by habit, wrong combinations."""

import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from click.testing import CliRunner, Result
from zdissect_cli.main import cli

SAMPLES = Path(__file__).parents[2] / "samples"
FIRST = str(SAMPLES / "pubsub-tcp.pcap")
FRAGMENTS = str(SAMPLES / "fragmented-put.pcap")


def run(*args: str) -> Result:
    return CliRunner().invoke(cli, args)


def shown(*args: str) -> list[int]:
    """Numbers of the frames whose lines are printed."""
    done = run("-T", "line", *args)
    assert done.exit_code == 0, done.output
    return sorted({int(line[:5]) for line in done.stdout.splitlines()})


def test_a_frame_alone_is_shown_as_in_the_whole() -> None:
    alone = run("--frame", "17", FIRST)
    assert alone.stdout.strip() in run(FIRST).stdout
    assert "[Key expression: nano/t0]" in alone.stdout


@pytest.mark.parametrize(
    ("ranges", "frames"),
    [("17", [17]), ("17-18,24", [17, 18, 24]), ("24,17", [17, 24]), ("1-4", [4]), ("31-", [31, 33, 35])],
)
def test_ranges_of_frames(ranges: str, frames: list[int]) -> None:
    assert shown("--frame", ranges, FIRST) == [number for number in shown(FIRST) if number in frames]


def test_findings_count_where_they_are_shown() -> None:
    bad = str(SAMPLES / "trailing-byte.pcap")

    def outcome(*args: str) -> object:
        return CliRunner().invoke(cli, ("--fail-on", "error", *args, bad), standalone_mode=False).return_value

    assert (outcome(), outcome("--frame", "1")) == (3, 0)


def test_a_frame_without_zenoh_is_named() -> None:
    assert "no Zenoh found in frame 1, of 36" in run("--frame", "1", FIRST).stderr


@pytest.mark.parametrize("ranges", ["", "x", "0", "5-3", "1,,2", "-", "1-2-3"])
def test_what_is_no_range(ranges: str) -> None:
    done = run("--frame", ranges, FIRST)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "frame" in done.stderr


@pytest.mark.parametrize(("kind", "time"), [("r", "0.913778308"), ("d", "0.500602452"), ("dd", "0.000000000")])
def test_times_count_from_frames_that_are_not_shown(kind: str, time: str) -> None:
    line = run("-T", "line", "-t", kind, "--frame", "17", FIRST).stdout.splitlines()[-1]
    assert line[6:].strip().startswith(time)


def test_habits() -> None:
    plain = run(FIRST).stdout
    for args in (("-r", FIRST), ("-n", "-r", FIRST), ("-V", FIRST), ("-l", FIRST), ("-n", "-V", "-l", "-r", FIRST)):
        assert run(*args).stdout == plain
    assert run("-r", FIRST, "-r", FIRST).stdout == run(FIRST, FIRST).stdout


def test_the_dump_of_a_line_stands_below_it() -> None:
    lines = run("-T", "line", "-x", "--frame", "17", FIRST).stdout.splitlines()
    assert [line[:10] for line in lines] == ["   17 ─ tc", "   17 21:4", "      0000", "      0010"]


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        ((), "give a FILE, or -i INTERFACE"),
        (("-r", FIRST, "zenoh.push"), "no such file: 'zenoh.push'"),
        (("-V", "-T", "line", FIRST), "leave one of them out"),
        (("-x", "-T", "jsonl", FIRST), "-x needs -T tree or -T line"),
        (("-v", "-T", "json", FIRST), "-v needs -T tree or -T line"),
        (("-t", "x", FIRST), "is not one of"),
    ],
)
def test_what_does_not_go_together(args: tuple[str, ...], hint: str) -> None:
    done = run("-n", *args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert hint in done.stderr


def test_each_frame_is_written_at_once() -> None:
    """With -l even where nothing is live: the first line is there while the file is still being read."""
    command = [sys.executable, "-m", "zdissect_cli", "-l", "-q", "-T", "line", "-c", "4", FIRST]
    with Popen(command, stdout=PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"    4 ")
