"""Counts work in a way that doesn't depend on the machine: the lines of our own code that run."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

OURS = str(Path(__file__).parents[1] / "zdissect")


def executed_lines(function: Callable[[], Any], *modules: Any) -> int:
    """Lines of zdissect (or of these modules alone) that run while the function does."""
    files = tuple(module.__file__ for module in modules) or (OURS,)
    count = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(files):
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count
