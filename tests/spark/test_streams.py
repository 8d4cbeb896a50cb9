"""`spark.readStream.format("zenoh")`: each message once, whatever is repeated, with sessions that span files."""

import gzip
import os
import pickle
import shutil

import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

from tests.export.tables import converted, rows
from tests.growing.following import arrive, cut
from zdissect.spark import stream_list, stream_reader
from zdissect.spark.source_options import SourceOptions
from zdissect.spark.stream_reader import MessagesStream, read


@pytest.fixture(autouse=True)
def key(tmp_path, monkeypatch):
    """A key of its own, and no waiting."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(stream_list, "QUIET_S", 0)


@pytest.fixture
def stream(tmp_path):
    """Makes a stream, as after each start of a query."""
    (tmp_path / "in").mkdir()
    made = []

    def make(**options):
        options = SourceOptions.of({"path": str(tmp_path / "in"), **options})
        made.append(MessagesStream(options, str(tmp_path / "state")))
        return made[-1]

    yield make
    for owner in stream_list._OWNERS.values():
        owner.close()
    stream_list._OWNERS.clear()


class Planted:
    """Does something when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def taken(source, start, end):
    """The rows of a batch."""
    batches = [batch for part in source.partitions(start, end) for batch in source.read(part)]
    return [row for batch in batches for row in batch.to_pylist()]


def whole(tmp_path):
    """The rows of one run over all files."""
    shutil.rmtree(tmp_path / "whole", ignore_errors=True)
    converted(tmp_path / "in", tmp_path / "whole")
    return rows(tmp_path / "whole")


@pytest.mark.parametrize("sample", ["query-router.pcap", "udp-small-batch.pcap"])
def test_every_batch_may_be_repeated(sample, tmp_path, stream):
    found = []
    source = stream()
    start = source.initialOffset()
    for path in cut(sample, tmp_path / "pieces", 4):
        arrive([path], tmp_path / "in")
        end = source.latestOffset()
        first = taken(source, start, end)
        source = stream()  # the query was killed before it knew of the end of the batch
        assert source.latestOffset() == end
        assert taken(source, start, end) == first
        source.commit(end)
        assert len([*(tmp_path / "state").glob("state-*")]) == 1
        found += first
        start = end
    assert found == whole(tmp_path)


def test_what_comes_later_does_not_change_a_batch(tmp_path, stream):
    arrive(cut("query-router.pcap", tmp_path / "pieces", 1), tmp_path / "in")
    source = stream()
    start, end = source.initialOffset(), source.latestOffset()
    arrive(cut("pubsub-tcp.pcap", tmp_path / "others", 1, "a.pcap"), tmp_path / "in")  # before it, by its name
    expected = taken(source, start, end)
    source = stream()
    assert source.latestOffset() == {"list": end["list"], "position": 2}
    assert taken(source, start, end) == expected


def test_without_a_state_a_capture_is_decoded_anew(tmp_path, stream, monkeypatch):
    pieces = cut("query-router.pcap", tmp_path / "pieces", 3)
    arrive(pieces[:2], tmp_path / "in")
    source = stream()
    start = source.latestOffset()
    found = taken(source, source.initialOffset(), start)
    arrive(pieces[2:], tmp_path / "in")
    end = source.latestOffset()
    for version in ("9.9", None):
        with monkeypatch.context() as patched:
            if version:
                patched.setattr("zdissect.growing.decoder_state.__version__", version)
            else:
                for path in (tmp_path / "state").glob("state-*"):
                    path.write_bytes(b"0" * 64 + pickle.dumps(Planted(str(tmp_path / "ran"))))
            assert found + taken(source, start, end) == whole(tmp_path)
    assert not (tmp_path / "ran").exists()  # what others have written isn't loaded


def test_a_file_that_grows(tmp_path, stream):
    (piece,) = cut("query-router.pcap", tmp_path / "pieces", 1)
    source, found = stream(), []
    start = source.initialOffset()
    for end_at in (9000, 15000, 1 << 20):
        (tmp_path / "in" / "x.pcap").write_bytes(piece.read_bytes()[:end_at])
        end = source.latestOffset()
        assert end != start
        found += taken(source, start, end)
        start = end
    assert found == whole(tmp_path)


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_grows_within_a_batch(packed, tmp_path, stream):
    (piece,) = cut("udp-small-batch.pcap", tmp_path / "pieces", 1)
    data = gzip.compress(piece.read_bytes(), mtime=0) if packed else piece.read_bytes()
    source = stream()
    start = source.initialOffset()
    for end_at in (2000, 4000, 1 << 20):
        (tmp_path / "in" / "x.pcap").write_bytes(data[:end_at])
        end = source.latestOffset()
    assert end["position"] == 3
    assert taken(source, start, end) == whole(tmp_path)


def test_files_that_have_gone_are_told(tmp_path, stream):
    arrive(cut("query-router.pcap", tmp_path / "pieces", 1), tmp_path / "in")
    source = stream()
    end = source.latestOffset()
    (part,) = source.partitions(source.initialOffset(), end)
    (tmp_path / "in" / part.value.entries[0].arrival.name).unlink()
    with pytest.raises(FileNotFoundError, match="has gone, or was replaced, since it was taken"):
        list(source.read(part))


def test_what_does_not_belong_together(tmp_path, stream):
    arrive(cut("query-router.pcap", tmp_path / "pieces", 1), tmp_path / "in")
    source = stream()
    source.latestOffset()
    with pytest.raises(ValueError, match="isn't that of this checkpoint"):
        source.partitions(source.initialOffset(), {"list": "another", "position": 1})
    with pytest.raises(ValueError, match="belongs to another stream"):
        stream(include="*.x").initialOffset()
    with pytest.raises(ValueError, match="a stream can't merge files"):
        stream(join="one").initialOffset()


def test_a_bug_does_not_end_the_stream(tmp_path, stream, monkeypatch):
    arrive(cut("query-router.pcap", tmp_path / "pieces", 1), tmp_path / "in")
    source = stream()
    (part,) = source.partitions(source.initialOffset(), source.latestOffset())

    def broken(*_):
        raise RuntimeError("planted")
        yield

    monkeypatch.setattr(stream_reader, "_messages", broken)
    with pytest.warns(UserWarning, match="a bug in zdissect, please report it: RuntimeError"):
        assert list(read(part.value, source.options.settings)) == []


def test_a_query_that_is_started_again(spark, tmp_path):
    from zdissect.spark import register

    register(spark)
    pieces = cut("query-router.pcap", tmp_path / "pieces", 3)
    for path in pieces:
        arrive([path], tmp_path / "in")
        frame = spark.readStream.format("zenoh").option("state", str(tmp_path / "state")).load(str(tmp_path / "in"))
        writer = frame.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination(120)
    found = pq.read_table(tmp_path / "out", columns=["frame_number", "message_number", "ts_ns", "key_expr"]).to_pylist()
    expected = [{name: row[name] for name in found[0]} for row in whole(tmp_path)]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


def test_a_stream_needs_a_state(spark, tmp_path):
    from zdissect.spark import register

    register(spark)
    (tmp_path / "in").mkdir()
    with pytest.raises(Exception, match="a stream needs a directory"):
        spark.readStream.format("zenoh").load(str(tmp_path / "in")).writeStream.format("noop").option(
            "checkpointLocation", str(tmp_path / "checkpoint")
        ).start().awaitTermination(60)
