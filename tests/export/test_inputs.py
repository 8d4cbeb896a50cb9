"""What is found in a directory, when files begin and end, and what is wrong with them."""

import gzip
import lzma
import os
import shutil

import lz4.frame
import pytest
from backports import zstd

from tests.export.tables import NAMES, SAMPLES, converted, frames, rows, write_pcap
from zdissect.export.families import families
from zdissect.export.inputs import find, plan
from zdissect.export.time_ranges import time_range_of

SAMPLE = SAMPLES / "query-router.pcap"


def test_captures_are_found_by_name_or_content(tmp_path):
    (tmp_path / "deep" / "er.pcap").mkdir(parents=True)  # a directory with the name of a capture
    (tmp_path / ".hidden").mkdir()
    for name in ("a.pcap", "b.PCAPNG", "c.pcap7", "d.cap.gz", "deep/er.pcap/e.pcapng", ".hidden/f.pcap"):
        (tmp_path / name).write_bytes(b"text")
    shutil.copy(SAMPLE, tmp_path / "trace")
    for name in ("notes.txt", "empty", "g.gz"):
        (tmp_path / name).write_bytes(b"" if name == "empty" else b"\x1f\x8b\0\0")
    found = [source.name for source in find(str(tmp_path))]
    assert found == ["a.pcap", "b.PCAPNG", "c.pcap7", "d.cap.gz", "deep/er.pcap/e.pcapng", "trace"]
    assert [source.name for source in find(str(tmp_path), ["*.pcap7", "deep/*"])] == [
        "c.pcap7",
        "deep/er.pcap/e.pcapng",
    ]
    assert [source.name for source in find(str(tmp_path / "a.pcap"))] == ["a.pcap"]


