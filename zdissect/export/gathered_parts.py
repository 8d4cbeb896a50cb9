"""The parts of tables that tasks have written, gathered in a temporary place until all are there."""

import json
from abc import ABC, abstractmethod
from secrets import token_hex

from zdissect.export import filesystems
from zdissect.export.parquet import Parts, TableFile, WriteError, unwritable
from zdissect.export.schema import ros2_schema, schema
from zdissect.export.tables import MESSAGES, TABLES

ERROR, APPEND, OVERWRITE, IGNORE = "error", "append", "overwrite", "ignore"
MODES = (ERROR, APPEND, OVERWRITE, IGNORE)
"""What to do if the output exists: the save modes of Spark."""
SUCCESS = "_SUCCESS"
"""The file that says that a table is complete. It names the parts of the last run, as JSON."""


class GatheredParts(ABC):
    """The output of a run: a context that leaves nothing behind unless `commit` was called.

    Args:
        place: The directory or URI.
        mode: One of `MODES`.
        success: Whether each table gets a `_SUCCESS`.
    """

    def __init__(self, place: str, mode: str = ERROR, success: bool = False) -> None:
        self.place = place
        self.mode = mode
        self.success = success
        self.run = token_hex(4)
        """What is in the names of its parts: runs that are appended have different ones."""
        self.parts: dict[str, list[TableFile]] = {table: [] for table in TABLES}
        self.attempts = self.number = 0
        self.ros2 = False
        """Whether messages have the columns of ROS 2."""

    @abstractmethod
    def check(self) -> None:
        """Raises WriteError if the mode forbids writing there."""

    @abstractmethod
    def __enter__(self) -> "GatheredParts": ...

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    @abstractmethod
    def inside(self, name: str) -> str:
        """The path or URI of something in the temporary place."""

    @abstractmethod
    def take(self, path: str, part: TableFile) -> None:
        """Moves a file to where the parts of its table wait. Raises OSError."""

    @abstractmethod
    def discard(self, attempt: str) -> None:
        """Removes the directory of a task, with all that is left in it."""

    @abstractmethod
    def shown(self, problem: WriteError) -> WriteError:
        """The error with the path that users know, not the temporary one."""

    @abstractmethod
    def finish(self) -> None:
        """Moves the tables to their place. Raises OSError or WriteError."""

    def attempt(self) -> str:
        """The path of a new directory for the files of one task, which makes it."""
        self.attempts += 1
        return self.inside(f"_{self.attempts}")

    def accept(self, attempt: str, parts: list[TableFile]) -> None:
        """Takes over the files of a task that succeeded. Raises WriteError if one isn't there as it was written."""
        try:
            for part in parts:
                path = filesystems.below(attempt, part.name)
                arrived(path, part)
                named = part._replace(name=f"part-{self.number:05d}-{self.run}.parquet")
                self.take(path, named)
                self.parts[part.table].append(named)
            self.number += 1
            self.discard(attempt)
        except OSError as error:
            raise unwritable(self.place, error) from error

    def commit(self) -> None:
        """Makes the tables whole and moves them to their place. If it raises WriteError, nothing has changed."""
        attempt = self.attempt()
        with Parts(attempt) as parts:
            for table in TABLES:
                if not self.parts[table]:
                    parts.empty(table, ros2_schema() if self.ros2 and table == MESSAGES else schema(table))
        self.accept(attempt, parts.written())
        try:
            self.finish()
        except OSError as error:
            raise unwritable(self.place, error) from error

    def manifest(self, table: str) -> bytes:
        """The content of `_SUCCESS`: the parts that this run adds to a table, with rows, bytes and checksums."""
        parts = [part._asdict() for part in self.parts[table]]
        return json.dumps({"parts": parts}, indent=1).encode() + b"\n"

    def taken(self) -> WriteError:
        """The error if something is there that may not be changed."""
        return WriteError(f"{self.place} exists: choose another place, or --mode append, overwrite or ignore")


def arrived(path: str, part: TableFile) -> None:
    """Raises WriteError if a part isn't there, or has another size than its task said."""
    size = filesystems.size_of(path)
    if size != part.size:
        what = "hasn't arrived" if size is None else f"has {size} of {part.size} bytes"
        raise WriteError(
            f"{path} {what}: all machines must see OUT as this one does; choose a place that all share, or a URI"
        )
