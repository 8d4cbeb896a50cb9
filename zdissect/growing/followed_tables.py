"""The tables of a directory that is followed, and the folder beside them with all that is needed to go on.

A commit writes a manifest under another name and then gives it its own: that is the moment at which it counts. The
manifest holds the checkpoint, and which files are to be moved to the tables and removed from them. Moving comes after,
and can be repeated: whoever opens the tables next does it first.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from errno import ENOSPC
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from zdissect.capture import leftovers
from zdissect.export.filesystems import below
from zdissect.export.parquet import Parts, WriteError, unwritable
from zdissect.export.schema import ros2_schema, schema
from zdissect.export.tables import MESSAGES, TABLES
from zdissect.export.target import FOLLOWED
from zdissect.growing.checkpoint import Checkpoint, load, refuse_another

MANIFEST, STATES = "manifest.json", "states"


class FollowedTables:
    """OUT, as a context in which no other process of this machine may write to it. Raises WriteError.

    Args:
        out: The directory.
        job: What may not change: see `checkpoint.described`.
    """

    def __init__(self, out: str, job: dict[str, Any]) -> None:
        self.path = Path(out)
        self.folder = self.path / FOLLOWED
        self.run = token_hex(4)
        self.work = self.folder / f"work-{self.run}"
        """Where steps write."""
        self.checkpoint = Checkpoint(job)
        self.owner: IO[str] | None = None
        self.attempts = 0
        self.moving = False
        """Whether a commit counts whose files may not have been moved yet."""

    def __enter__(self) -> "FollowedTables":
        try:
            self.begin()
            self.recover()
        except OSError as error:
            self.__exit__()
            raise self.failed(error) from error
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self.owner is not None:
            if not self.moving:
                shutil.rmtree(self.work, ignore_errors=True)
            self.owner.close()

    def begin(self) -> None:
        """Makes the folder, if OUT is new, and takes it for this process."""
        if os.path.lexists(self.path) and not self.folder.is_dir():
            if not self.path.is_dir():
                raise WriteError(f"{self.path} isn't a directory: choose another place")
            if any(self.path.iterdir()):
                raise WriteError(f"{self.path} exists, and wasn't made by --follow: choose another place")
        self.folder.mkdir(parents=True, exist_ok=True)
        owner = leftovers.lock(self.folder)
        if owner is None:
            raise WriteError(f"{self.path}: another run writes to it (--follow); end that one, or choose another place")
        self.owner = owner

    def recover(self) -> None:
        """Takes the last commit to its end, and removes what is left of a process that was killed."""
        manifest = self.folder / MANIFEST
        job = self.checkpoint.job
        moves: list[list[str]] = []
        removes: list[str] = []
        if manifest.exists():
            try:
                self.checkpoint, moves, removes = load(manifest.read_text(encoding="utf-8"))
                refuse_another(self.checkpoint.job, job)
            except (ValueError, KeyError, TypeError, AttributeError) as problem:
                raise WriteError(f"{manifest} is damaged ({problem}): choose another OUT") from problem
            except WriteError as problem:
                raise WriteError(f"{self.path}: {problem}") from None
            self.carry_out(moves, removes)
        for leftover in self.folder.glob("work-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        for unfinished in self.folder.glob(f"{MANIFEST}.*"):
            unfinished.unlink()
        self.work.mkdir()
        (self.folder / STATES).mkdir(exist_ok=True)
        self.forget_states()
        if not manifest.exists():
            self.commit(self.checkpoint, self.empty_tables(), [])

    def empty_tables(self) -> list[list[str]]:
        """A part without rows for each table: readers learn the columns from it before anything has come."""
        ros2 = self.checkpoint.job["options"]["ros2"]
        directory = self.attempt()
        with Parts(directory) as parts:
            for table in TABLES:
                parts.empty(table, ros2_schema() if ros2 and table == MESSAGES else schema(table))
        return [[below(directory, part.name), f"{part.table}/part-000000.parquet"] for part in parts.written()]

    def attempt(self) -> str:
        """The path of a new directory for one step, which makes it."""
        self.attempts += 1
        return str(self.work.absolute() / str(self.attempts))

    def clear(self) -> None:
        """Removes what is left of steps."""
        for entry in self.work.iterdir():
            shutil.rmtree(entry, ignore_errors=True)

    def state(self, name: str) -> Path:
        """The path of a state."""
        return self.folder.absolute() / STATES / name

    def commit(self, checkpoint: Checkpoint, moves: list[list[str]], removes: list[str]) -> None:
        """Makes a checkpoint the last one, and changes the tables accordingly.

        Args:
            checkpoint: What holds from now on.
            moves: Files of steps, and where they go, below OUT.
            removes: Files below OUT that don't belong to it any more.
        """
        checkpoint.epoch, checkpoint.run = self.checkpoint.epoch + 1, self.run
        inner = [[os.path.relpath(source, self.folder.absolute()), to] for source, to in moves]
        try:
            self.alone()
            for source, _ in moves:
                _synced(source)
            new = self.folder / f"{MANIFEST}.{self.run}"
            new.write_text(checkpoint.json(inner, removes), encoding="utf-8")
            _synced(new)
            self.moving = True
            os.replace(new, self.folder / MANIFEST)
            self.checkpoint = checkpoint
            _synced(self.folder)
            self.carry_out(inner, removes)
            self.moving = False
        except OSError as error:
            raise self.failed(error) from error

    def alone(self) -> None:
        """Raises WriteError if another process has committed since: where locks don't work, as on some file servers."""
        manifest = self.folder / MANIFEST
        if manifest.exists():
            last = load(manifest.read_text(encoding="utf-8"))[0]
            if (last.run, last.epoch) != (self.checkpoint.run, self.checkpoint.epoch):
                raise WriteError(f"{self.path}: another run has written to it meanwhile; end one of them")

    def carry_out(self, moves: Iterable[list[str]], removes: Iterable[str]) -> None:
        """Moves and removes files, unless that was done before."""
        for source, to in moves:
            path, final = self.inside(self.folder, source), self.inside(self.path, to)
            if path.exists():
                final.parent.mkdir(exist_ok=True)
                os.replace(path, final)
            elif not final.exists() and self.folder not in final.parents:  # without a state a capture is decoded anew
                raise WriteError(f"{final} is missing: OUT was changed by something else; choose another OUT")
        for name in removes:
            self.inside(self.path, name).unlink(missing_ok=True)

    def inside(self, place: Path, name: str) -> Path:
        """A file that the manifest names. Raises WriteError if it is elsewhere: others may be able to write to OUT."""
        path = place / name
        if ".." in path.parts or os.path.isabs(name):
            raise WriteError(f"{self.folder / MANIFEST} is damaged (it names {name}): choose another OUT")
        return path

    def forget_states(self) -> None:
        """Removes states that no capture has."""
        used = {capture.state.name for capture in self.checkpoint.captures if capture.state is not None}
        for path in (self.folder / STATES).iterdir():
            if path.name not in used:
                with suppress(OSError):
                    path.unlink()

    def failed(self, error: OSError) -> WriteError:
        """The error of the operating system, with what to do."""
        if error.errno == ENOSPC:
            return WriteError(f"{self.path}: the disk is full; all files up to now are kept: make room, start again")
        return unwritable(str(self.path), error)


def _synced(path: os.PathLike[str] | str) -> None:
    """Sees to it that a file, or the names in a directory, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # Windows, and file systems that can't
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
