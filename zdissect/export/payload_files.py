"""Payloads as files: one for each, and an index that says what they are. One payload is held at a time.

Each has its name once it is complete, and the index when all are: nothing that was cut short looks whole.
"""

import csv
import json
import os
from collections.abc import Mapping
from types import TracebackType
from typing import IO, Any

from zdissect.capture.leftovers import Temporary
from zdissect.export.payload_names import payload_name

INDEX = ("index.csv", "index.jsonl")
COLUMNS = ("file", "length", "key_expr", "ts", "frame_number", "message", "body", "encoding", "src", "dst", "capture")
"""Columns of the index: `ts` is the capture time in nanoseconds since 1970 UTC."""


class AlreadyThere(Exception):
    """A file exists and must not be overwritten."""


class PayloadFiles:
    """A directory that payloads are written to, as a context.

    Args:
        directory: Its path; it is created if necessary.
        force: Whether existing files may be overwritten.

    Raises AlreadyThere if an index or a payload exists already, and OSError, with its name, if one can't be written.
    """

    def __init__(self, directory: str, force: bool = False) -> None:
        self.directory = directory
        self.force = force
        self.payloads = 0
        """Payloads written so far."""
        self.bytes = 0
        """Their bytes."""
        self.folder = Temporary(self._path(INDEX[0]))  # within the directory, which may be a file system of its own

    def __enter__(self) -> "PayloadFiles":
        os.makedirs(self.directory, exist_ok=True)
        if not self.force and (known := [name for name in INDEX if os.path.lexists(self._path(name))]):
            raise AlreadyThere(f"{self._path(known[0])} already exists: choose another directory, or --force")
        for name in INDEX:
            self._free(name)
        self.folder.__enter__()
        try:
            self._table, self._lines = map(self._open, INDEX)
        except BaseException:
            self.folder.__exit__(None, None, None)
            raise
        self._rows = csv.writer(self._table)
        self._rows.writerow(COLUMNS)
        return self

    def write(self, row: Mapping[str, Any]) -> str:
        """Writes the payload of a row of the message table; returns the name of its file."""
        data: bytes = row["payload"]
        name = payload_name(self.payloads + 1, row.get("key_expr"), row.get("encoding"))
        self._free(name)
        try:
            (self.folder.path / name).write_bytes(data)
            self._put(name)
        except OSError as problem:
            raise self._named(problem, name) from problem
        self.payloads += 1
        self.bytes += len(data)
        values = (
            name, len(data), row.get("key_expr"), row["ts_ns"], row["frame_number"], row["message"], row.get("body"),
            row.get("encoding"), _end(row, "src"), _end(row, "dst"), row["file"],
        )  # fmt: skip
        try:
            self._rows.writerow(values)
            self._lines.write(json.dumps(dict(zip(COLUMNS, values, strict=True))) + "\n")
        except OSError as problem:
            raise self._named(problem, INDEX[0]) from problem
        return name

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            with self._table, self._lines:
                pass
            if kind is None:
                for name in INDEX:
                    self._put(name)
        except OSError as problem:
            raise self._named(problem, INDEX[0]) from problem
        finally:
            self.folder.__exit__(kind, error, at)

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def _open(self, name: str) -> IO[str]:
        return open(self.folder.path / name, "x", encoding="utf-8", errors="backslashreplace", newline="")

    def _free(self, name: str) -> None:
        """Makes sure that nothing has a name: with `force` what has it is removed, and links aren't followed."""
        path = self._path(name)
        if not os.path.lexists(path):
            return
        if not self.force:
            raise AlreadyThere(f"{path} already exists: choose another directory, or --force")
        os.unlink(path)

    def _put(self, name: str) -> None:
        """Gives what is complete its name."""
        os.rename(self.folder.path / name, self._path(name))

    def _named(self, problem: OSError, name: str) -> OSError:
        """An error that says which file can't be written, and not how."""
        return OSError(problem.errno, problem.strerror, self._path(name))


def _end(row: Mapping[str, Any], prefix: str) -> str | None:
    """An end of the conversation, as text."""
    address, port = row.get(f"{prefix}_ip"), row.get(f"{prefix}_port")
    if address is None:
        return None
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
