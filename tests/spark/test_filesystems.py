"""Captures and tables behind URIs."""

import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

from tests.export.tables import SAMPLES
from zdissect.export import filesystems, listed_inputs

SAMPLE = SAMPLES / "pubsub-tcp.pcap"


def batch(*arguments):
    return CliRunner().invoke(cli, ["batch", *map(str, arguments)], standalone_mode=False)


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    """A file system at s3://bucket, which is a directory."""
    from pyarrow.fs import LocalFileSystem

    place = tmp_path / "bucket"

    def system(uri):
        parts = urlsplit(uri)
        assert (parts.scheme, parts.netloc, parts.query) == ("s3", "bucket", "region=x")
        return LocalFileSystem(), str(place) + unquote(parts.path)

    monkeypatch.setattr(filesystems, "system_of", system)
    monkeypatch.setattr(listed_inputs, "system_of", system)
    (place / "dir" / "deep er").mkdir(parents=True)
    return place


def test_captures_behind_a_uri_with_a_query(bucket):
    names = ["a.pcap", "deep er/ü%20 ?#.pcap"]
    for name in names:
        shutil.copy(SAMPLE, bucket / "dir" / name)
    (bucket / "dir" / "notes.txt").write_text("text")
    for uri in ("s3://bucket/dir?region=x", "s3://bucket/dir/?region=x"):
        found = listed_inputs.list_inputs(uri)
        assert [one.name for one in found] == names
        for one in found:
            with filesystems.open_input(one.path, one.name) as capture:
                assert len(list(capture)) == 36
    (single,) = listed_inputs.list_inputs("s3://bucket/dir/a.pcap?region=x")
    assert single == ("a.pcap", "s3://bucket/dir/a.pcap?region=x", SAMPLE.stat().st_size, "", "")


def test_files_as_uris(spark, tmp_path):
    place = tmp_path / "in put"
    place.mkdir()
    shutil.copy(SAMPLE, place)
    out = tmp_path / "out %20 [a]{b}?#:ü put"
    for mode, number in (("error", 1), ("append", 2), ("ignore", 2), ("overwrite", 1)):
        done = batch(place.as_uri(), "-o", out.as_uri(), "--spark", "--mode", mode)
        assert done.return_value == 0, done.stderr
        assert len(rows_of(out)) == number
    done = batch(place.as_uri(), "-o", out.as_uri(), "--spark")
    assert (done.return_value, " exists: choose another place" in done.stderr) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in put", "out %20 [a]{b}?#:ü put"]


def rows_of(out: Path) -> list[dict[str, object]]:
    """The table `captures`, without what Spark puts beside it."""
    import pyarrow.parquet as pq

    return pq.read_table(out / "captures").to_pylist()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("file:///no/such/place", "-o", "@", "--spark"), "file:///no/such/place: there is no such directory"),
        (("gopher://x/y", "-o", "@", "--spark"), "gopher://x/y: it can't be reached ("),
        ((SAMPLES, "-o", "gopher://x/y", "--spark"), "gopher://x/y: it can't be reached ("),
        ((SAMPLES, "-o", "gopher://x/y", "--spark", "--mode", "ignore"), "gopher://x/y: it can't be reached ("),
        (("s3://bucket/dir", "-o", "@"), "s3://bucket/dir: URIs need --spark"),
        ((SAMPLES, "-o", "file:///somewhere"), "file:///somewhere: URIs need --spark"),
    ],
)
def test_places_that_cannot_be_reached(given, says, tmp_path):
    done = batch(*(tmp_path / "out" if one == "@" else one for one in given))
    assert done.return_value == 2
    assert done.stderr.startswith(f"zdissect: {says}")
    assert done.stderr.count("\n") == 1
    assert not any(tmp_path.iterdir())
