"""The tree of a filter as it is written: words in it may still be names or values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Value:
    """A word, or what stands in quotes."""

    text: str
    """As it was written, without quotes."""
    form: str
    """word, quoted, raw or character."""
    data: bytes
    """Its bytes: UTF-8, but for those that are given by number."""
    column: int
    depth: int = 0


@dataclass(frozen=True, slots=True)
class SliceOf:
    """Pieces of an operand."""

    inner: "Term"
    text: str
    column: int
    depth: int


@dataclass(frozen=True, slots=True)
class CallOf:
    """A function of an operand."""

    function: str
    inner: "Term"
    column: int
    depth: int


@dataclass(frozen=True, slots=True)
class MaskOf:
    """An operand and a mask."""

    inner: "Term"
    mask: Value
    column: int
    depth: int


Term = Value | SliceOf | CallOf | MaskOf


@dataclass(frozen=True, slots=True)
class Exists:
    """An operand alone."""

    operand: Term
    depth: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two operands and what is between them. `quantifier` is any, all, or empty."""

    quantifier: str
    left: Term
    word: str
    right: Term
    column: int
    depth: int


@dataclass(frozen=True, slots=True)
class Membership:
    """An operand and the values, or ranges of values, that it may have."""

    quantifier: str
    operand: Term
    negated: bool
    members: tuple[tuple[Value, Value | None], ...]
    column: int
    depth: int


@dataclass(frozen=True, slots=True)
class Opposite:
    """What holds where its inner doesn't."""

    inner: "Condition"
    depth: int


@dataclass(frozen=True, slots=True)
class Junction:
    """Several conditions, joined by `word`: and, or."""

    word: str
    parts: tuple["Condition", ...]
    depth: int


Condition = Exists | Comparison | Membership | Opposite | Junction
