"""Batches of tables to Parquet files, one file per table."""

from contextlib import suppress
from errno import ENOSPC
from types import TracebackType
from typing import BinaryIO, NamedTuple
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq

from zdissect.export.filesystems import below, create, make_directory
from zdissect.grammar.columns import CARRIED, FOLLOWING

GROUP_ROWS = 1 << 16
GROUP_BYTES = 64 << 20
"""Rows or bytes at which a row group is written: larger ones are faster to read, but are held in memory."""

_FREE = {
    *CARRIED, *FOLLOWING, "cookie", "ts", "ts_ns", "fields", "sn", "frame_number", "offset", "length", "message_index",
    "message_number",
}  # fmt: skip
"""Columns whose values hardly repeat, so that a dictionary costs time and gains nothing."""


class WriteError(Exception):
    """The output can't be written. The text says why and what to do; it can be pickled."""


class TableFile(NamedTuple):
    """A file with rows of a table."""

    table: str
    name: str
    rows: int
    size: int
    crc32: int
    """The checksum of its bytes."""


class CountedFile:
    """A file that is being written, as pyarrow takes it; counts and sums up its bytes. Raises OSError."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.size = self.crc32 = 0

    def write(self, data: bytes) -> int:
        """Takes the next bytes."""
        self.file.write(data)
        self.size += len(data)
        self.crc32 = crc32(data, self.crc32)
        return len(data)

    def tell(self) -> int:
        """Bytes so far."""
        return self.size

    def flush(self) -> None:
        """Passes on what is buffered."""
        self.file.flush()

    def close(self) -> None:
        """Ends the file."""
        self.file.close()

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self.file.closed


class Parts:
    """The files `TABLE.parquet` in a directory of their own, which is made; tables without rows have none.

    The directory above must exist: what a run that has ended wrote late doesn't come back.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.rows: dict[str, int] = {}
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._files: dict[str, CountedFile] = {}
        self._waiting: dict[str, list[pa.RecordBatch]] = {}
        self._sizes: dict[str, tuple[int, int]] = {}
        """Batches that wait, by table, with their rows and bytes: small captures make thousands of batches."""

    def __enter__(self) -> "Parts":
        try:
            make_directory(self.directory)
        except (OSError, ValueError) as error:
            raise unwritable(self.directory, error) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                self.close()
        finally:
            self._leave()

    def _leave(self) -> None:
        """Closes whatever is still open, after an error that was reported already."""
        for writer in self._writers.values():
            with suppress(OSError):
                writer.close()
            writer.is_open = False  # else it would try again when it is freed
        for file in self._files.values():
            with suppress(OSError):
                file.close()

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        """Takes a batch. Raises WriteError."""
        self._waiting.setdefault(table, []).append(batch)
        self.rows[table] = self.rows.get(table, 0) + batch.num_rows
        number, size = self._sizes.get(table, (0, 0))
        self._sizes[table] = number, size = number + batch.num_rows, size + batch.nbytes
        if number >= GROUP_ROWS or size >= GROUP_BYTES:
            self._flush(table)

    def close(self) -> None:
        """Writes what is left and ends the files. Raises WriteError."""
        try:
            for table in self._waiting:
                self._flush(table)
            for writer in self._writers.values():
                writer.close()
            for file in self._files.values():
                file.close()
        except OSError as error:
            raise unwritable(self.directory, error) from error

    def written(self) -> list[TableFile]:
        """The files, once they have ended."""
        return [
            TableFile(table, f"{table}.parquet", self.rows.get(table, 0), file.size, file.crc32)
            for table, file in self._files.items()
        ]

    def empty(self, table: str, kinds: pa.Schema) -> None:
        """Makes the file of a table that has no rows."""
        self._waiting.setdefault(table, []).append(pa.RecordBatch.from_pylist([], kinds))

    def _flush(self, table: str) -> None:
        waiting = self._waiting[table]
        if not waiting:
            return
        try:
            writer = self._writers.get(table) or self._open(table)
            rows = pa.Table.from_batches(waiting)
            writer.write_table(rows, row_group_size=max(1, rows.num_rows))
        except OSError as error:
            raise unwritable(self.directory, error) from error
        waiting.clear()
        self._sizes[table] = 0, 0

    def _open(self, table: str) -> pq.ParquetWriter:
        kinds = self._waiting[table][0].schema
        file = self._files[table] = CountedFile(create(below(self.directory, f"{table}.parquet")))
        repeating = [field.name for field in kinds if field.name not in _FREE and not pa.types.is_nested(field.type)]
        self._writers[table] = pq.ParquetWriter(file, kinds, compression="zstd", use_dictionary=repeating)
        return self._writers[table]


def unwritable(path: str, error: Exception) -> WriteError:
    """The WriteError for an error of the operating system or of a store, with what to do."""
    why = getattr(error, "strerror", None) or next(iter(str(error).splitlines()), type(error).__name__)
    if getattr(error, "errno", None) == ENOSPC:
        return WriteError(f"{path}: the disk is full; nothing was kept: make room, or choose another place with -o")
    return WriteError(f"{path}: it cannot be written ({why})")
