"""Files that arrive in a directory: which have, as far as that can be seen, been written to their end.

A file counts when it hasn't changed for a while by the clock of this process. Its own time is only compared for
equality: clocks of cameras, robots and file servers go back.
"""

import os
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

from zdissect.export.families import TimeRange
from zdissect.export.inputs import InputFile
from zdissect.export.time_ranges import time_range_of

QUIET_S = 2.0
"""Seconds for which a file must not have changed."""
_ENDS = 4096
"""Bytes at either end of a file that tell whether it is still the same one. They hold times of frames."""


class Signature(NamedTuple):
    """What changes when a file is written to or replaced."""

    size: int
    mtime_ns: int
    inode: int


class Arrival(NamedTuple):
    """A file as it was when it was taken."""

    name: str
    """As in the column `file`."""
    signature: Signature
    ends: str
    """Checksum of its first and last bytes."""
    first_ns: int | None = None
    last_ns: int | None = None
    """Times of its first and last frame; None: it has none, or can't be read."""

    @property
    def time_range(self) -> TimeRange | None:
        """Its times."""
        return None if self.first_ns is None or self.last_ns is None else TimeRange(self.first_ns, self.last_ns)

    @classmethod
    def of(cls, values: list[Any]) -> "Arrival":
        """From JSON."""
        name, signature, *rest = values
        return cls(name, Signature(*signature), *rest)


class FileThere(NamedTuple):
    """A file that is there now."""

    file: InputFile
    signature: Signature


def signature_of(path: str) -> Signature | None:
    """The signature of a file; None if it has gone."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return Signature(status.st_size, status.st_mtime_ns, status.st_ino)


def ends_of(path: str, size: int) -> str:
    """The checksum of both ends of the first bytes of a file, as many as a size; empty if they can't be read."""
    try:
        with open(path, "rb") as file:
            first = file.read(min(size, _ENDS))
            file.seek(max(0, size - _ENDS))
            return blake2b(first + file.read(min(size, _ENDS)), digest_size=8).hexdigest()
    except OSError:
        return ""


def arrival(present: FileThere) -> Arrival:
    """Looks at a file."""
    file, signature = present
    if file.error:
        return Arrival(file.name, signature, "")
    times = time_range_of(file.path)
    return Arrival(file.name, signature, ends_of(file.path, signature.size), *(times or (None, None)))


def same_file(before: Arrival, present: FileThere) -> bool:
    """Whether a file begins with what it held when it was taken: it has only grown, if at all, or was copied anew."""
    size = before.signature.size
    if present.signature.size < size or present.file.error:
        return False
    return ends_of(present.file.path, size) == before.ends


class Settling:
    """Tells which files have stopped changing."""

    def __init__(self, quiet_s: float = QUIET_S) -> None:
        self.quiet_s = quiet_s
        self.seen: dict[str, tuple[Signature, float]] = {}
        """The files by name, and since when they are as they are."""

    def look(self, files: Iterable[InputFile], now_s: float) -> tuple[dict[str, FileThere], set[str]]:
        """(the files that are there, the names of those that have settled), at a time of a monotonic clock."""
        there: dict[str, FileThere] = {}
        settled: set[str] = set()
        seen: dict[str, tuple[Signature, float]] = {}
        for file in files:
            signature = signature_of(file.path)
            if signature is None:
                continue
            there[file.name] = FileThere(file._replace(size=signature.size), signature)
            before, since = self.seen.get(file.name, (None, now_s))
            seen[file.name] = signature, since if before == signature else now_s
            if now_s - seen[file.name][1] >= self.quiet_s:
                settled.add(file.name)
        self.seen = seen
        return there, settled
