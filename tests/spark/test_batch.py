"""`zdissect batch --spark` gives the tables that `zdissect batch` gives."""

import gzip
import os
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))
from comparing import assert_same, rows
from zdissect_cli.main import cli

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


def test_ranges_and_merged_files(spark, captures, tmp_path):
    """Files in many small ranges, all merged by time into one capture."""
    from zdissect.export.batch import Job, convert_directory
    from zdissect.spark import conversion, job

    one = Job(str(captures), str(tmp_path / "plain"), join="one", jobs=1, include=("r*.pcap", "*.pcapng", "pub*"))

    class Silent:
        begin = update = lambda *_: None

    convert_directory(one, Silent())
    small = job.Reading._field_defaults["range_bytes"]
    assert small > 2000
    original = conversion.Reading
    conversion.Reading = lambda *given: original(*given, range_bytes=2000)
    try:
        from dataclasses import replace

        two = replace(one, out=str(tmp_path / "spark"))
        conversion.convert_directory(spark, two, conversion.captures_of(two), 2, Silent())
    finally:
        conversion.Reading = original
    assert_same(tmp_path / "plain", tmp_path / "spark")
