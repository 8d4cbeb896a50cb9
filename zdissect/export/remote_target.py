"""Tables behind a URI. Nothing there is moved at once, as a directory is: parts are moved one by one when all are
complete, by renaming or, in an object store, by copying on its server; the `_SUCCESS` of each table comes last."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from zdissect.export.filesystems import OBJECT_STORES, UNFINISHED, below, exists, system_of
from zdissect.export.gathered_parts import ERROR, IGNORE, OVERWRITE, SUCCESS, GatheredParts
from zdissect.export.parquet import TableFile, WriteError, unwritable
from zdissect.export.tables import TABLES

T = TypeVar("T")


class RemoteTarget(GatheredParts):
    """The output of a run behind a URI. Its temporary place is below that: nothing else need be writable."""

    def __init__(self, place: str, mode: str = ERROR, success: bool = False) -> None:
        super().__init__(place, mode, success)
        self.system: Any = None
        self.root = ""
        self.waiting: dict[str, str] = {}
        """Where the parts are, by their final path."""

    def check(self) -> None:
        if self.mode in (ERROR, IGNORE) and reached(self.place, exists):
            raise self.taken()

    def __enter__(self) -> "RemoteTarget":
        self.check()
        self.system, root = reached(self.place, system_of)
        self.root = root.rstrip("/")
        self._made(f"{self.root}/{self.temporary}")
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.system.delete_dir(f"{self.root}/{self.temporary}")

    @property
    def temporary(self) -> str:
        """The name of the temporary place."""
        return f"{UNFINISHED}{self.run}"

    def _made(self, folder: str) -> None:
        """Makes a directory where there are any."""
        if self.system.type_name not in OBJECT_STORES:
            try:
                self.system.create_dir(folder)
            except (OSError, ValueError) as error:
                raise unwritable(self.place, error) from error

    def inside(self, name: str) -> str:
        return below(self.place, f"{self.temporary}/{name}")

    def take(self, path: str, part: TableFile) -> None:
        """Leaves it where it is: in an object store, moving it twice would be copying it twice."""
        self.waiting[f"{self.root}/{part.table}/{part.name}"] = system_of(path)[1]

    def discard(self, attempt: str) -> None:
        """Leaves it until everything temporary is removed."""

    def shown(self, problem: WriteError) -> WriteError:
        inside = below(self.place, self.temporary).partition("?")[0]
        return WriteError(str(problem).replace(inside, self.place.partition("?")[0]))

    def finish(self) -> None:
        self.check()
        old = [path for table in TABLES for path in self._files(f"{self.root}/{table}")]
        said = {path: self._content(path) for path in old if path.endswith(f"/{SUCCESS}")}
        moved: list[str] = []
        try:
            for path in said:
                self.system.delete_file(path)
            for table in TABLES:
                self._made(f"{self.root}/{table}")
            for final, path in self.waiting.items():
                self.system.move(path, final)
                moved.append(final)
        except BaseException:
            self._undo(moved, said)
            raise
        for path in old if self.mode == OVERWRITE else ():
            if path not in said:
                self.system.delete_file(path)
        for table in TABLES:
            self._write(f"{self.root}/{table}/{SUCCESS}", self.manifest(table))

    def _undo(self, moved: list[str], said: dict[str, bytes]) -> None:
        """Removes what was moved, and puts each `_SUCCESS` back, as far as the store lets it."""
        for final in moved:
            with suppress(OSError):
                self.system.delete_file(final)
        for path, content in said.items():
            with suppress(OSError):
                self._write(path, content)

    def _content(self, path: str) -> bytes:
        """All of a small file."""
        with self.system.open_input_stream(path) as file:
            return bytes(file.read())

    def _write(self, path: str, content: bytes) -> None:
        """Makes a small file."""
        with self.system.open_output_stream(path) as file:
            file.write(content)

    def _files(self, folder: str) -> list[str]:
        """The files in a directory, if there is one."""
        from pyarrow.fs import FileSelector, FileType

        entries = self.system.get_file_info(FileSelector(folder, allow_not_found=True))
        return [entry.path for entry in entries if entry.type == FileType.File]


def reached(uri: str, look: Callable[[str], T]) -> T:
    """The result of a look into a store. Raises WriteError if it can't be reached."""
    try:
        return look(uri)
    except (OSError, ValueError, NotImplementedError) as problem:
        why = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise WriteError(f"{uri}: it can't be reached ({why})") from problem
