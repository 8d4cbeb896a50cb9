"""The messages of captures, yielded as they are read."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress
from os import PathLike, fspath
from os.path import exists, isfile
from typing import TYPE_CHECKING

from zdissect.capture import CaptureError, open_capture
from zdissect.dissection import Dissection, Item
from zdissect.fed import dissected, fed, one_by_one
from zdissect.filters.first_frame import FromFirstFrame, told_when_it_began
from zdissect.library.dissected_message import DissectedMessage
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.table import Table

if TYPE_CHECKING:
    from zdissect.filters import LookAhead

Path = str | PathLike[str]


def read_captures(
    paths: Path | Iterable[Path],
    filter: str | Callable[[DissectedMessage], bool] | None = None,
    *,
    options: Options | None = None,
) -> Iterator[DissectedMessage]:
    """The messages of one file, or of several that form one capture, in order, each as soon as its last byte was read.

    Args:
        paths: pcap or pcapng files; `-` is standard input.
        filter: Which messages to yield: a display filter (docs/filters.md), or a function that returns true for them.
            The state of sessions doesn't depend on it. For a filter that depends on later messages (`request.answered`)
            all files are read twice.
        options: Such as the ports to decode as Zenoh (`-d`).

    Raises:
        FilterError: The display filter is invalid, or depends on later messages where a file can be read only once: a
            pipe, standard input.
        CaptureError: A file can't be read (any further); raised after the messages of all files.
    """
    files = [paths] if isinstance(paths, str | PathLike) else [*paths]
    options = options or Options()
    choose, readers = _chooser(filter, files, options)
    pipeline = Pipeline(options)
    problems: list[CaptureError] = []
    feed = fed if all(map(isfile, files)) else one_by_one  # what comes through a pipe isn't kept waiting
    for _, items in feed(pipeline, told_when_it_began(_frames(files, problems), readers)):
        yield from _messages(items, choose)
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
"""Returns the messages of a dissection that are selected."""


def _chooser(
    filter: str | Callable[[DissectedMessage], bool] | None, files: Sequence[Path], options: Options
) -> tuple[Chooser, tuple[FromFirstFrame, ...]]:
    """The function that selects messages by a filter, and who must be told of the first frame.

    If the filter depends on later messages, the files are read for it.
    """
    if not isinstance(filter, str):
        wanted = filter or (lambda message: True)
        return lambda item: (message for message in _all(item) if wanted(message)), ()
    from zdissect.filters import FilterError, compile_filter  # only here: few programs need it

    compiled = compile_filter(filter)
    if compiled.looks_ahead:
        names = [fspath(path) for path in files]
        once = next((name for name in names if name == "-" or (exists(name) and not isfile(name))), None)
        if once is not None:
            what = f"{filter!r} depends on later messages, which takes reading the capture twice"
            raise FilterError("", 0, f"{what}; {once} is read once")
        compiled.ahead = _read_ahead(files, options)
    return lambda item: compress(_all(item), compiled.select(item)), (compiled,)


def _read_ahead(files: Sequence[Path], options: Options) -> "LookAhead":
    """What a first pass over files finds out. Their problems are those of the second one."""
    from zdissect.filters import LookAhead

    return LookAhead(dissected(Pipeline(options), _frames(files, [])))


def _all(item: Dissection) -> list[DissectedMessage]:
    """All messages of a dissection."""
    return [DissectedMessage(decoded, item) for decoded in item.messages]


def _messages(items: Iterable[Item], choose: Chooser) -> Iterator[DissectedMessage]:
    """The selected messages of dissections, with all columns of their rows."""
    for item in items:
        if isinstance(item, Dissection):
            Table().rows(item)
            yield from choose(item)
