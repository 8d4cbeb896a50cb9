"""The messages of captures, one after the other as they are read."""

from collections.abc import Callable, Iterable, Iterator
from itertools import compress
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
    filter: str | Callable[[DissectedMessage], bool] | None = None,
    *,
    options: Options | None = None,
) -> Iterator[DissectedMessage]:
    """The messages of one file, or of several that are one capture, in order, each as soon as its last byte was read.

    Args:
        paths: pcap or pcapng files; `-` is standard input.
        filter: Which messages are wanted: a display filter (docs/filters.md), or a function that tells of each. What
            a session knows doesn't depend on it.
        options: Ports that are Zenoh's, as `-d` gives them. By default rows are read the fast way, and trees are made
            for those messages only that are asked for one.

    Raises:
        FilterError: The display filter isn't one, or asks for what comes later in the capture.
        CaptureError: A file can't be read (any further), once the messages of all files have been given.
    """
    choose = _chooser(filter)
    pipeline = Pipeline(options or Options(rows=True))
    problems: list[CaptureError] = []
    for frame in _frames([paths] if isinstance(paths, str | PathLike) else paths, problems):
        yield from _messages(pipeline.feed(frame), choose)
    yield from _messages(pipeline.close(), choose)
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


Chooser = Callable[[Dissection], Iterable[DissectedMessage]]
"""Gives those messages of a dissection that are wanted."""


def _chooser(filter: str | Callable[[DissectedMessage], bool] | None) -> Chooser:
    """What chooses messages by a filter."""
    if not isinstance(filter, str):
        wanted = filter or (lambda message: True)
        return lambda item: (one for one in _all(item) if wanted(one))
    from zdissect.filters import FilterError, compile_filter  # only here: few programs need it

    compiled = compile_filter(filter)
    if compiled.looks_ahead:
        raise FilterError("", 0, f"{filter!r} asks for what comes later: read the messages, and choose afterwards")
    return lambda item: compress(_all(item), compiled.select(item))


def _all(item: Dissection) -> list[DissectedMessage]:
    """All messages of a dissection."""
    return [DissectedMessage(decoded, item) for decoded in item.messages]


def _messages(items: list[Item], choose: Chooser) -> Iterator[DissectedMessage]:
    """The messages of dissections that are wanted, with all columns of their rows."""
    for item in items:
        if isinstance(item, Dissection):
            Table().rows(item)
            yield from choose(item)
