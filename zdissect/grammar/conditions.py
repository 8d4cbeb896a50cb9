"""The language of conditions, sizes and counts: names of earlier fields, integers, comparisons, and/or/not, + - *.

A text such as `mode != 0 and R` is parsed once, at import. The interpreter calls it with the values of the fields read
so far; a name without a value counts as 0. The compiler pastes its source and the docs print it.
"""

import ast
from collections.abc import Callable, Mapping
from functools import cache

ALLOWED = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.BinOp, ast.Add, ast.Sub, ast.Mult,
    ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Name, ast.Load, ast.Constant,
)  # fmt: skip

Test = Callable[[Mapping[str, int]], int]


class ConditionError(ValueError):
    """A condition of the grammar that isn't in the language."""


@cache
def parse(text: str) -> ast.Expression:
    """The syntax tree of a condition. Raises ConditionError for anything outside the language."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as problem:
        raise ConditionError(f"condition {text!r}: {problem.msg}") from None
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED) or (isinstance(node, ast.Constant) and type(node.value) is not int):
            raise ConditionError(f"condition {text!r}: {ast.unparse(node)!r} isn't allowed here")
    return tree


@cache
def names(text: str) -> frozenset[str]:
    """The field names that a condition uses."""
    return frozenset(node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)) if text else frozenset()


@cache
def test(text: str) -> Test:
    """The condition as a function of the values read so far."""
    source = ast.unparse(_Lookup().visit(ast.parse(text, mode="eval"))) if parse(text) else ""
    function: Test = eval(f"lambda values: {source}", {"__builtins__": {}})
    return function


@cache
def flag_test(text: str) -> tuple[str, bool] | None:
    """(name, wanted) if the condition is nothing but `NAME` or `not NAME`, else None."""
    body = parse(text).body
    if isinstance(body, ast.Name):
        return body.id, True
    if isinstance(body, ast.UnaryOp) and isinstance(body.op, ast.Not) and isinstance(body.operand, ast.Name):
        return body.operand.id, False
    return None


class _Lookup(ast.NodeTransformer):
    """Replaces each name by a look-up with the default 0."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        call = ast.parse(f"values.get({node.id!r}, 0)", mode="eval").body
        return ast.copy_location(call, node)
