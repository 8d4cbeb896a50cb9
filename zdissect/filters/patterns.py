"""Regular expressions: RE2's, whose time is bounded by the text, whatever the pattern."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re2

from zdissect.filters.filter_error import Fault

LONGEST = 1000
"""Characters of a pattern."""
_MEMORY = 1 << 20
"""Bytes that a pattern may take."""


def check_pattern(pattern: str) -> str:
    """The pattern, if it can be used for text and for bytes.

    Raises:
        Fault: It isn't a regular expression, or too large.
    """
    import re2  # only here and below: most filters have no pattern

    if len(pattern) > LONGEST:
        raise Fault(f"a pattern has at most {LONGEST} characters, this one has {len(pattern)}")
    for binary in (False, True):
        try:
            _compiled(pattern, binary)
        except re2.error as problem:
            why = problem.args[0] if problem.args else problem
            text = why.decode(errors="replace") if isinstance(why, bytes) else str(why)
            raise Fault(f"this is no regular expression of RE2: {text}") from None
    return pattern


def searcher(pattern: str, binary: bool) -> Callable[[str], bool] | Callable[[bytes], bool]:
    """A function that tells whether the pattern matches somewhere in text, or (`binary`) in bytes."""
    search = _compiled(pattern, binary).search
    if binary:
        return lambda data: search(data) is not None
    return lambda text: search(text.encode()) is not None


def _compiled(pattern: str, binary: bool) -> "re2._Regexp[bytes]":
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MEMORY
    if binary:
        options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern.encode(), options)
