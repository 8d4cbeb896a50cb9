"""Captures wherever Spark's storage is: local paths, and URIs by pyarrow's file systems.

`s3a://` and `s3n://`, Hadoop's names, are S3. What comes from pyarrow is read through a buffer of a megabyte: that is
five times as fast as its own small reads.
"""

import io
import os
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from zdissect.capture import CaptureError
from zdissect.capture.capture_file import Capture
from zdissect.export import families
from zdissect.export.inputs import InputFile, find

_BUFFER = 1 << 20
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_remote(path: str) -> bool:
    """Whether a path is a URI of something else than the local file system."""
    return bool(_SCHEME.match(path)) and not path.startswith("file://")


def local(path: str) -> str:
    """A local path without `file://`."""
    return unquote(urlsplit(path).path) if path.startswith("file:") else path


def everywhere(path: str) -> str:
    """A path as workers can open it, which may have another working directory."""
    return path if is_remote(path) else os.path.abspath(path)


def list_inputs(path: str, include: Iterable[str] = ()) -> list[InputFile]:
    """The captures in a directory and all below it, or one file, as `zdissect batch` finds them.

    Behind a URI the name alone tells what is a capture. Raises OSError if there is no such place, or it can't be
    listed.
    """
    if not is_remote(path):
        require(path)
        return find(local(path), include)
    from pyarrow.fs import FileSelector, FileType, PyFileSystem

    system, base = _system(path)
    info = system.get_file_info(base)
    if info.type == FileType.File:
        return [InputFile(base.rpartition("/")[2], path, info.size or 0)]
    patterns = tuple(include)
    out = []
    for entry in system.get_file_info(FileSelector(base, recursive=True)):
        name = entry.path[len(base) :].lstrip("/")
        if entry.type == FileType.File and _wanted(name, patterns):
            part = name if isinstance(system, PyFileSystem) else quote(name)  # fsspec takes URIs as they are
            out.append(InputFile(name, _below(path, part), entry.size or 0))
    return sorted(out)


def _below(uri: str, name: str) -> str:
    """The URI of something in a directory, whose own may have a query: `s3://bucket/captures?region=eu-west-1`."""
    base, mark, query = uri.partition("?")
    return f"{base.rstrip('/')}/{name}{mark}{query}"


def _wanted(name: str, patterns: tuple[str, ...]) -> bool:
    if patterns:
        return any(fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("/")[2], pattern) for pattern in patterns)
    hidden = any(folder.startswith(".") for folder in name.split("/")[:-1])
    return not hidden and families.NAMED.fullmatch(name) is not None


def open_input(path: str, name: str) -> Capture:
    """A capture, wherever it is. Raises CaptureError."""
    if not is_remote(path):
        return Capture(path, name)
    try:
        system, inner = _system(path)
        file = io.BufferedReader(system.open_input_file(inner), _BUFFER)
    except (OSError, ValueError, NotImplementedError) as error:
        raise CaptureError(path, f"it cannot be opened ({error})") from error
    return Capture(path, name, file)


def require(path: str) -> None:
    """Raises FileNotFoundError if there is nothing at a path or URI."""
    if is_remote(path):
        from pyarrow.fs import FileType

        system, inner = _system(path)
        there = system.get_file_info(inner).type != FileType.NotFound
    else:
        there = os.path.exists(local(path))
    if not there:
        raise FileNotFoundError(f"{path}: there is no such file or directory")


def exists(path: str) -> bool:
    """Whether there is something at a path or URI; an empty directory isn't."""
    if not is_remote(path):
        folder = local(path)
        return bool(os.listdir(folder)) if os.path.isdir(folder) else os.path.lexists(folder)
    from pyarrow.fs import FileSelector, FileType

    system, inner = _system(path)
    kind = system.get_file_info(inner).type
    if kind == FileType.Directory:
        return bool(system.get_file_info(FileSelector(inner)))
    return bool(kind != FileType.NotFound)


def _system(uri: str) -> tuple[Any, str]:
    """(file system, path in it) of a URI: pyarrow's own, or one that fsspec knows."""
    from pyarrow.fs import FileSystem, FSSpecHandler, PyFileSystem

    uri = re.sub(r"^s3[an]://", "s3://", uri)
    try:
        system, inner = FileSystem.from_uri(uri)
        return system, inner
    except (OSError, ValueError):
        if find_spec("fsspec") is None:
            raise
        system, inner = import_module("fsspec.core").url_to_fs(uri)
        return PyFileSystem(FSSpecHandler(system)), inner
