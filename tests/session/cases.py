"""Cases of rules: a conversation with a fault, and its twin without it.

A case is a function that builds a conversation. It is called twice: with `fault`, and the finding must be there, of
this severity and at this place; without, and nothing may be found. So what a rule reacts to is just what depends on
`fault`.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from zdissect.grammar.rule import ERROR, NOTE, WARNING

__all__ = ["CASES", "ERROR", "NOTE", "WARNING", "Case", "case"]

BuildConversation = Callable[[bool], Any]


class Case(NamedTuple):
    """A rule and the conversation that triggers it."""

    code: str
    severity: str
    message: str
    """The message that the finding belongs to; empty where it belongs to none."""
    field: str
    """The field that it points at."""
    data: bytes | None
    """The bytes that it points at, where they say something."""
    also: tuple[str, ...]
    """Other findings that the fault can't be without."""
    always: tuple[str, ...]
    """Findings that the twin has too."""
    limit: tuple[str, int] | None
    """A constant to be made smaller, so that the test stays small."""
    build: BuildConversation

    @property
    def name(self) -> str:
        return f"{self.code}-{self.build.__name__}"


CASES: list[Case] = []


def case(
    code: str, severity: str, message: str = "", field: str = "", data: bytes | None = None, *,
    also: Iterable[str] = (), always: Iterable[str] = (), limit: tuple[str, int] | None = None,
) -> Callable[[BuildConversation], BuildConversation]:  # fmt: skip
    """Makes a conversation the case of a rule."""

    def register(build: BuildConversation) -> BuildConversation:
        CASES.append(Case(code, severity, message, field, data, tuple(also), tuple(always), limit, build))
        return build

    return register
