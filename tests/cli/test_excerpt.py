"""`zdissect FILE -Y FILTER -w OUT`: an excerpt of a capture."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

from zdissect.capture import open_capture

SAMPLES = Path(__file__).parents[2] / "samples"
PUBSUB = SAMPLES / "pubsub-tcp.pcap"


def run(*arguments, code=0, **more):
    done = CliRunner().invoke(cli, [*map(str, arguments)], standalone_mode=code == 2, **more)
    assert done.exception is None or code == 2, done.exception
    assert (done.exit_code if code == 2 else done.return_value) == code, done.output
    return done.output


def rows(path, *arguments):
    return [json.loads(line) for line in run("-q", "-T", "jsonl", *arguments, path).splitlines()]


def frames(path):
    with open_capture(str(path)) as capture:
        return [frame._replace(source="", number=0) for frame in capture]


def test_what_is_selected_and_what_it_needs(tmp_path):
    out = tmp_path / "out.pcapng"
    output = run(PUBSUB, "-Y", "frame.number == 17", "-w", out)
    assert "1 that were selected" in output
    assert "are left out" in output
    (row,) = [row for row in rows(out) if row["message"] == "PUSH"]
    assert (row["key_expr"], row["src_role"]) == ("nano/t0", "peer")
    assert [one for one in frames(out) if one not in frames(PUBSUB)] == []


def test_exact_is_only_what_is_selected(tmp_path):
    out = tmp_path / "out.pcapng"
    run(PUBSUB, "-Y", "frame.number == 17", "--exact", "-w", out)
    assert [one.data for one in frames(out)] == [frames(PUBSUB)[16].data]


def test_frames_by_their_numbers(tmp_path):
    out = tmp_path / "out.pcapng"
    run(PUBSUB, "--frame", "17-18", "--exact", "-w", out)
    assert [one.data for one in frames(out)] == [one.data for one in frames(PUBSUB)[16:18]]


def test_without_a_filter_it_is_all_zenoh(tmp_path):
    out = tmp_path / "out.pcapng"
    run(SAMPLES / "tunnels.pcap", "-q", "-w", out)
    assert len(rows(out)) == len(rows(SAMPLES / "tunnels.pcap"))
    assert len(frames(out)) < len(frames(SAMPLES / "tunnels.pcap"))


def test_from_a_pipe(tmp_path):
    out, piped = tmp_path / "out.pcapng", tmp_path / "piped.pcapng"
    wanted = ("-q", "-Y", "message == RESPONSE")
    run(SAMPLES / "query-router.pcap", *wanted, "-w", out)
    data = (SAMPLES / "query-router.pcap").read_bytes()
    command = [sys.executable, "-m", "zdissect_cli", "-", *wanted, "-w", str(piped)]
    assert subprocess.run(command, input=data, check=False).returncode == 0
    assert piped.read_bytes() == out.read_bytes()


def test_what_comes_later_may_be_asked(tmp_path):
    out = tmp_path / "out.pcapng"
    run(SAMPLES / "query-router.pcap", "-q", "-Y", "request.answered == true", "-w", out)
    assert [row["key_expr"] for row in rows(out) if row["message"] == "REQUEST"]


def test_findings_are_comments(tmp_path):
    out = tmp_path / "out.pcapng"
    run(SAMPLES / "duplicate-sn.pcap", "-q", "-Y", "finding", "-w", out)
    assert b"sn-duplicate: sn" in out.read_bytes()
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("no tshark here")
    command = [tshark, "-r", str(out), "-T", "fields", "-e", "frame.comment"]
    assert "sn-duplicate" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_bad_input(tmp_path):
    out = tmp_path / "out.pcapng"
    assert "^" in run(PUBSUB, "-Y", "sn >", "-w", out, code=2)
    assert "needs -w" in run(PUBSUB, "--exact", code=2)
    assert not out.exists()
    out.write_bytes(b"mine")
    assert "it already exists" in run(PUBSUB, "-w", out, code=2)
    assert out.read_bytes() == b"mine"
    copy = tmp_path / "in.pcap"
    copy.write_bytes(PUBSUB.read_bytes()[:-5])
    run(copy, "-q", "-w", tmp_path / "cut.pcapng", code=1)
    assert len(frames(tmp_path / "cut.pcapng")) > 5
    run(tmp_path / "missing.pcap", "-w", tmp_path / "none.pcapng", code=1)
    assert not (tmp_path / "none.pcapng").exists()
