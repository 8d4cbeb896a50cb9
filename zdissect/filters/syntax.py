"""A filter as text to a filter as a tree, in which words may still be names or values."""

from functools import cache
from typing import Any

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from zdissect.filters.escapes import unescaped
from zdissect.filters.filter_error import Fault, FilterError
from zdissect.filters.language import LANGUAGE
from zdissect.filters.syntax_tree import (
    CallOf,
    Comparison,
    Condition,
    Exists,
    Junction,
    MaskOf,
    Membership,
    Opposite,
    SliceOf,
    Term,
    Value,
)

LONGEST = 4096
"""Characters of a filter."""
DEEPEST = 50
"""How deep a filter may be nested."""


WORDS = {"eq": "==", "ne": "!=", "gt": ">", "lt": "<", "ge": ">=", "le": "<=", "~": "matches"}
"""Other spellings of what compares."""


def parse(text: str) -> Condition:
    """The tree of a filter.

    Raises:
        FilterError: It isn't one.
    """
    if len(text) > LONGEST:
        raise FilterError(text, LONGEST, f"a filter has at most {LONGEST} characters, this one has {len(text)}")
    if not text.strip():
        raise FilterError(text, 0, "the filter is empty; expected a condition, such as message == PUSH")
    try:
        tree: Any = _parser().parse(text)
    except _Misplaced as fault:
        raise FilterError(text, fault.column, fault.message, fault.hint) from None
    except UnexpectedInput as problem:
        raise _unexpected(text, problem) from None
    found: Condition = tree
    return found


class _Misplaced(Fault):
    """A fault with its place."""

    def __init__(self, column: int, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.column = column


class _SyntaxBuilder(Transformer[Token, Any]):
    """Makes the nodes while the filter is read, so that nothing recurses."""

    def start(self, given: list[Any]) -> Condition:
        found: Condition = given[0]
        return found

    def either(self, given: list[Any]) -> Condition:
        return _junction("or", given)

    def both(self, given: list[Any]) -> Condition:
        return _junction("and", given)

    def inverse(self, given: list[Any]) -> Condition:
        sign, inner = given
        return Opposite(inner, _deeper(sign.start_pos, inner))

    def present(self, given: list[Any]) -> Condition:
        return Exists(given[0], given[0].depth)

    def comparison(self, given: list[Any]) -> Condition:
        quantifier, left, word, right = given
        depth = max(left.depth, right.depth)
        return Comparison(str(quantifier or ""), left, WORDS.get(word, str(word)), right, word.start_pos, depth)

    def membership(self, given: list[Any]) -> Condition:
        quantifier, operand, negated, word, *members = given
        return Membership(
            str(quantifier or ""), operand, negated is not None, tuple(members), word.start_pos, operand.depth
        )

    def member(self, given: list[Any]) -> tuple[Value, Value | None]:
        low, _, high = given
        return low, high

    def masked(self, given: list[Any]) -> Term:
        inner, mask = given
        return MaskOf(inner, mask, inner.column, inner.depth)

    def slice(self, given: list[Any]) -> Term:
        inner, text = given
        return SliceOf(inner, str(text), text.start_pos, inner.depth)

    def call(self, given: list[Any]) -> Term:
        word, inner = given
        return CallOf(str(word), inner, word.start_pos, _deeper(word.start_pos, inner))

    def value(self, given: list[Any]) -> Term:
        (token,) = given
        text, column = str(token), token.start_pos
        if token.type == "WORD":
            return Value(text, "word", text.encode(errors="surrogatepass"), column)
        if token.type == "RAW":
            return Value(text[2:-1], "raw", text[2:-1].encode(errors="surrogatepass"), column)
        try:
            return Value(text[1:-1], token.type.lower(), unescaped(text[1:-1]), column)
        except Fault as fault:
            raise _Misplaced(column, fault.message, fault.hint) from None


def _junction(word: str, given: list[Any]) -> Condition:
    """Conditions that are joined; one alone stays as it is."""
    first: Condition = given[0]
    if len(given) == 1:
        return first
    deepest = max(given, key=lambda one: one.depth)
    return Junction(word, tuple(given), _deeper(_begin(deepest), deepest))


def _begin(node: Any) -> int:
    """Where a condition begins, roughly."""
    while not hasattr(node, "column"):
        node = node.parts[0] if isinstance(node, Junction) else getattr(node, "inner", None) or node.operand
    column: int = node.column
    return column


def _deeper(column: int, inner: Any) -> int:
    depth: int = inner.depth + 1
    if depth > DEEPEST:
        raise _Misplaced(column, f"the filter is nested more than {DEEPEST} times")
    return depth


@cache
def _parser() -> Lark:
    return Lark(LANGUAGE, parser="lalr", lexer="contextual", transformer=_SyntaxBuilder(), maybe_placeholders=True)


_EXPECTED: dict[str, str] = {
    "WORD": "a name or a value", "COMPARISON": "a comparison (== < contains in ...)", "SLICE": "a slice [0:4]",
    "_AND": "and", "_OR": "or", "RPAR": ")", "RBRACE": "}", "LBRACE": "{", "IN": "in", "$END": "the end",
}  # fmt: skip


def _unexpected(text: str, problem: UnexpectedInput) -> FilterError:
    """What is wrong at the place where the filter can't be read further."""
    if isinstance(problem, UnexpectedToken):
        at_end = problem.token.type == "$END"
        column = len(text.rstrip()) if at_end else problem.token.start_pos or 0
        found = "the filter ends here" if at_end else f"{str(problem.token)!r} can't stand here"
        expected = problem.accepts or problem.expected
    else:
        column = problem.pos_in_stream or 0
        found = _character(text, column)
        expected = problem.allowed if isinstance(problem, UnexpectedCharacters) else set()
    words = [word for name, word in _EXPECTED.items() if name in (expected or ())]
    hint = ""
    if text[column : column + 1] == "=" and "COMPARISON" in (expected or ()):
        hint = "did you mean ==?"
    return FilterError(text, column, f"{found}; expected {' or '.join(words[:4])}" if words else found, hint)


def _character(text: str, column: int) -> str:
    """What is wrong with a character that begins nothing."""
    char = text[column]
    if char in "\"'":
        return f"the text that begins here has no closing {char}"
    return f"{char!r} can't stand here"


def words(node: Condition | Term) -> list[str]:
    """The words of a condition that may be names, each once, in order."""
    match node:
        case Value(text, form):
            return [text] if form == "word" else []
        case SliceOf(inner) | MaskOf(inner):
            return words(inner)
        case CallOf(_, inner) | Opposite(inner):
            return words(inner)
        case Exists(operand) | Membership(operand=operand):
            return words(operand)
        case Comparison(left=left, right=right):
            return list(dict.fromkeys(words(left) + words(right)))
        case Junction(_, parts):
            return list(dict.fromkeys(word for part in parts for word in words(part)))
