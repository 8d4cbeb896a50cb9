"""Capture files: opens them by name, recognises their format by their content, and closes them again."""

import io
import os
import stat
import sys
from collections.abc import Generator, Iterator
from types import TracebackType
from typing import Any, cast

from zdissect.capture import pcap, pcapng
from zdissect.capture.errors import CaptureError, Defect
from zdissect.capture.packed import PackedStream, UnpackError
from zdissect.capture.packings import packing_of
from zdissect.capture.pipe import Pipe
from zdissect.capture.reader import Reader
from zdissect.capture.signatures import CAPTURES, MAGIC_SIZE, looks_like
from zdissect.records import Frame

_BUFFER = 1 << 20
_Input = io.BufferedReader | Pipe
_SAMPLE = 512  # bytes that are looked at to say what a file is that isn't a capture


class Capture:
    """A capture being read: an iterable of its frames, once and in file order, and what is known about it so far.

    Iterating raises `CaptureError`, after the good frames, where the file is damaged or cut. A capture without frames
    isn't an error. The file is closed at the end of the iteration or of the `with` block, whichever comes first.
    """

    def __init__(self, path: str, name: str | None = None, file: _Input | None = None) -> None:
        """Open `path` (`-` is standard input) and recognise its format, or raise `CaptureError`.

        `name` is the `source` of its frames, by default the path. `file` is read instead of the path, if given.
        """
        self.path = path
        self._file = _open(path) if file is None else file
        try:
            self.size = _size(self._file)
            """Size of the file in bytes; None for what isn't a regular file."""
            self._reader, self.format = _recognise(self._file, path if name is None else name)
            """`self.format`: `pcap` or `pcapng`, with `+gzip`, `+zstd`, `+lz4` or `+xz` if it is packed."""
        except OSError as error:
            self.close()
            raise _unreadable(path, error) from error
        except CaptureError:
            self.close()
            raise
        self._frames = _frames(self._file, self._reader)

    def mark(self) -> list[Any] | None:
        """Where the next record starts, for `resume`; None in what is packed, which can only be read as a whole."""
        return None if "+" in self.format else self._reader.mark()

    def resume(self, mark: list[Any]) -> None:
        """Continue at the mark of another Capture of the same file. Only before anything has been read."""
        assert isinstance(self._file, io.BufferedReader)  # in a pipe nobody can continue
        self._file.seek(mark[0])
        self._reader.resume(mark)

    def ready(self) -> bool:
        """Whether the next frame, or the end, can be read without waiting for it, as far as that is known: not of what
        comes packed.
        """
        if not isinstance(self._file, Pipe):
            return True
        return "+" not in self.format and self._file.ready(self._reader.complete)

    @property
    def link_types(self) -> set[int]:
        """LINKTYPE_ values of the interfaces described so far."""
        return self._reader.link_types

    @property
    def frames(self) -> int:
        """Frames read so far."""
        return self._reader.frames

    @property
    def bytes(self) -> int:
        """Captured bytes of those frames."""
        return self._reader.bytes

    @property
    def position(self) -> int | None:
        """How much of `size` was read, a buffer at a time (for progress); None for what isn't a regular file."""
        if self.size is None or self._file.closed:
            return self.size
        return os.lseek(self._file.fileno(), 0, os.SEEK_CUR)

    def __iter__(self) -> Iterator[Frame]:
        return self._frames

    def __enter__(self) -> "Capture":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._frames.close()
        self.close()

    def close(self) -> None:
        """Close the file; standard input stays open."""
        _close(self._file)


def open_capture(path: str, name: str | None = None) -> Capture:
    """Open a pcap or pcapng file, plain or packed, for use in a `with` statement; iterate over it for its frames.

    The format is told by the content, not by the name. `-` is standard input, read as it comes. Raises `CaptureError`
    at once if there is no such file or it isn't a capture. `name` is the `source` of its frames, by default the path.
    """
    return Capture(path, name)


def regular(path: str) -> bool:
    """Whether a path (`-` is standard input) leads to a regular file, or to nothing that can be looked at: all else
    may come as it is captured.
    """
    try:
        return stat.S_ISREG((os.stat(path) if path != "-" else os.fstat(sys.stdin.fileno())).st_mode)
    except (OSError, ValueError, AttributeError):  # closed, or replaced by an object in memory
        return path != "-"


