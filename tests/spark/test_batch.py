"""`zdissect batch --spark` gives the tables that `zdissect batch` gives."""

import gzip
import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

pytest.importorskip("pyspark")
sys.path.insert(0, str(Path(__file__).parent))
from comparing import assert_same, rows
from zdissect_cli.main import cli

from zdissect.export.conversion_settings import Settings
from zdissect.export.directory import Job, Report, convert_directory
from zdissect.export.large_captures import LargeCaptures
from zdissect.export.tables import TABLES
from zdissect.export.workers import GroupTask
from zdissect.parallel.split import Split
from zdissect.spark import conversion, shuffled_groups, task_pool

SAMPLES = Path(__file__).parents[2] / "samples"
ROBOTS = SAMPLES.with_name("samples-ros2")


def batch(*arguments: object) -> "tuple[int, str]":
    done = CliRunner().invoke(cli, ["batch", *map(str, arguments)], standalone_mode=False)
    if done.exception:
        raise done.exception
    return int(done.return_value), done.stderr


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples; a rotated capture, compressed ones, and all kinds of bad files."""
    folder = tmp_path_factory.mktemp("captures")
    for path in SAMPLES.glob("*.pcap*"):
        shutil.copy(path, folder)
    deep = folder / "deep"
    deep.mkdir()
    whole = (SAMPLES / "query-router.pcap").read_bytes()
    (deep / "packed.pcap.gz").write_bytes(gzip.compress(whole))
    (deep / "half.pcap.gz").write_bytes(gzip.compress(whole)[:3000])
    (deep / "cut.pcap").write_bytes(whole[:-7])
    (deep / "empty.pcap").touch()
    (deep / "text.pcap").write_text("no capture at all")
    (deep / "folder.pcap").mkdir()
    (deep / "gone.pcap").symlink_to("nowhere")
    (deep / os.fsdecode(b"no\xfftext \n.pcap")).write_bytes(whole)
    for number, part in enumerate(split(whole, 5)):
        (deep / f"rotated.part{number}.pcap").write_bytes(part)
    return folder


def split(data: bytes, pieces: int) -> list[bytes]:
    """A pcap file cut at record boundaries."""
    at, starts = 24, []
    while at < len(data):
        starts.append(at)
        at += 16 + int.from_bytes(data[at + 8 : at + 12], "little")
    step = len(starts) // pieces + 1
    ends = [*starts[::step][1:], len(data)]
    return [data[:24] + data[start:end] for start, end in zip(starts[::step], ends, strict=True)]


def test_equal_rows(spark, captures, tmp_path):
    plain, _ = batch(captures, "-o", tmp_path / "plain", "-j", 1)
    code, said = batch(captures, "-o", tmp_path / "spark", "--spark", "--partitions", 3)
    assert code == plain == 1  # some files can't be read
    assert "captures" in said
    assert "text.pcap" in said
    assert_same(tmp_path / "plain", tmp_path / "spark")
    status = {row["file"]: row["status"] for row in rows(tmp_path / "spark", "captures")}
    assert status["deep/text.pcap"] == status["deep/empty.pcap"] == "unreadable"
    assert status["deep/cut.pcap"] == status["deep/half.pcap.gz"] == "cut"
    # there already: nothing is done, and nothing is begun
    code, said = batch(captures, "-o", tmp_path / "spark", "--spark")
    assert code == 2
    assert "exists" in said
    assert not list(tmp_path.glob(".*"))


class Silent:
    """A watch that looks away."""

    begin = update = lambda *_: None


def both_ways(spark, job, out: Path, groups: bool = True) -> tuple[Report, Report]:
    """Converts without and with Spark, which splits all captures, or as usual; the tables are the same."""
    plain = convert_directory(replace(job, out=str(out / "plain")), Silent())
    other = replace(job, out=str(out / "spark"), **({"split_bytes": 0} if groups else {}))
    found = conversion.convert_directory(spark, other, conversion.captures_of(other), 3, Silent())
    assert_same(out / "plain", out / "spark")
    assert +plain.done.rows == +found.done.rows
    assert +plain.done.accounting == +found.done.accounting
    assert plain.done.codes == found.done.codes
    assert [(one.file, one.error) for one in plain.bad] == [(one.file, one.error) for one in found.bad]
    assert sorted(path.name for path in out.iterdir()) == ["plain", "spark"]
    return plain, found


def test_relative_paths(spark, captures, tmp_path, monkeypatch):
    """Workers have another working directory. Errors name the files as users do."""
    monkeypatch.chdir(captures.parent)
    plain, _ = both_ways(spark, Job(captures.name, "", jobs=1, include=("deep/*",)), tmp_path, groups=False)
    assert any(f"{captures.name}/deep/gone.pcap: " in (one.error or "") for one in plain.bad)


@pytest.mark.parametrize("join", ["auto", "one"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_split_captures(spark, captures, tmp_path, monkeypatch, join, shuffled):
    """Each capture in groups of sessions, or one of many files that overlap; frames are brought to them, or each group
    reads all of its capture."""
    groups = set()
    take = LargeCaptures.take

    def seen(self, task, done):
        if isinstance(task, GroupTask):
            groups.add((task.works[0].inputs[0].name, task.number))
        take(self, task, done)

    monkeypatch.setattr(LargeCaptures, "take", seen)
    if shuffled:
        monkeypatch.setattr(task_pool, "REREAD", 0)
        monkeypatch.setattr(shuffled_groups, "RANGE_BYTES", 3000)
    both_ways(spark, Job(str(captures), "", join=join, jobs=1), tmp_path)
    assert max(number for _, number in groups) > 1
    assert len({name for name, _ in groups}) == 1 if join == "one" else ("deep/rotated.part0.pcap", 1) in groups


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_capture_that_was_split_wrongly_is_decoded_again(spark, tmp_path, monkeypatch, shuffled):
    """As a whole, in a third job: here the groups don't know which connections to expect."""
    take = LargeCaptures.take

    def short(self, task, done):
        if done.split:
            split = Split.load(done.split)
            done = replace(done, split=split._replace(numbers=[[]] * len(split.sizes)).json())
        take(self, task, done)

    monkeypatch.setattr(LargeCaptures, "take", short)
    if shuffled:
        monkeypatch.setattr(task_pool, "REREAD", 0)
    both_ways(spark, Job(str(SAMPLES / "gossip.pcap"), "", jobs=1), tmp_path)
    assert len(list((tmp_path / "spark" / "messages").glob("*.parquet"))) == 1


