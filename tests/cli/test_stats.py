"""`zdissect stats`: tables, JSON, and what is wrong with files."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli
from zdissect_cli.stats_over_time import spark

SAMPLES = Path(__file__).parents[2] / "samples"
EMPTY = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")

TIMES = {"count", "min", "median", "p95", "max"}
QUERY = {"queries", "requests", "replies", "errors", "without_reply", "unanswered", "response_time_ns", "final_time_ns"}


def _run(*args: str | Path):
    return CliRunner().invoke(cli, ["stats", *map(str, args)], standalone_mode=False)


def test_tables():
    done = _run(SAMPLES / "query-router.pcap")
    assert done.return_value == 0
    for title in ("Sessions", "Messages", "Keys", "Queries", "Findings", "Payload bytes"):
        assert f"\n{title}\n" in done.stdout
    assert "30f9b475074ff3702a9dd8634e86b6fd" in done.stdout
    assert "CLOSE GENERIC from client 30f9b475…" in done.stdout
    assert "decoded    9858 B   100.0 %" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.glob("*.pcap*")))
def test_every_sample_has_tables(name):
    done = _run(SAMPLES / name)
    assert done.return_value == 0
    assert "INIT" in done.stdout or "JOIN" in done.stdout or "FRAME" in done.stdout


def test_colour_only_if_asked():
    assert "\x1b[1m" in _run("--color", "always", SAMPLES / "pubsub-tcp.pcap").stdout


def test_the_schema_of_json():
    found = json.loads(_run("--json", SAMPLES / "query-router.pcap").stdout)
    assert set(found) == {
        "schema_version", "capture", "accounting", "unopened", "conversations", "sessions", "messages", "keys",
        "queries", "refused", "findings",
    }  # fmt: skip
    assert found["schema_version"] == 1
    assert set(found["capture"]) == {"files", "frames", "first_ts_ns", "last_ts_ns", "duration_s"}
    assert set(found["accounting"]) == {
        "captured", "decoded", "undecoded", "skipped", "framing", "opaque", "not_zenoh", "repeated", "not_captured",
        "decompressed", "reassembled",
    }  # fmt: skip
    session = found["sessions"][0]
    assert set(session) == {
        "session", "handshake", "ends", "negotiated", "first_ts_ns", "last_ts_ns", "duration_s", "skipped_bytes",
        "ended", "links",
    }  # fmt: skip
    assert set(session["ends"][0]) == {
        "zid", "role", "version", "address", "lease_ms", "initial_sn", "messages", "bytes",
    }  # fmt: skip
    assert set(session["links"][0]) == {"flow_id", "link", "addresses", "first_ts_ns", "last_ts_ns", "ended"}
    assert set(found["messages"][0]) == {"layer", "message", "body", "reply_body", "count", "bytes"}
    assert set(found["keys"]["listed"][0]) == {
        "key_expr", "resolved", "messages", "puts", "deletes", "replies", "bytes", "rate_hz", "sources",
    }  # fmt: skip
    assert set(found["queries"]) == QUERY | {"silent", "stray_answers", "keys", "others"}
    assert set(found["queries"]["keys"][0]) == QUERY | {"key_expr"}
    assert set(found["queries"]["response_time_ns"]) == TIMES
    assert set(found["findings"][0]) == {
        "code", "severity", "group", "count", "first_file", "first_frame", "text",
    }  # fmt: skip


def test_top():
    few, all_ = (_run("--top", top, SAMPLES / "query-router.pcap").stdout for top in ("1", "0"))
    assert "and 5 keys more: --top 0 shows all" in few
    assert "more: --top" not in all_


def test_an_empty_capture(tmp_path):
    (tmp_path / "empty.pcap").write_bytes(EMPTY)
    done = _run(tmp_path / "empty.pcap")
    assert done.return_value == 0
    assert "0 frames" in done.stdout
    assert "no Zenoh found in 0 frames" in done.stderr
    assert json.loads(_run("--json", tmp_path / "empty.pcap").stdout)["capture"]["first_ts_ns"] is None


def test_a_file_that_ends_in_the_middle(tmp_path):
    whole = (SAMPLES / "pubsub-tcp.pcap").read_bytes()
    (tmp_path / "cut.pcap").write_bytes(whole[:-5])
    done = _run(tmp_path / "cut.pcap")
    assert done.return_value == 1
    assert "PUSH PUT" in done.stdout
    assert "cut short" in done.stderr


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "text.pcap").write_text("not a capture")
    done = _run(tmp_path / "text.pcap", tmp_path / "missing.pcap", SAMPLES / "pubsub-tcp.pcap")
    assert done.return_value == 1
    assert "missing.pcap" in done.stderr
    assert "721 B" in done.stdout


def test_texts_of_a_capture_are_neither_markup_nor_escapes(tmp_path):
    """The suffix `/att` becomes one with an escape, then one that would be markup."""
    whole = (SAMPLES / "pubsub-tcp.pcap").read_bytes()
    for evil, shown in ((b"/\x1b[m", "nano/\\x1b[m"), (b"/[b]", "nano/[b]")):
        (tmp_path / "evil.pcap").write_bytes(whole.replace(b"/att", evil))
        out = _run(tmp_path / "evil.pcap").stdout
        assert "\x1b" not in out
        assert shown in out


def test_a_closed_pipe_is_silent():
    sample = str(SAMPLES / "gossip.pcap")
    code = f"import sys; from zdissect_cli.main import main; sys.argv[1:] = ['stats', {sample!r}]; main()"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_json_needs_no_rich():
    code = (
        "import sys; from zdissect_cli.main import cli;"
        f"cli(['stats', '--json', {str(SAMPLES / 'pubsub-tcp.pcap')!r}], standalone_mode=False);"
        "sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


def test_a_file_that_cannot_be_read_has_no_tables(tmp_path):
    (tmp_path / "bad.pcap").write_bytes(b"nothing of the kind")
    done = CliRunner().invoke(cli, ["stats", str(tmp_path / "bad.pcap"), str(tmp_path)], standalone_mode=False)
    assert (done.return_value, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 2
    assert "not a pcap or pcapng capture" in done.stderr


def test_one_flipped_bit_in_a_time_changes_no_duration():
    def durations(name):
        done = CliRunner().invoke(cli, ["stats", "--json", str(SAMPLES / name)], standalone_mode=False)
        report = json.loads(done.stdout)
        return [report["capture"]["duration_s"], *(one["duration_s"] for one in report["sessions"])]

    assert durations("flipped-time.pcapng") == durations("pubsub-tcp.pcap")


@pytest.mark.parametrize("name", ["query-router.pcap", "flipped-time.pcapng", "udp-small-batch.pcap"])
@pytest.mark.parametrize("every", ["100ms", "1s", "2min"])
def test_intervals_add_up_and_none_is_left_out(name, every):
    found = json.loads(_run("--json", "--every", every, SAMPLES / name).stdout)
    intervals, listed = found["intervals"], found["intervals"]["listed"]
    assert intervals["every_s"] == intervals["asked_s"] == {"100ms": 0.1, "1s": 1, "2min": 120}[every]
    starts = [one["start_s"] for one in listed]
    assert starts == pytest.approx([number * intervals["every_s"] for number in range(len(listed))])
    assert sum(one["frames"] for one in listed) == found["capture"]["frames"]
    assert sum(one["messages"] for one in listed) == sum(kind["count"] for kind in found["messages"])
    assert sum(one["findings"] for one in listed) == sum(one["count"] for one in found["findings"])
    ends = sum(end["bytes"] for session in found["sessions"] for end in session["ends"])
    assert sum(one["bytes"] for one in listed) >= ends


def test_each_interval_has_the_messages_of_its_time():
    name = SAMPLES / "query-router.pcap"
    listed = json.loads(_run("--json", "--every", "500ms", name).stdout)["intervals"]["listed"]
    rows = CliRunner().invoke(cli, ["-T", "jsonl", str(name)], standalone_mode=False).stdout.splitlines()
    first = listed[0]["ts_ns"]
    counted = [0] * len(listed)
    for row in rows:
        counted[(json.loads(row)["ts_ns"] - first) // 500_000_000] += 1
    assert [one["messages"] for one in listed] == counted
    assert 0 in counted


def test_intervals_in_the_table():
    lines = _run("--every", "1s", SAMPLES / "query-router.pcap").stdout.splitlines()
    at = lines.index("Over time, every 1 s")
    assert lines[at + 1].split() == ["Start", "(s)", "Frames", "Messages", "Bytes", "Findings"]
    assert [line.split()[0] for line in lines[at + 2 : at + 8]] == ["0", "1", "2", "3", "4", "5"]
    assert "Over time" not in _run(SAMPLES / "query-router.pcap").stdout


@pytest.mark.parametrize("every", ["0s", "1 week", "s", "-1s", "", "1e3s", "99999999999999999h"])
def test_what_is_no_length_of_time(every):
    done = _run("--every", every, SAMPLES / "pubsub-tcp.pcap")
    assert isinstance(done.exception, click.UsageError)
    assert "--every" in done.exception.format_message()


def test_sparklines():
    assert spark([0, 1, 4, 8], 10) == " ▁▄█"
    assert spark([], 10) == ""
    assert spark([0, 0], 10) == "  "
    assert spark([1, 0, 0, 8], 2) == "▁█"


def test_fail_on():
    assert _run("--fail-on", "note", SAMPLES / "query-router.pcap").return_value == 3
    assert _run("--fail-on", "warning", SAMPLES / "query-router.pcap").return_value == 0


def test_so_many_frames():
    assert json.loads(_run("--json", "-c", "9", SAMPLES / "query-router.pcap").stdout)["capture"]["frames"] == 9
