"""Payloads as files: one for each, and an index that says what they are. One payload is held at a time."""

import csv
import json
import os
from collections.abc import Mapping
from types import TracebackType
from typing import IO, Any

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

    Raises AlreadyThere if an index or a payload exists already, and OSError if they can't be written.
    """

    def __init__(self, directory: str, force: bool = False) -> None:
        self.directory = directory
        self.force = force
        self.payloads = 0
        """Payloads written so far."""
        self.bytes = 0
        """Their bytes."""

    def __enter__(self) -> "PayloadFiles":
        os.makedirs(self.directory, exist_ok=True)
        if not self.force and (known := [name for name in INDEX if os.path.lexists(self._path(name))]):
            raise AlreadyThere(f"{self._path(known[0])} already exists: choose another directory, or --force")
        self._table = self._open(INDEX[0])
        self._lines = self._open(INDEX[1])
        self._rows = csv.writer(self._table)
        self._rows.writerow(COLUMNS)
        return self

    def write(self, row: Mapping[str, Any]) -> str:
        """Writes the payload of a row of the message table; returns the name of its file."""
        data: bytes = row["payload"]
        name = payload_name(self.payloads + 1, row.get("key_expr"), row.get("encoding"))
        with self._new(name, "b") as file:
            file.write(data)
        self.payloads += 1
        self.bytes += len(data)
        values = (
            name, len(data), row.get("key_expr"), row["ts_ns"], row["frame_number"], row["message"], row.get("body"),
            row.get("encoding"), _end(row, "src"), _end(row, "dst"), row["file"],
        )  # fmt: skip
        self._rows.writerow(values)
        self._lines.write(json.dumps(dict(zip(COLUMNS, values, strict=True))) + "\n")
        return name

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._table.close()
        self._lines.close()

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def _open(self, name: str) -> IO[str]:
        return self._new(name, "")

    def _new(self, name: str, kind: str) -> IO[Any]:
        """A new file; with `force` it replaces an existing one, without following links."""
        path = self._path(name)
        if self.force and os.path.lexists(path):
            os.unlink(path)
        text = {} if kind else {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
        try:
            return open(path, "x" + kind, **text)  # type: ignore[call-overload, no-any-return]
        except FileExistsError:
            raise AlreadyThere(f"{path} already exists: choose another directory, or --force") from None


def _end(row: Mapping[str, Any], prefix: str) -> str | None:
    """An end of the conversation, as text."""
    address, port = row.get(f"{prefix}_ip"), row.get(f"{prefix}_port")
    if address is None:
        return None
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
