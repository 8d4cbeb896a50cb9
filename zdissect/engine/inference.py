"""Infers values that were left out: flags, lengths and counts follow from the fields that are present.

The grammar tells how: a field with the condition `N` that is present means that N is 1; a ZenohID of nine bytes whose
size is `zid_len + 1` means that zid_len is 8. Nothing here depends on a particular message.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from zdissect.grammar import conditions
from zdissect.grammar.registry import PlacedNode
from zdissect.grammar.types import Bit, Bits, Extension, Extensions, Fixed, Group, Repeat, Vle

Sizes = Callable[[PlacedNode], int | None]
"""Gives the bytes that the content of a place takes, if it is present."""


class Term(NamedTuple):
    """A necessary part of a condition: the name has this value."""

    name: str
    value: int
    boolean: bool
    """Whether the term is just a name, or `not` and a name; then absence of the field says something too."""


@cache
def terms(condition: str) -> tuple[Term, ...]:
    """The terms of a condition that fix the value of one name."""
    return tuple(_terms(conditions.parse(condition).body)) if condition else ()


def _terms(node: ast.expr) -> Iterator[Term]:
    match node:
        case ast.BoolOp(op=ast.And(), values=parts):
            for part in parts:
                yield from _terms(part)
        case ast.Name(id=name):
            yield Term(name, 1, True)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)):
            yield Term(name, 0, True)
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Constant(value=int(value))]):
            yield Term(name, value, False)


def level(places: tuple[PlacedNode, ...]) -> Iterator[PlacedNode]:
    """The places whose values are in one dict: groups without a name have no dict of their own."""
    for placed in places:
        yield placed
        if isinstance(placed.node, Group) and not placed.node.name:
            yield from level(placed.inside)


def names(placed: PlacedNode) -> Iterator[str]:
    """Names that a place takes from the values of its level."""
    node = placed.node
    if isinstance(node, Extensions):
        yield "extensions"
        return
    if node.name:
        yield node.name
    if isinstance(node, Bits | Vle):
        yield from (bit.name for bit in node.bits)
    if isinstance(node, Repeat) and isinstance(node.count, Vle):
        yield node.count.name


def bit_names(bits: tuple[Bit, ...]) -> Iterator[str]:
    """Names of the bit fields that aren't reserved."""
    return (bit.name for bit in bits if not bit.reserved)


def is_given(placed: PlacedNode, values: Mapping[str, Any]) -> bool:
    """Whether the values of a level include this place."""
    node = placed.node
    if isinstance(node, Extensions):
        return bool(values.get("extensions"))
    if isinstance(node, Group) and not node.name:
        return any(is_given(inner, values) for inner in placed.inside)
    if isinstance(node, Bits | Vle) and any(name in values for name in bit_names(node.bits)):
        return True
    return node.name in values


def infer(name: str, values: Mapping[str, Any], places: tuple[PlacedNode, ...], sizes: Sizes) -> int | None:
    """The value of a flag or number that was left out, or None if it can't be inferred.

    Fields that are present decide; if they don't tell, fields that are absent do.
    """
    yes: set[int] = set()
    no: set[int] = set()
    for placed in level(places):
        node = placed.node
        if isinstance(node, Extension):
            continue
        here = is_given(placed, values)
        for term in terms(node.when):
            if term.name == name:
                if here:
                    yes.add(term.value)
                elif term.boolean:
                    no.add(1 - term.value)
        expression = node.size if isinstance(node, Fixed | Group) else ""
        if isinstance(expression, str) and conditions.names(expression) == {name}:
            size = sizes(placed)
            if size is not None:
                return solve(expression, name, size)
            no.add(0)
    votes = yes or no
    return None if not votes else votes.pop() if len(votes) == 1 else 0


def solve(expression: str, name: str, result: int) -> int:
    """The value of `name` for which a linear expression in it has this result."""
    formula = conditions.test(expression)
    base = formula({})
    return (result - base) // (formula({name: 1}) - base)


def single(placed: PlacedNode) -> bool:
    """Whether each turn of a repeat is a single value, not a dict."""
    return len(placed.inside) == 1 and not isinstance(placed.inside[0].node, Bits | Extensions)


def variant(label: str, labels: Mapping[str, tuple[str, str]]) -> dict[str, int]:
    """The flag that a label such as INIT_ACK stands for."""
    return {flag: names.index(label) for flag, names in labels.items() if label in names}
