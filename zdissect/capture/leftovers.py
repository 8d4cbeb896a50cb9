"""Temporary directories next to outputs: what is written there gets its name once it is complete. Those that killed
runs have left behind are told from those of runs that are still under way.

A run holds a lock on a file in its temporary directory, which names its machine. The lock ends with the process,
however that ends. Where another machine is named, or there is no such lock, nothing is known, and nothing is removed.
"""

import json
import os
import re
import shutil
import socket
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import IO
from zlib import crc32

try:
    import fcntl
except ImportError:  # not on Windows: there nothing is removed
    fcntl = None  # type: ignore[assignment]

_OWNER = "_owner"
OLD, APPENDED = "_old", "_appended"
"""In a temporary directory: the tables that are being replaced, and the list of parts that are being moved to where
others are already."""

_LONGEST = 200
"""Bytes of a name to which the rest of that of a temporary directory can be added: most file systems take 255."""


class Temporary:
    """A temporary directory next to an output, as a context, at whose end it goes with all that is in it. What killed
    runs have left of the same output is undone first.

    Args:
        out: The output.
        run: What tells the directory from those of other runs.

    Raises OSError, which names the output, if there can't be one.
    """

    def __init__(self, out: str | Path, run: str = "") -> None:
        self.out = Path(os.path.abspath(out))
        self.path = temporary(self.out, run or token_hex(4))
        self.removed: list[str] = []
        """What killed runs had left, and is gone now."""
        self._owner: IO[str] | None = None

    def __enter__(self) -> "Temporary":
        try:
            self.removed = recover(self.out)
            self.path.mkdir()
            self._owner = claim(self.path)
        except BaseException as problem:
            discard(self.path)
            if isinstance(problem, OSError):  # the user knows nothing of the directory
                raise OSError(problem.errno, problem.strerror, str(self.out)) from problem
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        discard(self.path)
        if self._owner is not None:
            with suppress(OSError):  # all that is buffered is the name of this machine
                self._owner.close()

    def put(self, name: str) -> None:
        """Gives what is complete its place, in one step where nothing but a file is there."""
        made, old = self.path / name, self.path / OLD
        if self.out.is_dir() and not self.out.is_symlink():
            self.out.rename(old)
        try:
            os.replace(made, self.out)
        except BaseException:
            if old.is_dir() and not os.path.lexists(self.out):
                old.rename(self.out)
            raise


def write_text(path: str, text: str) -> list[str]:
    """Writes a text to a file, which is complete, or as it was. Returns what killed runs had left; raises OSError."""
    how = {"encoding": "utf-8", "errors": "backslashreplace"}
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a device, a named pipe
            Path(path).write_text(text, **how)
            return []
        with Temporary(os.path.realpath(path)) as folder:
            (folder.path / "text").write_text(text, **how)
            folder.put("text")
            return folder.removed
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, path) from problem


def temporary(out: Path, run: str) -> Path:
    """The temporary directory of a run, next to its output."""
    return out.absolute().parent / f".{_short(out.name)}.{run}.tmp"


def _short(name: str) -> str:
    """A name, or what tells a long one from others."""
    data = os.fsencode(name)
    return name if len(data) <= _LONGEST else f"{os.fsdecode(data[: _LONGEST - 9])}-{crc32(data):08x}"


def claim(folder: Path) -> IO[str]:
    """Makes a temporary directory that of this process, for as long as the returned file is open. Raises OSError."""
    owner = open(folder / f"{_OWNER}.new", "w", encoding="utf-8")  # noqa: SIM115  # it stays open
    try:
        owner.write(socket.gethostname())
        owner.flush()
    except OSError:
        with suppress(OSError):  # what it couldn't write, it can't write now
            owner.close()
        raise
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rename(owner.name, folder / _OWNER)
    return owner


def lock(folder: Path) -> IO[str] | None:
    """Takes a folder for this process, for as long as the returned file is open; None if another process has it.

    Where there are no locks, every process may have it. Raises OSError.
    """
    owner = open(folder / _OWNER, "a", encoding="utf-8")  # noqa: SIM115  # it stays open
    if fcntl is None:
        return owner
    try:
        fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner.close()
        return None
    except OSError:  # a file system without locks
        pass
    return owner


def _abandoned(folder: Path) -> IO[str] | None:
    """The owner's file of a directory, locked, if its run is over for certain."""
    if fcntl is None:
        return None
    try:
        owner = open(folder / _OWNER, "r+", encoding="utf-8")  # noqa: SIM115  # it stays open
    except OSError:
        return None
    with suppress(OSError):
        if owner.read() == socket.gethostname():
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return owner
    owner.close()
    return None


def recover(out: Path) -> list[str]:
    """Undoes what killed runs have left of an output: what was there before is in its place again, parts that were half
    appended are gone, and so are temporary directories, which are returned. Raises OSError."""
    removed: list[str] = []
    if not out.absolute().parent.is_dir():
        return removed
    name = re.compile(rf"\.{re.escape(_short(out.name))}\.\w+\.tmp")
    for folder in [entry for entry in out.absolute().parent.iterdir() if name.fullmatch(entry.name)]:
        owner = _abandoned(folder)
        if owner is None:
            continue
        with owner:
            if (folder / OLD).is_dir() and not os.path.lexists(out):
                (folder / OLD).rename(out)
            for part in _appended(folder):
                (out / part).unlink(missing_ok=True)
            discard(folder)
            removed.append(str(folder))
    return removed


def _appended(folder: Path) -> list[str]:
    """The parts that were being appended."""
    try:
        names = json.loads((folder / APPENDED).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # nothing was appended before this list was complete
        return []
    return [name for name in names if isinstance(name, str)]


def discard(folder: Path) -> None:
    """Removes a temporary directory. It gets another name first: what still writes into it no longer finds it."""
    other = folder.with_name(f"{folder.name.rsplit('.', 2)[0]}.{token_hex(4)}.tmp")
    with suppress(OSError):
        folder.rename(other)
        folder = other
    for entry in [*folder.iterdir()] if folder.is_dir() else []:
        if entry.name != _OWNER:  # last: what is killed here can still be told
            shutil.rmtree(entry, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
