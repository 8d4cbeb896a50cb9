"""Files that arrive a few at a time, and the tables that should come of them."""

import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.export.tables import SAMPLES, converted, frames, write_pcap
from zdissect.export.conversion_settings import Settings
from zdissect.export.directory import Job
from zdissect.export.tables import TABLES
from zdissect.growing.checkpoint import described
from zdissect.growing.followed_tables import FollowedTables
from zdissect.growing.follower import Epoch, Follower


def cut(sample: str, folder: Path, pieces: int, form: str = "x_{:05}_20260102030405.pcap") -> list[Path]:
    """A capture as files of a rotated one."""
    folder.mkdir(exist_ok=True)
    some = frames(SAMPLES / sample)
    size = -(-len(some) // pieces)
    out = []
    for number in range(pieces):
        path = folder / form.format(number + 1)
        write_pcap(path, some[number * size : (number + 1) * size])
        out.append(path)
    return out


def job(directory: Path, out: Path, settings: Settings | None = None, **options: Any) -> Job:
    return Job(str(directory), str(out), settings or Settings(), **options)


def follow(work: Job, notes: list[str] | None = None) -> list[Epoch]:
    """One run, until nothing is left to do."""
    epochs = []
    with FollowedTables(work.out, described(work)) as tables:
        follower = Follower(work, tables, note=(notes if notes is not None else []).append, quiet_s=0)
        while (epoch := follower.once()) is not None:
            epochs.append(epoch)
    return epochs


def arrive(paths: list[Path], directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    for path in paths:
        shutil.copy(path, directory)


def table(out: Path, name: str) -> list[str]:
    """The rows of a table, in an order that says nothing."""
    parts = sorted((out / name).glob("*.parquet"))
    return sorted(repr(row) for part in parts for row in pq.read_table(part).to_pylist())


def same(out: Path, directory: Path, whole: Path, settings: Settings | None = None, **options: Any) -> None:
    """The tables are those of one `zdissect batch` over all files."""
    shutil.rmtree(whole, ignore_errors=True)
    converted(directory, whole, settings, **options)
    for name in TABLES:
        assert table(out, name) == table(whole, name), name
    assert table(out, "captures")
