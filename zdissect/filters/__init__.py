"""Display filters: which messages of a capture, or rows of a table, are wanted.

    from zdissect.filters import compile_filter

    wanted = compile_filter('key_expr within "nano/**" and response_time_ns > 10ms')
    for item in dissect(frames):
        for message, selected in zip(item.messages, wanted.select(item)): ...

docs/filters.md describes the language and the names. One typed tree (`typed_tree`) has four back ends, which select the
same messages: tapes, rows, Arrow and SQL.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zdissect.filters.filter_error import FilterError, nearest

if TYPE_CHECKING:
    from zdissect.filters.ahead import LookAhead
    from zdissect.filters.compiled import Filter
    from zdissect.filters.vocabulary import FilterName, name, names

__all__ = ["Filter", "FilterError", "FilterName", "LookAhead", "compile_filter", "name", "names", "suggest"]

_WHERE = {"LookAhead": "ahead", "Filter": "compiled", "FilterName": "vocabulary", "name": "vocabulary",
          "names": "vocabulary"}  # fmt: skip
"""The modules that are loaded when something of them is asked for: a parser takes its time."""


def __getattr__(asked: str) -> Any:
    if asked not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {asked!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[asked]}"), asked)


def compile_filter(text: str) -> "Filter":
    """A filter that is ready for use.

    Raises:
        FilterError: It isn't one; its text shows where and why.
    """
    from zdissect.filters.compiled import Filter

    return Filter(text)


def suggest(text: str) -> str:
    """Names like this one, as a question; empty if there are none."""
    from zdissect.filters.vocabulary import spellings

    return nearest(text, spellings())
