"""A directory that grows: after every commit, the rows of one `zdissect batch` over all files."""

import gzip
import json
import os
import shutil

import pytest

from tests.export.tables import SAMPLES
from tests.growing.following import arrive, cut, follow, job, same, table
from zdissect.export.conversion_settings import Settings

ROTATED = ["query-router.pcap", "udp-small-batch.pcap", "pubsub-tcp.pcap"]


@pytest.mark.parametrize("sample", ROTATED)
def test_sessions_that_span_files(sample, tmp_path, place):
    directory, out, whole = place
    pieces = cut(sample, tmp_path / "pieces", 5)
    for count, path in enumerate(pieces, 1):
        arrive([path], directory)
        (epoch,) = follow(job(directory, out))  # another run each time: nothing is only in memory
        assert (epoch.files, len(epoch.done.files)) == (count, 1)
        assert epoch.states > 0
        same(out, directory, whole)
    captures = {json.dumps(row) for row in table(out, "captures")}
    assert len(captures) == 5


def test_nothing_new_changes_nothing(tmp_path, place):
    directory, out, _ = place
    arrive(cut("pubsub-tcp.pcap", tmp_path / "pieces", 2), directory)
    follow(job(directory, out))
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.*") if "_follow" not in path.parts}
    for path in directory.iterdir():
        os.utime(path, (1, 1))  # a clock that went back
    assert follow(job(directory, out)) == []
    assert before == {path: path.stat().st_mtime_ns for path in out.rglob("*.*") if "_follow" not in path.parts}


@pytest.mark.parametrize("at", [30, 1000, 5000])
def test_a_file_that_grows_after_it_was_taken(at, place):
    directory, out, whole = place
    data = (SAMPLES / "query-router.pcap").read_bytes()
    for end in (0, 10, at, at + 4321, len(data)):
        (directory / "x.pcap").write_bytes(data[:end])
        follow(job(directory, out))
        same(out, directory, whole)


def test_a_pcapng_and_a_packed_file_that_grow(place):
    directory, out, whole = place
    data = (SAMPLES / "timestamp-stack.pcapng").read_bytes()
    packed = gzip.compress((SAMPLES / "pubsub-tcp.pcap").read_bytes(), mtime=0)
    for share in (3, 2, 1):
        (directory / "x.pcapng").write_bytes(data[: len(data) // share])
        (directory / "y.pcap.gz").write_bytes(packed[: len(packed) // share])
        follow(job(directory, out))
        same(out, directory, whole)


def test_files_that_come_in_another_order(tmp_path, place):
    directory, out, whole = place
    pieces = cut("query-router.pcap", tmp_path / "pieces", 4)
    for number in (1, 3, 0, 2):
        arrive([pieces[number]], directory)
        follow(job(directory, out))
        same(out, directory, whole)


def test_a_file_that_grows_when_others_have_followed(tmp_path, place):
    directory, out, whole = place
    pieces = cut("query-router.pcap", tmp_path / "pieces", 3)
    data = pieces[1].read_bytes()
    pieces[1].write_bytes(data[: len(data) // 2])
    arrive(pieces, directory)
    follow(job(directory, out))
    (directory / pieces[1].name).write_bytes(data)
    (epoch,) = follow(job(directory, out))
    assert len(epoch.done.files) == 3  # all of them anew
    same(out, directory, whole)


def test_files_that_overlap(tmp_path, place):
    directory, out, whole = place
    pieces = cut("query-router.pcap", tmp_path / "pieces", 2)
    arrive(pieces, directory)
    follow(job(directory, out))
    shutil.copy(SAMPLES / "query-router.pcap", directory / "x_00003_20260102030405.pcap")
    follow(job(directory, out))
    same(out, directory, whole)


@pytest.mark.parametrize("join", ["one", "separate"])
def test_join(join, tmp_path, place):
    directory, out, whole = place
    pieces = cut("query-router.pcap", tmp_path / "pieces", 3, "{}.pcap")
    for path in pieces:
        arrive([path], directory)
        follow(job(directory, out, join=join))
        same(out, directory, whole, join=join)


def test_options(tmp_path, place):
    directory, out, whole = place
    settings = Settings(payload=3, filter="message == RESPONSE", fields=True)
    for path in cut("query-router.pcap", tmp_path / "pieces", 3):
        arrive([path], directory)
        follow(job(directory, out, settings))
        same(out, directory, whole, settings)


def test_bad_files(place):
    directory, out, whole = place
    (directory / "empty.pcap").write_bytes(b"")
    (directory / "text.pcap").write_text("not a capture")
    (directory / "good.pcap").write_bytes((SAMPLES / "pubsub-tcp.pcap").read_bytes()[:-3])
    follow(job(directory, out))
    same(out, directory, whole)