def test_columns_of_ros(spark, tmp_path):
    """With contents, and with what is kept of payloads cut after these are decoded."""
    pytest.importorskip("rosbags")
    both_ways(spark, Job(str(ROBOTS), "", Settings(ros2=True, payload=4), jobs=1, include=("t*-*.pcap",)), tmp_path)
    found = pq.read_table(tmp_path / "spark" / "messages")["ros2_content"].drop_null().to_pylist()
    assert '{"data":"Hello World: 0"}' in found


def test_success_names_the_parts(spark, tmp_path):
    """Each with its rows, bytes and checksum."""
    job = Job(str(SAMPLES), str(tmp_path / "out"), include=("gossip.pcap", "pubsub-tcp.pcap"))
    conversion.convert_directory(spark, job, conversion.captures_of(job), 2, Silent())
    for table in TABLES:
        folder = tmp_path / "out" / table
        parts = json.loads((folder / "_SUCCESS").read_text())["parts"]
        assert sorted(part["name"] for part in parts) == sorted(path.name for path in folder.glob("*.parquet"))
        for part in parts:
            data = (folder / part["name"]).read_bytes()
            assert (part["table"], part["size"], part["crc32"]) == (table, len(data), crc32(data))
            assert pq.read_metadata(folder / part["name"]).num_rows == part["rows"]
