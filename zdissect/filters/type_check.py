"""From a parsed filter to a typed one: words become names or values, operators become predicates."""

import re
from dataclasses import replace

from zdissect.filters import vocabulary
from zdissect.filters.comparisons import about, either, member
from zdissect.filters.filter_error import Fault, FilterError, nearest
from zdissect.filters.literals import number
from zdissect.filters.predicates import Nonzero
from zdissect.filters.ros_names import as_compared, as_text
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
from zdissect.filters.typed_tree import AllOf, AnyOf, Called, Inverse, Masked, Operand, Pair, Present, Sliced, Tree
from zdissect.filters.typed_tree import ValueTest as _Test
from zdissect.filters.value_types import NUMBER, TEXT, ValueType

MIRRORED = {
    "==": "==", "!=": "!=", "===": "===", "!==": "!==", "<": ">", "<=": ">=", ">": "<", ">=": "<=",
    "intersects": "intersects", "includes": "within", "within": "includes",
}  # fmt: skip
"""What compares the other way round."""
ORDERS = ("<", "<=", ">", ">=")
RELATIONS = ("intersects", "includes", "within")
FUNCTIONS = ("len", "lower", "upper", "count", "string")
_FARTHEST = 1 << 31
"""The largest offset in a slice."""


def understand(text: str, condition: Condition) -> Tree:
    """The typed tree of a condition of a filter; `text` is that filter.

    Raises:
        FilterError: A name or value isn't known, or types don't fit.
    """
    return _Understanding(text).tree(condition)


class _Understanding:
    def __init__(self, text: str) -> None:
        self.text = text

    def error(self, column: int, fault: Fault) -> FilterError:
        return FilterError(self.text, column, fault.message, fault.hint)

    def tree(self, node: Condition) -> Tree:
        match node:
            case Junction(word, parts):
                trees = tuple(map(self.tree, parts))
                return AllOf(trees) if word == "and" else AnyOf(trees)
            case Opposite(inner):
                return Inverse(self.tree(inner))
            case Exists(operand):
                found = self.operand(operand)
                return _Test(found, Nonzero()) if isinstance(found, Masked) else Present(found)
            case Membership():
                return self.membership(node)
            case Comparison():
                return self.comparison(node)

    # --- operands

    def operand(self, term: Term) -> Operand:
        """What a term stands for, which must have a name in it."""
        try:
            match term:
                case Value():
                    return self.named(term)
                case SliceOf(inner, text):
                    return _sliced(self.operand(inner), text)
                case CallOf(function, inner):
                    return _called(function, self.operand(inner))
                case MaskOf(inner, mask):
                    return self.masked(self.operand(inner), mask)
        except Fault as fault:
            raise self.error(term.column, fault) from None

    def named(self, value: Value) -> Operand:
        if value.form != "word":
            raise Fault("a name must stand on one side of a comparison at least")
        found = vocabulary.name(value.text)
        if found is None:
            raise Fault(f"there is no field or column {value.text!r}", nearest(value.text, vocabulary.spellings()))
        return found.operand

    def masked(self, inner: Operand, mask: Value) -> Operand:
        if inner.type.kind != "number":
            raise Fault(f"& takes bits of a number, this is {inner.type.words}")
        try:
            bits = number(mask, NUMBER)
        except Fault as fault:
            raise self.error(mask.column, fault) from None
        if bits < 0 or bits >> _SIGN:
            raise self.error(mask.column, Fault(f"a mask is a number of up to {_SIGN} bits"))
        return Masked(NUMBER, inner, bits)

    def is_name(self, term: Term) -> bool:
        """Whether a term isn't just a value."""
        if isinstance(term, Value):
            return term.form == "word" and vocabulary.name(term.text) is not None
        return True

    # --- comparisons

    def comparison(self, node: Comparison) -> Tree:
        left, word, right = node.left, node.word, node.right
        if not self.is_name(left) and self.is_name(right) and word in MIRRORED:
            left, word, right = right, MIRRORED[word], left
        operand = self.operand(left)
        every = node.quantifier == "all" or (not node.quantifier and word in ("!=", "==="))
        word = {"===": "==", "!==": "!="}.get(word, word)
        try:
            if isinstance(right, Value) and not self.is_field(right, operand.type, word):
                operand = as_compared(operand, word, right)
            self.comparable(operand, word)
        except Fault as fault:
            raise self.error(node.column, fault) from None
        if isinstance(right, Value) and not self.is_field(right, operand.type, word):
            try:
                return _Test(operand, about(operand.type, word, right), every)
            except Fault as fault:
                raise self.error(right.column, self.perhaps_name(right, fault)) from None
        other = self.operand(right)
        try:
            return _pair(operand, word, other, every)
        except Fault as fault:
            raise self.error(right.column, fault) from None

    def is_field(self, value: Value, kind: ValueType, word: str) -> bool:
        """Whether a value on the right is a name: not if the left side has a value of that name."""
        if kind.names is not None and kind.names.label(value.text) is not None and word not in ("contains", "matches"):
            return False
        return self.is_name(value)

    def perhaps_name(self, value: Value, fault: Fault) -> Fault:
        """The fault with a name that may have been meant, where nothing else is near."""
        if fault.hint or value.form != "word" or "." not in value.text:
            return fault
        return Fault(fault.message, nearest(value.text, vocabulary.spellings()))

    def comparable(self, operand: Operand, word: str) -> None:
        """Raises a fault where an operator can't be asked of such values."""
        kind = operand.type
        if kind.kind == "none":
            raise Fault("what stands before it has no value: it can only be there or not")
        if word in ORDERS and (
            kind.kind in ("bool", "zid") or (kind.kind == "label" and not (kind.names and kind.names.ordered))
        ):
            raise Fault(f"{kind.words} has no order; expected == or !=")
        if word in ("contains", "matches") and not (kind.textual or kind.binary):
            raise Fault(f"{word} searches text or bytes, this is {kind.words}")
        if word in RELATIONS and kind.kind not in ("key", "text"):
            raise Fault(f"{word} relates key expressions, this is {kind.words}")

    def membership(self, node: Membership) -> Tree:
        operand = self.operand(node.operand)
        parts = []
        try:
            self.comparable(operand, "==")
        except Fault as fault:
            raise self.error(node.column, fault) from None
        for low, high in node.members:
            try:
                operand = as_compared(operand, "==", low)
                parts.append(member(operand.type, low, high))
            except Fault as fault:
                raise self.error((high or low).column, fault) from None
        test = _Test(operand, either(parts), node.quantifier == "all")
        return Inverse(test) if node.negated else test