def _open(path: str) -> _Input:
    try:
        if path != "-":
            return _buffered(io.FileIO(path))
        if sys.stdin is None or sys.stdin.closed:
            raise CaptureError(path, "it is closed: give the name of a file, or pipe a capture in")
        if sys.stdin.isatty():
            raise CaptureError(path, "it is a terminal: pipe a capture in, or capture with `zdissect -i INTERFACE`")
        try:
            return _buffered(io.FileIO(sys.stdin.fileno(), closefd=False))
        except io.UnsupportedOperation:  # replaced by an object in memory
            return cast(io.BufferedReader, sys.stdin.buffer)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise _unreadable(path, error) from error


def _buffered(file: io.FileIO) -> _Input:
    """A file that was opened, for reading a little at a time."""
    return io.BufferedReader(file, _BUFFER) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else Pipe(file)


def _close(file: _Input) -> None:
    if file is not getattr(sys.stdin, "buffer", None):
        file.close()


def _frames(file: _Input, reader: Reader) -> Generator[Frame, None, None]:
    """Iterate over `reader` and close `file`. Does not refer to the Capture: in a cycle it would stay open for long."""
    try:
        yield from reader
    except OSError as error:
        raise _unreadable(reader.name, error, reader.progress()) from error
    finally:
        _close(file)


def _size(file: _Input) -> int | None:
    try:
        status = os.fstat(file.fileno())
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _recognise(file: _Input, path: str) -> tuple[Reader, str]:
    """Make the reader for the format, which the first bytes tell; return it with the name of the format."""
    unit, suffix = "byte", ""
    magic = file.read(MAGIC_SIZE)
    if packing := packing_of(magic):
        unit, suffix = "unpacked byte", f"+{packing.name}"
        file = io.BufferedReader(PackedStream(packing, magic, file), _BUFFER)
        magic = file.read(MAGIC_SIZE)
    kind: type[Reader]
    if magic in pcap.MAGIC:
        kind = pcap.PcapReader
    elif magic == pcapng.MAGIC:
        kind = pcapng.PcapngReader
    else:
        raise _not_a_capture(path, magic + file.read1(_SAMPLE), bool(suffix))
    return kind(file.read, magic, path, unit), kind.format + suffix


def _not_a_capture(path: str, head: bytes, packed: bool) -> CaptureError:
    it = "what is packed in it" if packed else "it"
    if not head:
        return CaptureError(path, f"{it} is empty (0 bytes): capture or copy it again")
    if any(magic.startswith(head) for magic in CAPTURES):
        return CaptureError(path, f"cut short: {it} ends after {len(head)} bytes, inside the file header", Defect.CUT)
    guess = looks_like(head)
    what = f"looks like {guess}" if guess else f"starts with the bytes {head[:8].hex(' ')}"
    return CaptureError(path, f"not a pcap or pcapng capture: {it} {what}")


def _unreadable(path: str, error: Exception, progress: str = "") -> CaptureError:
    """Say what an error of the operating system, or of a decompressor, means and what to do about it."""
    kind = Defect.UNREADABLE
    if isinstance(error, UnpackError):
        kind = Defect.CUT if error.early else Defect.DAMAGED
        what = f"{error}; {progress or 'nothing could be read'}; to get the rest, copy it again"
    elif isinstance(error, FileNotFoundError):
        what = _missing(path)
    elif isinstance(error, IsADirectoryError):
        what = f"it is a directory: give the files in it, or read them all with `zdissect batch {path} -o OUT`"
    elif isinstance(error, PermissionError):
        what = "permission denied: ask for read access, or run as a user who has it"
    else:
        what = f"it cannot be read ({getattr(error, 'strerror', None) or error})"
        if progress:
            what += f"; {progress}"
    return CaptureError(path, what, kind)


def _missing(path: str) -> str:
    """Say that there is no such file, and where a link leads or which file may have been meant."""
    import difflib  # only needed here; costs start-up time

    if os.path.islink(path):
        return f"it is a link to {os.readlink(path)}, which isn't there"
    directory, name = os.path.split(path)
    try:
        names = difflib.get_close_matches(name, os.listdir(directory or "."), 1)
    except (OSError, ValueError):
        names = []
    hint = f"; did you mean {os.path.join(directory, names[0])}?" if names else ""
    return f"there is no such file{hint}"
