"""The messages of captures, one after the other as they are read."""

from collections.abc import Callable, Iterable, Iterator
from os import PathLike, fspath

from zdissect.capture import CaptureError, open_capture
from zdissect.dissection import Dissection, Item
from zdissect.library.dissected_message import DissectedMessage
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.table import Table

Path = str | PathLike[str]


def read_captures(
    paths: Path | Iterable[Path],
    filter: Callable[[DissectedMessage], bool] | None = None,
    *,
    options: Options | None = None,
) -> Iterator[DissectedMessage]:
    """The messages of one file, or of several that are one capture, in order, each as soon as its last byte was read.

    Args:
        paths: pcap or pcapng files; `-` is standard input.
        filter: Which messages are wanted. What a session knows doesn't depend on it.
        options: Ports that are Zenoh's, as `-d` gives them. By default rows are read the fast way, and trees are made
            for those messages only that are asked for one.

    Raises:
        CaptureError: A file can't be read (any further), once the messages of all files have been given.
    """
    pipeline = Pipeline(options or Options(rows=True))
    problems: list[CaptureError] = []
    for frame in _frames([paths] if isinstance(paths, str | PathLike) else paths, problems):
        yield from _messages(pipeline.feed(frame), filter)
    yield from _messages(pipeline.close(), filter)
    if problems:
        raise problems[0]


def _frames(paths: Iterable[Path], problems: list[CaptureError]) -> Iterator[Frame]:
    """The frames of all files; a file that can't be read further is noted."""
    for path in paths:
        try:
            with open_capture(fspath(path)) as capture:
                yield from capture
        except CaptureError as problem:
            problems.append(problem)


def _messages(items: list[Item], filter: Callable[[DissectedMessage], bool] | None) -> Iterator[DissectedMessage]:
    """The messages of dissections, with all columns of their rows."""
    for item in items:
        if not isinstance(item, Dissection):
            continue
        Table().rows(item)
        for decoded in item.messages:
            message = DissectedMessage(decoded, item)
            if filter is None or filter(message):
                yield message
