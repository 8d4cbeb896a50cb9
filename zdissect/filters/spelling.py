"""A filter written out: what belongs together in parentheses, any and all where they count, operators as signs."""

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

_PLAIN = {"===": ("all", "=="), "!==": ("any", "!=")}


def spelt(node: Condition, inside: bool = False) -> str:
    """The text of a condition, which means the same; `inside`: it is a part of another."""
    match node:
        case Junction(word, parts):
            text = f" {word} ".join(spelt(part, True) for part in parts)
            return f"({text})" if inside else text
        case Opposite(inner):
            return f"not ({spelt(inner)})"
        case Exists(operand):
            return _term(operand)
        case Membership(quantifier, operand, negated, members):
            values = ", ".join(f"{_term(low)} .. {_term(high)}" if high else _term(low) for low, high in members)
            return f"{_spaced(quantifier)}{_term(operand)} {'not in' if negated else 'in'} {{{values}}}"
        case Comparison(quantifier, left, word, right):
            implied, plain = _PLAIN.get(word, ("all" if word == "!=" else "", word))
            return f"{_spaced(quantifier or implied)}{_term(left)} {plain} {_term(right)}"


def _spaced(word: str) -> str:
    return f"{word} " if word else ""


def _term(term: Term) -> str:
    match term:
        case Value(text, form):
            return {"word": text, "raw": f'r"{text}"', "character": f"'{text}'"}.get(form, f'"{text}"')
        case SliceOf(inner, text):
            return f"{_term(inner)}{text}"
        case CallOf(function, inner):
            return f"{function}({_term(inner)})"
        case MaskOf(inner, mask):
            return f"{_term(inner)} & {_term(mask)}"
