"""`zdissect FILE...`: forms of output, exit codes, bad files."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from struct import pack

import pytest
from click.testing import CliRunner, Result
from zdissect_cli.main import cli

from tests.conversation import Conversation
from tests.packets import CaptureBuilder, Parties
from zdissect.grammar.columns import NAMES

SAMPLES = Path(__file__).parents[2] / "samples"
SHARED = Path(__file__).parents[3] / "shared" / "captures"
FIRST = str(SAMPLES / "pubsub-tcp.pcap")


def run(*args: str) -> Result:
    done = CliRunner().invoke(cli, args, standalone_mode=False)
    assert "Traceback" not in done.output
    return done


def start(*args: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "zdissect_cli", *args]
    return subprocess.run(command, input=stdin, capture_output=True, env=env or None)


def save(directory: Path, capture: CaptureBuilder) -> str:
    """A capture of these frames, of nanoseconds."""
    path = directory / "made.pcap"
    records = (
        pack("<IIII", *divmod(frame.ts_ns, 10**9), len(frame.data), len(frame.data)) + frame.data
        for frame in capture.frames
    )
    path.write_bytes(pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1) + b"".join(records))
    return str(path)


def test_tree() -> None:
    done = run(FIRST)
    assert done.return_value == 0
    assert "Frame 17  21:45:25.923799234  127.0.0.1:57592 > 127.0.0.1:7447  tcp.stream 0\n" in done.stdout
    assert "[Key expression: nano/t0]\n" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_tree_line_has_offset_bytes_name_and_value_and_bits_stand_below() -> None:
    lines = run("-c", "4", FIRST).stdout.splitlines()
    assert lines[:8] == [
        "Frame 4  21:45:25.010148155  127.0.0.1:57592 > 127.0.0.1:7447  tcp.stream 0",
        "      [peer 34adcbe76c21f3f410dd19b2ebfe68a3]",
        "0000  20 00                       length: 32 bytes",
        "0002  c1                          INIT_SYN  0x01",
        "                                    1... ....  Z  extensions follow",
        "                                    .1.. ....  S  resolution and batch size present",
        "                                    ..0. ....  A  opens",
        "                                    ...0 0001  id INIT",
    ]
    assert "001b  e4 e9 c8 d9 05                  segment: 1530016996  (VLE, 5 bytes)" in lines


def test_several_messages_of_a_frame_are_all_shown() -> None:
    lines = [line for line in run("-T", "line", "--long", FIRST).stdout.splitlines() if line.startswith("   13  ")]
    assert [line.split()[5] for line in lines] == ["FRAME", "DECLARE", "DECLARE"]


def test_jsonl_has_the_columns_of_the_table() -> None:
    rows = [json.loads(line) for line in run("-T", "jsonl", FIRST).stdout.splitlines()]
    assert {tuple(row) for row in rows} == {NAMES}
    assert len(rows) == len(run("-T", "line", "--long", FIRST).stdout.splitlines())
    assert [row["payload"] for row in rows if row["key_expr"] == "nano/t1"] == [b"nano message 1".hex()]


def test_json_is_an_array() -> None:
    assert [one["frame_number"] for one in json.loads(run("-T", "json", FIRST).stdout)][:4] == [4, 6, 8, 9]
    assert json.loads(run("-T", "json", "-c", "3", FIRST).stdout) == []


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.glob("*.pcap*")))
def test_bit_ranges_of_json_lie_in_their_parent_and_in_the_buffer(name: str) -> None:
    found = json.loads(run("-T", "json", str(SAMPLES / name)).stdout)
    assert found
    for one in found:
        if "buffer" not in one:  # skipped bytes, or a notice
            continue
        size = len(one["buffer"]["data"]) * 4
        waiting = [(one["unit"], 0, size)]
        while waiting:
            node, low, high = waiting.pop()
            if isinstance(node, list):
                waiting += [(inside, low, high) for inside in node]
            elif isinstance(node, dict):
                start, bits = node.get("_range", (low, high - low))  # a bit of an integer has no place on the wire
                assert low <= start <= start + bits <= high, (one["frame_number"], node)
                waiting += [(inside, start, start + bits) for name, inside in node.items() if name != "_range"]
        ranges = [one["_range"] for one in one["findings"]]
        assert all(0 <= start <= start + bits <= size for start, bits in ranges)


@pytest.mark.parametrize(
    ("kind", "times"),
    [
        ("u", ("21:45:25.010148155", "21:45:25.011061717")),
        ("ud", ("2026-11-27 21:45:25.010148155", "2026-11-27 21:45:25.011061717")),
        ("a", ("04:30:25.010148155", "04:30:25.011061717")),
        ("ad", ("2026-11-28 04:30:25.010148155", "2026-11-28 04:30:25.011061717")),
        ("e", ("1795815925.010148155", "1795815925.011061717")),
        ("r", ("0.000127229", "0.001040791", "0.001294560")),
        ("d", ("0.000095853", "0.000906922", "0.000244645")),
        ("dd", ("0.000000000", "0.000913562", "0.000253769")),
    ],
)
def test_times(kind: str, times: tuple[str, ...]) -> None:
    lines = start(
        "-T", "line", "--long", "-t", kind, "-c", "8", FIRST, **{**os.environ, "TZ": "ABC-06:45"}
    ).stdout.decode()
    assert tuple(line[7:].split("  ")[0] for line in lines.splitlines())[: len(times)] == times


def test_options() -> None:
    assert run("-c", "4", FIRST).stdout.count("Frame ") == 1
    assert "Frame 4  0.000127229  " in run("-t", "r", FIRST).stdout
    assert "      0000  20 00 c1 09 f1 a3 68 fe  " in run("-x", FIRST).stdout
    assert 'payload: 14 bytes  "nano" ... (the first 4 bytes)' in run("--bytes", "4", FIRST).stdout
    assert run("--color", "always", FIRST).stdout.count("\x1b[0m") > 100


def test_several_files_are_one_capture() -> None:
    other = str(SAMPLES / "udp-small-batch.pcap")
    first, second = (run("-T", "line", "--long", name).stdout for name in (FIRST, other))
    assert first
    assert second
    assert run("-T", "line", "--long", FIRST, other).stdout == first + second
    assert run("-T", "line", "--long", FIRST, FIRST).stdout == first, (
        "what comes twice on one stream is a retransmission"
    )


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("tcp.port=9000,zenoh", "isn't understood; write tcp.port==9000,zenoh"),
        ("tcp.port==0,zenoh", "0 isn't a port (1 to 65535)"),
        ("zenoh", "isn't understood; write tcp.port==9000,zenoh"),
        ("tcp.port==9000,http", "unknown protocol 'http'"),
        ("udp.port==70000,zenoh", "70000 isn't a port"),
    ],
)
def test_rules_that_make_no_sense(rule: str, text: str) -> None:
    done = start("-d", rule, FIRST)
    assert done.returncode == 2
    assert text in done.stderr.decode()


def test_rules_that_make_sense_change_nothing_of_what_is_known() -> None:
    plain = run("-T", "line", FIRST).stdout
    assert plain
    for rules in (("tcp.port==7447,zenoh",), ("udp.port==9, zenoh", "-d", "tcp.port==65535,zenoh")):
        assert run("-T", "line", "-d", *rules, FIRST).stdout == plain


def test_a_rule_makes_a_conversation_zenoh(tmp_path: Path) -> None:
    conversation = Conversation(parties=Parties(ports=(40000, 9000)), connect=False).batch(0, {"message": "KEEP_ALIVE"})
    name = save(tmp_path, conversation.capture)
    assert "no Zenoh found in 1 frame\n" in run(name).stderr
    assert run("-T", "line", "-d", "tcp.port==9000,zenoh", name).stdout.endswith("  KEEP_ALIVE\n")
    assert run("-d", "udp.port==9000,zenoh", name).stdout == ""


def test_conversations_that_are_not_shown() -> None:
    name = SHARED / "11-tls-opaque.pcap"
    if not name.exists():
        pytest.skip("needs the shared captures")
    done = run(str(name))
    assert (done.return_value, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        "zdissect: no Zenoh found in 44 frames",
        "zdissect: conversations that aren't shown: 1 TLS (opaque: no keys)",
    ]


@pytest.mark.parametrize("least", ["note", "warning", "error"])
def test_an_error_is_above_all(least: str) -> None:
    done = run("--fail-on", least, str(SAMPLES / "trailing-byte.pcap"))
    assert done.return_value == 3
    assert done.stderr == (
        "zdissect: 1 error (truncated 1); 1 warning (vle-overlong 1); 2 notes (initial-sn-foreign 2). "
        "`zdissect explain CODE` tells more\n"
    )


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
    assert plain
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
        assert out
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