def test_pipes_and_dead_links_are_told_of(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    os.mkfifo(tmp_path / "pipe.pcap")
    (tmp_path / "dead.pcap").symlink_to("nowhere")
    shutil.copy(SAMPLE, tmp_path / "good.pcap")
    report = converted(tmp_path, tmp_path / "out")
    assert [(one.file, one.status) for one in report.bad] == [("dead.pcap", "unreadable"), ("pipe.pcap", "unreadable")]
    assert len(rows(tmp_path / "out")) == 310


def test_names_that_are_no_text(tmp_path):
    """What isn't UTF-8 in a name can't be in a column, but the file is read."""
    for name in (b"bad\xff.pcap", b"two\nlines.pcap", b"a blank.pcap"):
        try:
            shutil.copy(SAMPLE, os.fsencode(tmp_path) + b"/" + name)
        except OSError:
            pytest.skip("this file system has no such names")
    names = ["a blank.pcap", "bad\\xff.pcap", "two\nlines.pcap"]
    assert [source.name for source in find(str(tmp_path))] == names
    assert [source.name for source in find(str(tmp_path), [os.fsdecode(b"bad\xff*")])] == names[1:2]
    converted(tmp_path, tmp_path / "out")
    assert sorted({row["file"] for row in rows(tmp_path / "out")}) == names
    assert {row["status"] for row in rows(tmp_path / "out", "captures")} == {"ok"}


@pytest.mark.parametrize("name", NAMES)
def test_spans(name, tmp_path):
    some = frames(SAMPLES / name)
    assert time_range_of(str(SAMPLES / name)) == (some[0].ts_ns, some[-1].ts_ns)


def test_the_span_of_a_large_file_is_read_from_its_ends(tmp_path):
    some = frames(SAMPLE)
    many = [frame._replace(ts_ns=frame.ts_ns + n * 10**10) for n in range(220) for frame in some]
    write_pcap(tmp_path / "a.pcap", many)
    assert (tmp_path / "a.pcap").stat().st_size > 4 << 20
    assert time_range_of(str(tmp_path / "a.pcap")) == (many[0].ts_ns, many[-1].ts_ns)
    with (tmp_path / "a.pcap").open("ab") as file:
        file.write(b"cut")
    assert time_range_of(str(tmp_path / "a.pcap")) == (many[0].ts_ns, many[-1].ts_ns)


def _odd(some, place):
    """Frames of which one is 40 years early."""
    return [*some[:place], some[place]._replace(ts_ns=some[place].ts_ns - 40 * 365 * 86400 * 10**9), *some[place + 1 :]]


@pytest.mark.parametrize("times", [1, 220])
def test_the_span_of_a_file_is_without_leaps_of_its_clock(times, tmp_path):
    some = frames(SAMPLE)
    many = [frame._replace(ts_ns=frame.ts_ns + n * 10**10) for n in range(times) for frame in some]
    write_pcap(tmp_path / "a.pcap", _odd(many, len(many) - 1))
    assert time_range_of(str(tmp_path / "a.pcap")) == (many[0].ts_ns, many[-2].ts_ns)


def test_one_odd_time_does_not_change_how_files_are_merged(tmp_path):
    some = frames(SAMPLE)
    for name, left in (("plain", some[::2]), ("odd", _odd(some[::2], 5))):
        directory = tmp_path / name
        directory.mkdir()
        write_pcap(directory / "x.pcap1", left)
        write_pcap(directory / "x.pcap2", some[1::2])
        converted(directory, tmp_path / f"{name}-out", join="one")
    plain, odd = (rows(tmp_path / f"{name}-out") for name in ("plain", "odd"))
    times = ("ts", "ts_ns")
    assert [row | dict.fromkeys(times) for row in odd] == [row | dict.fromkeys(times) for row in plain]
    assert {row["code"] for row in rows(tmp_path / "odd-out", "findings")} >= {"time-leap"}


def _spoil(tmp_path):
    data = SAMPLE.read_bytes()
    (tmp_path / "cut.pcap").write_bytes(data[:-5])
    (tmp_path / "damaged.pcap").write_bytes(data + b"\xff" * 40)
    (tmp_path / "empty.pcap").write_bytes(b"")
    (tmp_path / "garbage.pcap").write_bytes(bytes(range(100)))
    (tmp_path / "header.pcap").write_bytes(data[:24])
    (tmp_path / "short.pcap.gz").write_bytes(gzip.compress(data)[:-500])
    (tmp_path / "good.pcap").write_bytes(data)


def test_every_file_has_a_row_and_every_problem_a_finding(tmp_path):
    _spoil(tmp_path)
    report = converted(tmp_path, tmp_path / "out")
    status = {row["file"]: (row["status"], row["error"]) for row in rows(tmp_path / "out", "captures")}
    assert {name: one for name, (one, _) in status.items()} == {
        "cut.pcap": "cut", "damaged.pcap": "damaged", "empty.pcap": "unreadable", "garbage.pcap": "unreadable",
        "header.pcap": "ok", "short.pcap.gz": "cut", "good.pcap": "ok",
    }  # fmt: skip
    about = [row for row in rows(tmp_path / "out", "findings") if row["code"].startswith("capture-")]
    assert {row["file"]: (row["code"], row["message"]) for row in about} == {
        name: (f"capture-{one}", error) for name, (one, error) in status.items() if one != "ok"
    }
    assert all(error and error.startswith(name) for name, (one, error) in status.items() if one != "ok")
    assert report.done.codes["capture-unreadable"] == 2
    counts = {row["file"]: row["messages"] for row in rows(tmp_path / "out", "captures")}
    assert counts["damaged.pcap"] == counts["good.pcap"] == 310
    assert counts["header.pcap"] == counts["empty.pcap"] == 0


def test_a_fault_of_ours_is_told_of_and_stops_nothing(tmp_path, monkeypatch):
    """The rows before it stay, as those of a damaged file do."""
    from zdissect.pipeline import Pipeline

    ranked = Pipeline.ranked

    def faulty(self, frame):
        if frame.source == "b.pcap" and frame.number == 100:
            raise RuntimeError("what nobody thought of")
        return ranked(self, frame)

    monkeypatch.setattr(Pipeline, "ranked", faulty)
    for name in "abc":
        shutil.copy(SAMPLE, tmp_path / f"{name}.pcap")
    converted(tmp_path, tmp_path / "out")
    found = {row["file"]: row for row in rows(tmp_path / "out", "captures")}
    assert [row["status"] for row in found.values()] == ["ok", "failed", "ok"]
    assert "what nobody thought of" in found["b.pcap"]["error"]
    per_file = [sum(row["file"] == f"{name}.pcap" for row in rows(tmp_path / "out")) for name in "abc"]
    assert per_file[0] == per_file[2] == 310
    assert per_file[1] == found["b.pcap"]["messages"] > 0


def test_plans(tmp_path):
    some = frames(SAMPLE)
    write_pcap(tmp_path / "x.pcap", some[:50])
    write_pcap(tmp_path / "x.pcap1", some[50:])
    write_pcap(tmp_path / "y.pcap", some)
    sources = find(str(tmp_path))

    def names(mode):
        return [[[one.name for one in group] for group in work.merges] for work in plan(sources, mode)]

    assert names("auto") == [[["x.pcap"], ["x.pcap1"]], [["y.pcap"]]]
    assert names("separate") == [[["x.pcap"]], [["x.pcap1"]], [["y.pcap"]]]
    assert names("one") == [[["x.pcap", "y.pcap", "x.pcap1"]]]


def test_packed_captures_are_found_by_name_or_content(tmp_path):
    """Whatever packs them: by a name that says so, or by what the first unpacked bytes are."""
    data = SAMPLE.read_bytes()
    for name in "a.pcap.zst", "b.pcap1.lz4", "c.pcapng.xz", "d.CAP.GZ":
        (tmp_path / name).write_bytes(b"its name is enough")
    for name, pack in ("gz", gzip.compress), ("xz", lzma.compress), ("zst", zstd.compress), ("lz4", lz4.frame.compress):
        (tmp_path / name).write_bytes(pack(data))
        (tmp_path / f"text-{name}").write_bytes(pack(b"no capture"))
        (tmp_path / f"damaged-{name}").write_bytes(pack(data)[:4] + b"\xff" * 40)
    found = [file.name for file in find(str(tmp_path))]
    assert found == ["a.pcap.zst", "b.pcap1.lz4", "c.pcapng.xz", "d.CAP.GZ", "gz", "lz4", "xz", "zst"]


def test_a_rotated_capture_may_be_packed_in_several_ways():
    names = ["r.pcap.xz", "r.pcap1.zst", "r.pcap2.lz4", "r.pcap3.gz", "r.pcap4"]
    assert families(names) == [names]
