"""The captures in a directory, wherever it is."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from urllib.parse import quote

from zdissect.export import families
from zdissect.export.filesystems import below, everywhere, is_remote, local, require, system_of
from zdissect.export.inputs import InputFile, find


def list_inputs(path: str, include: Iterable[str] = ()) -> list[InputFile]:
    """The captures in a directory and all below it, or one file, with paths that other processes can open.

    Behind a URI the name alone tells what is a capture. Raises OSError if there is no such place, or it can't be
    listed.
    """
    if not is_remote(path):
        require(path)
        return [file._replace(path=everywhere(file.path), shown=file.path) for file in find(local(path), include)]
    from pyarrow.fs import FileSelector, FileType, PyFileSystem

    system, base = system_of(path)
    info = system.get_file_info(base)
    if info.type == FileType.File:
        return [InputFile(base.rpartition("/")[2], path, info.size or 0)]
    patterns = tuple(include)
    out = []
    for entry in system.get_file_info(FileSelector(base, recursive=True)):
        name = entry.path[len(base) :].lstrip("/")
        if entry.type == FileType.File and _wanted(name, patterns):
            part = name if isinstance(system, PyFileSystem) else quote(name)  # fsspec takes URIs as they are
            out.append(InputFile(name, below(path, part), entry.size or 0))
    return sorted(out)


def _wanted(name: str, patterns: tuple[str, ...]) -> bool:
    if patterns:
        return any(fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("/")[2], pattern) for pattern in patterns)
    hidden = any(folder.startswith(".") for folder in name.split("/")[:-1])
    return not hidden and families.NAMED.fullmatch(name) is not None
