"""The output directory: tables are gathered in a temporary directory next to it, and moved when all are complete."""

import json
import os
import re
import shutil
from pathlib import Path

from zdissect.capture import leftovers
from zdissect.capture.leftovers import APPENDED, OLD, Temporary
from zdissect.export.gathered_parts import APPEND, ERROR, IGNORE, OVERWRITE, SUCCESS, GatheredParts
from zdissect.export.parquet import TableFile, WriteError, unwritable
from zdissect.export.tables import TABLES

FOLLOWED = "_follow"
"""The folder in an output that is followed (`zdissect/growing`): nothing else may write there."""
_OURS = frozenset(TABLES) | {SUCCESS, "._SUCCESS.crc"}


class Target(GatheredParts):
    """The output of a run in a local directory."""

    def __init__(self, place: str, mode: str = ERROR, success: bool = False) -> None:
        super().__init__(place, mode, success)
        self.path = Path(place)
        self.folder = Temporary(self.path, self.run)
        self.temporary = self.folder.path
        self.tables = self.temporary / "_tables"
        """The new tables, apart from where tasks write: one that comes too late doesn't reach them."""

    @property
    def exists(self) -> bool:
        """Whether the output exists already; an empty directory doesn't count."""
        if self.path.is_dir():
            return any(self.path.iterdir())
        return os.path.lexists(self.path)

    def check(self) -> None:
        """Raises WriteError if the mode forbids writing there. Undoes what killed runs have left of it."""
        try:
            leftovers.recover(self.path)
            if not self.exists:
                return
            if self.mode in (ERROR, IGNORE):
                raise self.taken()
            if (self.path / FOLLOWED).exists():
                raise WriteError(f"{self.path} was made by --follow, which can go on with it: choose another place")
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
            self.temporary.parent.mkdir(parents=True, exist_ok=True)
            self.folder.__enter__()
            try:
                for table in TABLES:
                    (self.tables / table).mkdir(parents=True)
            except BaseException:
                self.folder.__exit__(None, None, None)
                raise
        except OSError as error:
            raise unwritable(str(self.path), error) from error
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.__exit__(None, None, None)

    def inside(self, name: str) -> str:
        return str(self.temporary / name)

    def take(self, path: str, part: TableFile) -> None:
        os.rename(path, self.tables / part.table / part.name)

    def discard(self, attempt: str) -> None:
        shutil.rmtree(attempt, ignore_errors=True)

    def shown(self, problem: WriteError) -> WriteError:
        inside = rf"{re.escape(str(self.temporary))}(/[\w.-]+)*"
        return WriteError(re.sub(inside, lambda _: str(self.path), str(problem)))

    def finish(self) -> None:
        for table in TABLES if self.success else ():
            (self.tables / table / SUCCESS).write_bytes(self.manifest(table))
        if self.exists and self.mode == APPEND:
            self._append()
        elif self.exists:
            self._replace()
        else:
            self.tables.rename(self.path)

    def _replace(self) -> None:
        """Replaces the old tables by the new ones; the old ones are removed last."""
        if self.mode != OVERWRITE:
            raise WriteError(f"{self.path} exists now: another run has written it meanwhile; choose another place")
        old = self.temporary / OLD
        self.path.rename(old)
        try:
            self.tables.rename(self.path)
        except BaseException:
            if not self.exists:
                old.rename(self.path)
            raise

    def _append(self) -> None:
        """Moves the new files next to the old ones; all or none."""
        names = [f"{table}/{part.name}" for table in TABLES for part in self.parts[table]]
        (self.temporary / APPENDED).write_text(json.dumps(names), encoding="utf-8")
        moved: list[Path] = []
        try:
            for table in TABLES:
                (self.path / table).mkdir(exist_ok=True)
            for name in names:
                (self.tables / name).rename(self.path / name)
                moved.append(self.path / name)
            for table in TABLES if self.success else ():
                os.replace(self.tables / table / SUCCESS, self.path / table / SUCCESS)
        except BaseException:
            for final in moved:
                final.unlink(missing_ok=True)
            raise
        (self.temporary / APPENDED).unlink()
