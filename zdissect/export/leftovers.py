"""Temporary directories that killed runs have left behind, told from those of runs that are still under way.

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
from typing import IO

try:
    import fcntl
except ImportError:  # not on Windows: there nothing is removed
    fcntl = None  # type: ignore[assignment]

_OWNER = "_owner"
OLD, APPENDED = "_old", "_appended"
"""In a temporary directory: the tables that are being replaced, and the list of parts that are being moved to where
others are already."""


def temporary(out: Path, run: str) -> Path:
    """The temporary directory of a run, next to its output."""
    return out.absolute().parent / f".{out.name}.{run}.tmp"


def claim(folder: Path) -> IO[str]:
    """Makes a temporary directory that of this process, for as long as the returned file is open. Raises OSError."""
    owner = open(folder / f"{_OWNER}.new", "w", encoding="utf-8")  # noqa: SIM115  # it stays open
    owner.write(socket.gethostname())
    owner.flush()
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rename(owner.name, folder / _OWNER)
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


def recover(out: Path) -> None:
    """Undoes what killed runs have left of an output: the old tables are in their place again, parts that were half
    appended are gone, and so are temporary directories. Raises OSError."""
    if not out.absolute().parent.is_dir():
        return
    name = re.compile(rf"\.{re.escape(out.name)}\.\w+\.tmp")
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
