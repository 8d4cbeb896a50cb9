"""How much work and memory something takes: counted, not timed, so that it is the same on every machine."""

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

TWICE = 2.4
"""Most work for twice the input: linear, and something for what is done once."""


def calls(run: Callable[[], Any]) -> int:
    """How many functions are called, those written in C too."""
    count = 0

    def called(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


SOME = 20_000
"""Calls that don't count: in small inputs much depends on chance."""


def growth(run: Callable[[int], Any], size: int) -> float:
    """How much more is called for twice the size."""
    run(size // 8)  # what is made once is made by now
    return (calls(lambda: run(2 * size)) - SOME) / calls(lambda: run(size))


def peak(run: Callable[[], Any]) -> int:
    """Bytes of memory that something takes at most."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
