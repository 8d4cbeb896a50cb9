"""Times of what isn't shown frame by frame."""

from collections.abc import Callable

import click

from zdissect.output.time_formats import formatter


def clock(kind: str, first_ns: int) -> Callable[[int], str]:
    """A function from nanoseconds since 1970 to text, in one of the formats of `-t`.

    Args:
        kind: The format; those that count from the frame before are refused by click.BadParameter.
        first_ns: Time of the first frame of the capture.
    """
    if kind in ("d", "dd"):
        raise click.BadParameter(f"{kind} counts from the frame before, and these aren't frames: -t r", param_hint="-t")
    if kind == "r":
        seconds = formatter("e")
        return lambda ts_ns: seconds(ts_ns - first_ns)
    return formatter(kind)
