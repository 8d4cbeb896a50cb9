"""Captures and tables in an object store: a server for S3 on this machine (moto)."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("moto")
sys.path.insert(0, str(Path(__file__).parent))
from comparing import assert_same, rows

from tests.spark.short_lived import ARGUMENTS
from zdissect.export import filesystems
from zdissect.export.gathered_parts import SUCCESS
from zdissect.export.parquet import WriteError
from zdissect.export.remote_target import RemoteTarget
from zdissect.export.tables import TABLES

SAMPLES = Path(__file__).parents[2] / "samples"
NAMES = ("gossip.pcap", "query-router.pcap", "pubsub-tcp.pcap")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The query that names the server; its bucket is called `bucket`."""
    log = tmp_path_factory.mktemp("s3") / "log"
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true"}
    with pytest.MonkeyPatch.context() as patch, log.open("w") as sink:
        for name, value in keys.items():
            patch.setenv(name, value)
        command = [str(Path(sys.executable).parent / "moto_server"), "-p", "0"]
        process = subprocess.Popen(command, stdout=sink, stderr=sink, env=os.environ | {"PYTHONUNBUFFERED": "1"})
        try:
            for _ in range(600):
                found = re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())
                if found:
                    break
                time.sleep(0.1)
            assert found, log.read_text()
            query = f"?endpoint_override=127.0.0.1:{found[1]}&scheme=http&region=us-east-1"
            system, _ = filesystems.system_of(f"s3://bucket/{query}&allow_bucket_creation=true")
            system.create_dir("bucket")
            yield query
        finally:
            process.terminate()
            process.wait(30)


def test_captures_and_tables_in_a_bucket(server, tmp_path):
    """The rows of `zdissect batch` on local files; nothing is left besides the tables."""
    local = tmp_path / "in"
    local.mkdir()
    system, _ = filesystems.system_of(f"s3://bucket/{server}")
    for name in NAMES:
        shutil.copy(SAMPLES / name, local)
        with system.open_output_stream(f"bucket/captures/{name}") as file:
            file.write((SAMPLES / name).read_bytes())
    command = [sys.executable, "-m", "zdissect_cli", "batch"]
    subprocess.run([*command, str(local), "-o", str(tmp_path / "plain"), "-q"], check=True)
    out = f"s3a://bucket/some/tables{server}"
    for mode, times in (("error", 1), ("append", 2), ("overwrite", 1)):
        given = [f"s3://bucket/captures{server}", "-o", out, "--spark", "--mode", mode]
        done = subprocess.run([*command, *given, *ARGUMENTS], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found = fetched(system, "bucket/some/tables", tmp_path / mode)
        assert {path.parts[0] for path in found} == {*TABLES}, "nothing temporary is left"
        assert {path for path in found if path.name == SUCCESS} == {Path(table, SUCCESS) for table in TABLES}
        for table in TABLES:
            assert len(rows(tmp_path / mode, table)) == times * len(rows(tmp_path / "plain", table))
    assert_same(tmp_path / "plain", tmp_path / "overwrite")
    done = subprocess.run([*command, str(local), "-o", out, "--spark"], capture_output=True, text=True)
    assert done.returncode == 2
    assert " exists: choose another place" in done.stderr


def fetched(system, place: str, to: Path) -> "list[Path]":
    """The files below a place, which are copied to a directory."""
    from pyarrow.fs import FileSelector, FileType

    names = [Path(one.path).relative_to(place) for one in system.get_file_info(FileSelector(place, recursive=True))
             if one.type == FileType.File]  # fmt: skip
    for name in names:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        with system.open_input_file(f"{place}/{name}") as file:
            (to / name).write_bytes(file.read())
    return names


def test_a_commit_that_fails_changes_nothing(server, monkeypatch):
    """The parts that were copied are removed; the old ones, and what they say of themselves, aren't touched."""
    system, _ = filesystems.system_of(f"s3://bucket/{server}")
    for path in ("messages/old.parquet", "messages/_SUCCESS"):
        with system.open_output_stream(f"bucket/full/{path}") as file:
            file.write(b"old")

    class Full:
        """A store that takes two parts, and no third."""

        def __init__(self):
            self.moved = 0

        def __getattr__(self, name):
            return getattr(system, name)

        def move(self, path, final):
            self.moved += 1
            if self.moved == 3:
                raise OSError("no more room")
            system.move(path, final)

    with RemoteTarget(f"s3://bucket/full{server}", "overwrite", True) as target:
        target.system = Full()
        with pytest.raises(WriteError, match=r"no more room"):
            target.commit()
    from pyarrow.fs import FileSelector, FileType

    left = system.get_file_info(FileSelector("bucket/full", recursive=True))
    assert sorted(one.path for one in left if one.type == FileType.File) == [
        "bucket/full/messages/_SUCCESS", "bucket/full/messages/old.parquet",
    ]  # fmt: skip
