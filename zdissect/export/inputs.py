"""The captures of a directory: which files there are, and which of them are one capture."""

import os
import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from zdissect.capture import signatures
from zdissect.capture.packed import PackedStream
from zdissect.capture.packings import packing_of
from zdissect.export import families
from zdissect.export.families import AUTO, TimeRange
from zdissect.export.time_ranges import time_range_of


class InputFile(NamedTuple):
    """A file to convert."""

    name: str
    """Relative to the directory, with / between folders: the column `file`."""
    path: str
    size: int
    error: str = ""
    """Why it can't be opened, if that is known already."""
    shown: str = ""
    """The path as the user gave it, if that is another one."""


class Work(NamedTuple):
    """One capture: its files in order. Those of an inner tuple overlap in time and are merged frame by frame."""

    merges: tuple[tuple[InputFile, ...], ...]

    @property
    def inputs(self) -> tuple[InputFile, ...]:
        """All its files."""
        return tuple(file for merged in self.merges for file in merged)

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.inputs)


def find(directory: str, include: Iterable[str] = ()) -> list[InputFile]:
    """The captures in a directory and all below it, by name or, whatever their name, by their first bytes.

    With patterns, only files whose relative path or bare name matches one of them. `directory` may be a single file.
    Folders whose name begins with a dot, and folders that are links, are skipped.
    """
    patterns = tuple(include)
    if not os.path.isdir(directory):
        return [_input(os.path.basename(directory), directory)]
    out = []
    for name, path, error in _walk(directory):
        if error:
            out.append(InputFile(_text(name), path, 0, error))
        elif patterns:
            if any(fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("/")[2], pattern) for pattern in patterns):
                out.append(_input(name, path))
        elif families.NAMED.fullmatch(name) or _is_capture(path):
            out.append(_input(name, path))
    return sorted(out)


def _walk(directory: str) -> Iterator[tuple[str, str, str]]:
    """(relative name, path, error) of all files; a folder that can't be read comes with its error."""
    failed: list[OSError] = []
    for folder, below, files in os.walk(directory, onerror=failed.append):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for file in files:
            path = os.path.join(folder, file)
            yield os.path.relpath(path, directory).replace(os.sep, "/"), path, ""
    for problem in failed:
        path = str(problem.filename)
        name = os.path.relpath(path, directory).replace(os.sep, "/")
        yield name, path, f"{name}: the directory can't be read ({problem.strerror}): ask for read access"


def _input(name: str, path: str) -> InputFile:
    name = _text(name)
    try:
        status = os.stat(path)
    except OSError:
        return InputFile(name, path, 0)  # opening it says what is wrong
    if not stat.S_ISREG(status.st_mode):
        return InputFile(name, path, 0, f"{name}: it is a pipe, a socket or a device, not a file; give files to batch")
    return InputFile(name, path, status.st_size)


def _text(name: str) -> str:
    """A name that a column can hold: bytes that aren't UTF-8 are escaped."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _is_capture(path: str) -> bool:
    """Whether a file, or what is packed in it, begins like a capture."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            head = file.read(signatures.MAGIC_SIZE)
            if packing := packing_of(head):
                head = PackedStream(packing, head, file).read(signatures.MAGIC_SIZE)
            return head in signatures.CAPTURES
    except OSError:
        return False


def plan(files: list[InputFile], mode: str = AUTO) -> list[Work]:
    """The captures, each with the files that form it."""
    by_name = {file.name: file for file in files}

    def time_range(name: str) -> TimeRange | None:
        return None if by_name[name].error else time_range_of(by_name[name].path)

    planned = families.plan(by_name, time_range, mode)
    return [Work(tuple(tuple(by_name[name] for name in group) for group in capture)) for capture in planned]
