"""`--frame 17-20,30`: numbers of frames."""

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # --help doesn't need the dissector
    from zdissect.dissection import Item

_RANGE = re.compile(r"(\d+)(?:(-)(\d*))?")


class FrameRanges:
    """Which frames are wanted, by their numbers in their files."""

    def __init__(self, text: str) -> None:
        """Raises ValueError for what isn't such a list."""
        self.text = text
        self.ranges = [_range(part) for part in text.replace(" ", "").split(",")]

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and any(first <= number <= last for first, last in self.ranges)

    def shows(self, item: "Item") -> bool:
        """Whether any of the frames that an item came from is wanted."""
        return item.frame.number in self or any(number in self for number in getattr(item, "frames", ()))


def _range(part: str) -> tuple[int, float]:
    """The first and the last number of `17`, `17-20`, `17-`."""
    match = _RANGE.fullmatch(part)
    if match is None:
        raise ValueError(f"{part!r} isn't a frame number; write 17, 17-20, 17- or several with commas")
    first = int(match[1])
    last = first if match[2] is None else int(match[3]) if match[3] else float("inf")
    if not first or last < first:
        raise ValueError(f"{part!r} holds no frame: they are numbered from 1")
    return first, last


def frame_ranges(ctx: click.Context, param: click.Parameter, value: str | None) -> FrameRanges | None:
    """The value of `--frame`. Raises click.BadParameter for what isn't such a list."""
    try:
        return FrameRanges(value) if value is not None else None
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None
