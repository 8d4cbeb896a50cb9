"""Captures and tables on local paths, and behind URIs by pyarrow's file systems or fsspec.

`s3a://` and `s3n://`, Hadoop's names, are S3. What comes from pyarrow is read through a buffer of a megabyte: that is
five times as fast as its own small reads.
"""

import io
import os
import re
from importlib import import_module
from importlib.util import find_spec
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from zdissect.capture import CaptureError
from zdissect.capture.capture_file import Capture

UNFINISHED = "_temporary."
"""How the names of directories begin in which tables wait that aren't complete. Readers of tables skip them."""
OBJECT_STORES = ("s3", "gcs")
"""Pyarrow's names of file systems in which a directory is only the beginning of a name."""

_BUFFER = 1 << 20
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_remote(path: str) -> bool:
    """Whether a path is a URI of something else than the local file system."""
    return bool(_SCHEME.match(path)) and not path.startswith("file://")


def local(path: str) -> str:
    """A local path without `file://`."""
    return unquote(urlsplit(path).path) if path.startswith("file:") else path


def everywhere(path: str) -> str:
    """A path as other processes can open it, which may have another working directory."""
    return path if is_remote(path) else os.path.abspath(path)


def below(place: str, name: str) -> str:
    """The path or URI of something in a directory. A URI may have a query: `s3://bucket/captures?region=eu-west-1`."""
    if not is_remote(place):
        return os.path.join(place, name)
    base, mark, query = place.partition("?")
    return f"{base.rstrip('/')}/{name}{mark}{query}"


def suffixed(place: str, suffix: str) -> str:
    """A path or URI with a longer last name."""
    if not is_remote(place):
        return place + suffix
    base, mark, query = place.partition("?")
    return f"{base}{suffix}{mark}{query}"


def open_input(path: str, name: str) -> Capture:
    """A capture, wherever it is. Raises CaptureError."""
    if not is_remote(path):
        return Capture(path, name)
    try:
        file = open_bytes(path)
    except (OSError, ValueError, NotImplementedError) as error:
        raise CaptureError(path, f"it cannot be opened ({error})") from error
    return Capture(path, name, file)


def open_bytes(path: str) -> io.BufferedReader:
    """A file to read from any place in it. Raises OSError; behind a URI, ValueError and NotImplementedError too."""
    if not is_remote(path):
        return open(path, "rb")
    system, inner = system_of(path)
    return io.BufferedReader(system.open_input_file(inner), _BUFFER)


def create(path: str) -> BinaryIO:
    """A new file, to be written from its beginning to its end. Raises OSError."""
    if not is_remote(path):
        return open(path, "wb")
    system, inner = system_of(path)
    return cast(BinaryIO, system.open_output_stream(inner))


def make_directory(path: str) -> None:
    """A new directory in one that exists. Raises OSError if that has gone, as where its run has ended.

    Object stores have no directories: nothing is made there.
    """
    if not is_remote(path):
        os.mkdir(path)
        return
    system, inner = system_of(path)
    if system.type_name not in OBJECT_STORES:
        system.create_dir(inner, recursive=False)


def size_of(path: str) -> int | None:
    """Bytes of a file; None if there is none. Raises OSError if that can't be told."""
    if not is_remote(path):
        try:
            return os.stat(path).st_size
        except FileNotFoundError:
            return None
    system, inner = system_of(path)
    return cast("int | None", system.get_file_info(inner).size)


def require(path: str) -> None:
    """Raises FileNotFoundError if there is nothing at a path or URI."""
    if is_remote(path):
        from pyarrow.fs import FileType

        system, inner = system_of(path)
        there = system.get_file_info(inner).type != FileType.NotFound
    else:
        there = os.path.exists(local(path))
    if not there:
        raise FileNotFoundError(f"{path}: there is no such file or directory")


def exists(path: str) -> bool:
    """Whether there is something at a path or URI; an empty directory, or what a run left unfinished, isn't."""
    if not is_remote(path):
        folder = local(path)
        return bool(os.listdir(folder)) if os.path.isdir(folder) else os.path.lexists(folder)
    from pyarrow.fs import FileSelector, FileType

    system, inner = system_of(path)
    kind = system.get_file_info(inner).type
    if kind == FileType.Directory:
        entries = system.get_file_info(FileSelector(inner))
        return any(not entry.base_name.startswith(UNFINISHED) for entry in entries)
    return bool(kind != FileType.NotFound)


def system_of(uri: str) -> tuple[Any, str]:
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
