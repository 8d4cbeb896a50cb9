"""`zdissect FILE...`: forms of output, exit codes, bad files."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from zdissect_cli.main import cli

from zdissect.grammar.columns import NAMES

SAMPLES = Path(__file__).parents[2] / "samples"
FIRST = str(SAMPLES / "pubsub-tcp.pcap")


def run(*args: str) -> Result:
    done = CliRunner().invoke(cli, args, standalone_mode=False)
    assert "Traceback" not in done.output
    return done


def start(*args: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "zdissect_cli", *args]
    return subprocess.run(command, input=stdin, capture_output=True, env=env or None)


def test_tree() -> None:
    done = run(FIRST)
    assert done.return_value == 0
    assert "Frame 17  21:45:25.923799234  127.0.0.1:57592 > 127.0.0.1:7447  tcp.stream 0\n" in done.stdout
    assert "[Key expression: nano/t0]\n" in done.stdout
    assert "\x1b" not in done.stdout


def test_several_messages_of_a_frame_are_all_shown() -> None:
    lines = [line for line in run("-T", "line", FIRST).stdout.splitlines() if line.startswith("   13  ")]
    assert [line.split()[5] for line in lines] == ["FRAME", "DECLARE", "DECLARE"]


def test_jsonl_has_the_columns_of_the_table() -> None:
    rows = [json.loads(line) for line in run("-T", "jsonl", FIRST).stdout.splitlines()]
    assert {tuple(row) for row in rows} == {NAMES}
    assert len(rows) == len(run("-T", "line", FIRST).stdout.splitlines())
    assert [row["payload"] for row in rows if row["key_expr"] == "nano/t1"] == [b"nano message 1".hex()]


def test_json_is_an_array() -> None:
    assert [one["frame_number"] for one in json.loads(run("-T", "json", FIRST).stdout)][:4] == [4, 6, 8, 9]
    assert json.loads(run("-T", "json", "-c", "3", FIRST).stdout) == []


def test_options() -> None:
    assert run("-c", "4", FIRST).stdout.count("Frame ") == 1
    assert "Frame 4  0.000000000  " in run("-t", "r", FIRST).stdout
    assert "      0000  20 00 c1 09 f1 a3 68 fe  " in run("-x", FIRST).stdout
    assert 'payload: 14 bytes  "nano" ... (the first 4 bytes)' in run("--bytes", "4", FIRST).stdout
    assert run("--color", "always", FIRST).stdout.count("\x1b[0m") > 100


def test_several_files_are_one_capture() -> None:
    other = str(SAMPLES / "udp-small-batch.pcap")
    first, second = (run("-T", "line", name).stdout for name in (FIRST, other))
    assert run("-T", "line", FIRST, other).stdout == first + second
    assert run("-T", "line", FIRST, FIRST).stdout == first, "what comes twice on one stream is a retransmission"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("tcp.port=9000,zenoh", "isn't understood; write tcp.port==9000,zenoh"),
        ("tcp.port==9000,http", "'http' is no protocol here"),
        ("udp.port==70000,zenoh", "70000 is no port"),
    ],
)
def test_rules_that_make_no_sense(rule: str, text: str) -> None:
    done = start("-d", rule, FIRST)
    assert done.returncode == 2
    assert text in done.stderr.decode()


def test_findings_in_the_summary_and_in_the_exit_code() -> None:
    name = str(SAMPLES / "duplicate-sn.pcap")
    done = run("-T", "line", "--fail-on", "warning", name)
    assert done.return_value == 3
    assert "2 warnings (sn-duplicate 1, sn-gap 1)" in done.stderr
    assert run("--fail-on", "error", name).return_value == 0
    assert run("-q", name).stderr == ""


def test_standard_input_and_gzip_by_content() -> None:
    data = Path(FIRST).read_bytes()
    plain = start("-T", "line", FIRST).stdout
    assert start("-T", "line", "-", stdin=data).stdout == plain
    assert start("-T", "line", "-", stdin=gzip.compress(data)).stdout == plain


def test_a_closed_pipe_is_silent() -> None:
    command = f"{sys.executable} -m zdissect_cli {FIRST} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"Frame 4")


def test_what_a_capture_holds_never_drives_the_terminal(tmp_path: Path) -> None:
    evil = Path(FIRST).read_bytes().replace(b"nano message 0", b"\x1b[31m\r\n\x07\x9b 0\xe2\x80\xae")
    (tmp_path / "evil.pcap").write_bytes(evil)
    for kind in ("tree", "line", "json", "jsonl"):
        out = start("-T", kind, str(tmp_path / "evil.pcap")).stdout
        assert not {0x1B, 0x07, 0x0D} & set(out), kind


@pytest.mark.parametrize(
    ("data", "code", "text"),
    [
        (b"", 1, "it is empty"),
        (b"hello, this is no capture\n" * 9, 1, "not a pcap or pcapng capture: it looks like text"),
        (Path(FIRST).read_bytes()[:11], 1, "inside the file header"),
        (Path(FIRST).read_bytes()[:24], 0, "no Zenoh found in 0 frames"),
        (Path(FIRST).read_bytes()[:1000], 1, "cut short: it ends at byte 1000, inside record"),
    ],
)
def test_bad_files(tmp_path: Path, data: bytes, code: int, text: str) -> None:
    (tmp_path / "x.pcap").write_bytes(data)
    done = run(str(tmp_path / "x.pcap"))
    assert done.return_value == code
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert ("Frame 4" in done.stdout) == (len(data) == 1000)


def test_a_file_that_is_missing_and_one_that_is_a_directory(tmp_path: Path) -> None:
    for name, text in ((tmp_path / "none.pcap", "there is no such file"), (tmp_path, "it is a directory")):
        done = run(str(name), FIRST)
        assert done.return_value == 1
        assert text in done.stderr
        assert "Frame 4" in done.stdout, "the next file is read all the same"


def test_usage() -> None:
    done = start("-T", "foo", FIRST)
    assert done.returncode == 2
    assert b" [OPTIONS] FILE...\n" in done.stderr
    assert b"did you mean 'stats'?" in start("stat").stderr
