"""Display filters: which messages of a capture, or rows of a table, are wanted.

    from zdissect.filters import compile_filter

    wanted = compile_filter('key_expr within "nano/**" and response_time_ns > 10ms')
    for item in dissect(frames):
        for message, selected in zip(item.messages, wanted.select(item)): ...

docs/filters.md describes the language and the names. One typed tree (`typed_tree`) has four back ends, which select the
same messages: tapes, rows, Arrow and SQL.
"""

from zdissect.filters.ahead import LookAhead
from zdissect.filters.compiled import Filter
from zdissect.filters.filter_error import FilterError, nearest
from zdissect.filters.vocabulary import FilterName, name, names, spellings

__all__ = ["Filter", "FilterError", "FilterName", "LookAhead", "compile_filter", "name", "names", "suggest"]


def compile_filter(text: str) -> Filter:
    """A filter that is ready for use.

    Raises:
        FilterError: It isn't one; its text shows where and why.
    """
    return Filter(text)


def suggest(text: str) -> str:
    """Names like this one, as a question; empty if there are none."""
    return nearest(text, spellings())