_SIGN = 63


def _called(function: str, inner: Operand) -> Operand:
    inner = as_text(inner) if function != "count" else inner
    kind = inner.type
    if function not in FUNCTIONS:
        raise Fault(f"there is no function {function!r}: {', '.join(FUNCTIONS)}", nearest(function, FUNCTIONS))
    if function == "count":
        return Called(NUMBER, function, inner)
    if function == "len":
        if not (kind.textual or kind.binary):
            raise Fault(f"len() takes text or bytes, this is {kind.words}")
        return Called(NUMBER, function, inner)
    if function == "string":
        if kind.textual:
            return replace(inner, type=TEXT)
        if kind.kind not in ("number", "bool"):
            raise Fault(f"string() takes numbers, names and text, this is {kind.words}")
        return Called(TEXT, function, inner)
    if not kind.textual:
        raise Fault(f"{function}() takes text, this is {kind.words}")
    return Called(TEXT, function, inner)


_PIECE = re.compile(r"\s*(?:(-?\d+)\s*(?:(:)\s*(\d+)?|-\s*(-?\d+))?|:\s*(\d+))\s*")


def _sliced(inner: Operand, text: str) -> Operand:
    """An operand with `[0:4]`, `[1-2]`, `[3]`, `[:4]`, `[4:]`, or several of these."""
    inner = as_text(inner)
    kind = inner.type
    if not (kind.textual or kind.binary):
        raise Fault(f"only text and bytes have slices, this is {kind.words}")
    pieces = []
    for piece in text[1:-1].split(","):
        found = _PIECE.fullmatch(piece)
        if found is None:
            raise Fault(f"{piece.strip()!r} is no slice: offset:length, first-last, offset, :length or offset:")
        pieces.append(_piece(*found.groups()))
    return Sliced(TEXT if kind.textual else kind, inner, tuple(pieces))


def _piece(first: str | None, colon: str | None, size: str | None, last: str | None, head: str | None) -> tuple[
    int, int | None
]:  # fmt: skip
    """First index, and the one after the last; None: to the end."""
    if any(len(digits or "") > len(str(_FARTHEST)) for digits in (first, size, last, head)):
        raise Fault(f"the offsets of a slice are smaller than {_FARTHEST}")
    if first is None:
        return 0, int(head or 0)
    start = int(first)
    if colon and size is None:
        return start, None
    stop = start + int(size) if size is not None else int(last) + 1 if last is not None else start + 1
    from_end = start < 0 if last is None else int(last) < 0
    return start, None if from_end and stop >= 0 else stop


def _pair(left: Operand, word: str, right: Operand, every: bool) -> Tree:
    """A comparison of two operands."""
    left, right = as_text(left), as_text(right)
    one, other = left.type, right.type
    if other.kind == "none":
        raise Fault("this has no value: it can only be there or not")
    if word == "matches":
        raise Fault('a pattern is a value: matches "..."')
    fits = one.kind == other.kind or (one.textual and other.textual) or (one.binary and other.binary)
    if not fits:
        raise Fault(f"this is {other.words}, which doesn't compare with {one.words}")
    if word in ORDERS and one.kind in ("label", "ip"):
        raise Fault(f"two fields of this type compare by == and != only ({one.words})")
    if one.numeric and (one.unit != other.unit or one.unsigned or other.unsigned):
        left, right = _widened(left), _widened(right)
    return Pair(left, word, right, every)


def _widened(operand: Operand) -> Operand:
    """A number as wide as it can be, a duration or time in nanoseconds."""
    return Called(ValueType(operand.type.kind), "widened", operand)
