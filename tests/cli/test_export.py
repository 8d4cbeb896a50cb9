"""`zdissect export payloads`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

SAMPLES = Path(__file__).parents[2] / "samples"


def run(*arguments, code=0):
    done = CliRunner().invoke(cli, ["export", "payloads", *map(str, arguments)], standalone_mode=code == 2)
    assert (done.exit_code if code == 2 else done.return_value) == code, done.output
    return done.output


def index(directory):
    return [json.loads(line) for line in (directory / "index.jsonl").read_text().splitlines()]


def test_all_payloads(tmp_path):
    output = run(SAMPLES / "udp-small-batch.pcap", "-o", tmp_path / "out")
    assert output == f"zdissect: 8 payloads, 25410 bytes, in {tmp_path}/out\n"
    rows = index(tmp_path / "out")
    assert [row["length"] for row in rows if row["key_expr"] == "us/10k"] == [10000, 10000]
    for row in rows:
        assert len((tmp_path / "out" / row["file"]).read_bytes()) == row["length"]


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["--key", "nano/t0"], 1),
        (["--key", "nano/*"], 6),
        (["--key", "nano/t0", "--key", "nano/t1"], 2),
        (["--key", "other/**"], 0),
        (["-Y", 'payload contains "message 0"'], 1),
        (["-Y", "frame.number == 17"], 1),
        (["-Y", "body == PUT"], 4),
        (["-Y", "request.answered == true"], 1),
    ],
)
def test_some_payloads(tmp_path, arguments, count):
    run(SAMPLES / "pubsub-tcp.pcap", "-q", *arguments, "-o", tmp_path)
    assert len(index(tmp_path)) == count


def test_bad_input(tmp_path):
    sample = SAMPLES / "pubsub-tcp.pcap"
    assert "empty chunk" in run(sample, "--key", "a//b", "-o", tmp_path / "a", code=2)
    assert "^" in run(sample, "-Y", "sn >", "-o", tmp_path / "a", code=2)
    assert "depends on later messages" in run("-", "-Y", "request.answered == false", "-o", tmp_path / "a", code=2)
    assert not (tmp_path / "a").exists()
    run(sample, "-q", "-o", tmp_path / "b")
    assert "--force" in run(sample, "-o", tmp_path / "b", code=2)
    run(sample, "-q", "--force", "-o", tmp_path / "b")
    run(tmp_path / "missing.pcap", "-o", tmp_path / "c", code=1)
