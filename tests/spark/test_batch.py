"""`zdissect batch --spark` gives the tables that `zdissect batch` gives."""

import gzip
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("pyspark")
sys.path.insert(0, str(Path(__file__).parent))
from comparing import assert_same, rows
from zdissect_cli.main import cli

from zdissect.export.conversion_settings import Settings
from zdissect.export.directory import Job, Report, convert_directory
from zdissect.export.parquet import WriteError
from zdissect.parallel.first_look import FirstLook
from zdissect.spark import conversion
from zdissect.spark import job as job_module
from zdissect.spark.job import ReadJob

SAMPLES = Path(__file__).parents[2] / "samples"


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


def both_ways(spark, job, out: Path, monkeypatch, **reading: int) -> tuple[Report, Report]:
    """Converts without and with Spark, which reads as it is told; the tables are the same."""
    plain = convert_directory(replace(job, out=str(out / "plain")), Silent())
    monkeypatch.setattr(conversion, "ReadJob", lambda *given: ReadJob(*given, **reading))
    other = replace(job, out=str(out / "spark"))
    found = conversion.convert_directory(spark, other, conversion.captures_of(other), 3, Silent())
    assert_same(out / "plain", out / "spark")
    assert +plain.done.rows == +found.done.rows
    assert +plain.done.accounting == +found.done.accounting
    assert plain.done.codes == found.done.codes
    assert [(one.file, one.error) for one in plain.bad] == [(one.file, one.error) for one in found.bad]
    return plain, found


def test_ranges_and_merged_files(spark, captures, tmp_path, monkeypatch):
    """Files in many small ranges, all merged by time into one capture."""
    assert ReadJob([], Settings()).range_bytes > 2000
    job = Job(str(captures), "", join="one", jobs=1, include=("r*.pcap", "*.pcapng", "pub*"))
    both_ways(spark, job, tmp_path, monkeypatch, range_bytes=2000)


@pytest.mark.parametrize("join", ["auto", "one"])
def test_split_captures(spark, captures, tmp_path, monkeypatch, join):
    """Each capture in groups of sessions; or one capture, of many files that overlap."""
    if join == "one":  # the driver leaves even small files to the workers
        monkeypatch.setattr(job_module, "_FEW", 0)
    real, split = conversion.splits, {}
    monkeypatch.setattr(conversion, "splits", lambda *given: split.update(real(*given)) or split)
    both_ways(spark, Job(str(captures), "", join=join, jobs=1), tmp_path, monkeypatch, range_bytes=3000, split_bytes=0)
    assert max(len(one.sizes) for one in split.values()) > 2
    assert len(split) == 1 if join == "one" else "deep/rotated.part0.pcap" in split


def test_a_capture_that_was_split_wrongly_is_decoded_again(spark, tmp_path, monkeypatch):
    """A first look that doesn't hear who the ends of connections are parts links of a session."""
    monkeypatch.setattr(FirstLook, "called", lambda self, names, node: None)
    real, found = conversion.unsound, []
    monkeypatch.setattr(conversion, "unsound", lambda told: found.append(real(told)) or found[-1])
    job = Job(str(SAMPLES), "", jobs=1, include=("scouting-multicast.pcap", "gossip.pcap"))
    both_ways(spark, job, tmp_path, monkeypatch, split_bytes=0)
    assert found == [{"scouting-multicast.pcap"}, set()]


def test_a_fault_in_a_group_is_that_of_the_capture(spark, tmp_path, monkeypatch):
    """What can't be split is decoded as a whole, and so is what fails in a group: here for want of a number."""
    real = conversion.splits

    def short(*given):
        return {name: one._replace(numbers=[[]] * len(one.sizes)) for name, one in real(*given).items()}

    monkeypatch.setattr(conversion, "splits", short)
    job = Job(str(SAMPLES / "gossip.pcap"), "", jobs=1)
    both_ways(spark, job, tmp_path, monkeypatch, split_bytes=0)


def test_rows_that_do_not_arrive_are_missed(tmp_path):
    """As where a worker is another machine, with a disk of its own."""
    job = Job(str(SAMPLES / "gossip.pcap"), str(tmp_path / "out"), jobs=1)
    report = convert_directory(job, Silent())
    conversion.arrived(tmp_path / "out", report.done)
    (part,) = (tmp_path / "out" / "messages").iterdir()
    part.unlink()
    with pytest.raises(WriteError, match=r"only 0 of [0-9]+ rows of messages have arrived"):
        conversion.arrived(tmp_path / "out", report.done)
