"""The output directory: tables are gathered in a temporary directory next to it, and moved when all are complete."""

import os
import re
import shutil
import tempfile
from pathlib import Path

from zdissect.export.parquet import Parts, WriteError, unwritable
from zdissect.export.tables import TABLES

ERROR, APPEND, OVERWRITE, IGNORE = "error", "append", "overwrite", "ignore"
MODES = (ERROR, APPEND, OVERWRITE, IGNORE)
"""What to do if the output exists: the save modes of Spark."""

_OURS = frozenset(TABLES) | {"_SUCCESS", "._SUCCESS.crc"}


class Target:
    """The output of a run: a context that leaves nothing behind unless `commit` was called."""

    def __init__(self, path: str, mode: str = ERROR) -> None:
        self.path = Path(path)
        self.mode = mode
        self.temporary = Path()
        self.number = 0

    @property
    def exists(self) -> bool:
        """Whether the output exists already; an empty directory doesn't count."""
        if self.path.is_dir():
            return any(self.path.iterdir())
        return os.path.lexists(self.path)

    def check(self) -> None:
        """Raises WriteError if the mode forbids writing there."""
        try:
            if not self.exists:
                return
            if self.mode == ERROR:
                raise WriteError(f"{self.path} exists: choose another place, or --mode append, overwrite or ignore")
            if not self.path.is_dir():
                raise WriteError(f"{self.path} isn't a directory: choose another place")
            others = sorted(entry.name for entry in self.path.iterdir() if entry.name not in _OURS)
            if others:
                raise WriteError(f"{self.path} holds other things besides tables ({others[0]}): choose another place")
        except OSError as error:
            raise unwritable(str(self.path), error) from error

    def __enter__(self) -> "Target":
        self.check()
        try:
            parent = self.path.absolute().parent
            parent.mkdir(parents=True, exist_ok=True)
            self.temporary = Path(tempfile.mkdtemp(".tmp", f".{self.path.name}.", parent))
            for table in TABLES:
                (self.temporary / table).mkdir()
        except OSError as error:
            raise unwritable(str(self.path), error) from error
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.temporary, ignore_errors=True)

    def attempt(self, name: str) -> Path:
        """An empty directory for the files of one task; removes those of an earlier attempt."""
        path = self.temporary / f"_{name}"
        shutil.rmtree(path, ignore_errors=True)
        try:
            path.mkdir()
        except OSError as error:
            raise unwritable(str(self.path), error) from error
        return path

    def discard(self, attempt: str) -> None:
        """Removes the files of a task that failed."""
        shutil.rmtree(attempt, ignore_errors=True)

    def shown(self, problem: WriteError) -> WriteError:
        """The error with the path that users know, not the temporary one."""
        return WriteError(re.sub(rf"{re.escape(str(self.temporary))}(/_\w+)?", lambda _: str(self.path), str(problem)))

    def accept(self, attempt: Path) -> None:
        """Takes over the files of a task that succeeded."""
        try:
            for table in TABLES:
                part = attempt / f"{table}.parquet"
                if part.exists():
                    part.rename(self.temporary / table / self._name())
            self.number += 1
            attempt.rmdir()
        except OSError as error:
            raise unwritable(str(self.path), error) from error

    def commit(self) -> None:
        """Moves the tables to their place. If it raises WriteError, nothing has changed."""
        self._fill()
        try:
            if self.exists and self.mode == APPEND:
                self._append()
            elif self.exists:
                self._replace()
            else:
                self.temporary.chmod(0o777 & ~_umask())
                self.temporary.rename(self.path)
        except OSError as error:
            raise unwritable(str(self.path), error) from error

    def _name(self) -> str:
        """The name of the next part; runs that are appended have different ones."""
        run = self.temporary.name.rsplit(".", 2)[1]
        return f"part-{self.number:05d}-{run}.parquet"

    def _fill(self) -> None:
        """Gives every table a file, so that it can be read."""
        attempt = self.attempt("empty")
        with Parts(str(attempt)) as parts:
            for table in TABLES:
                if not any((self.temporary / table).iterdir()):
                    parts.empty(table)
        self.accept(attempt)

    def _replace(self) -> None:
        """Replaces the old tables by the new ones; the old ones are removed last."""
        old = self.temporary.with_suffix(".old")
        self.path.rename(old)
        try:
            self.temporary.chmod(0o777 & ~_umask())
            self.temporary.rename(self.path)
        except BaseException:
            old.rename(self.path)
            raise
        shutil.rmtree(old, ignore_errors=True)

    def _append(self) -> None:
        """Moves the new files next to the old ones; all or none."""
        moved: list[Path] = []
        try:
            for table in TABLES:
                (self.path / table).mkdir(exist_ok=True)
                for part in sorted((self.temporary / table).iterdir()):
                    final = self.path / table / part.name
                    part.rename(final)
                    moved.append(final)
        except BaseException:
            for final in moved:
                final.unlink(missing_ok=True)
            raise


def _umask() -> int:
    """The user's umask: temporary directories are made for the user alone."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
