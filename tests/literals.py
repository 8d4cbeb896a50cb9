"""Finds numbers of a wire format in source code: masks, ids, bytes and prefixes that are written down as literals.

A name that stands for a literal is one too, also where another module imports it; what comes from the grammar isn't.
"""

import ast
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple, Optional

TEXT = frozenset(b"\t\r\n") | frozenset(range(0x20, 0x7F))
NAMES = frozenset({"ident", "version", "header", "first", "opcode", "enc", "flags"})
"""Names of bytes, and of bits, of a message."""
BYTES = frozenset({"data", "head", "payload"})
"""Names of the bytes of a message."""
MAKERS = frozenset({"range", "bytes", "bytearray", "frozenset", "set", "tuple", "int"})

Find = Callable[[str], Optional["Source"]]
"""The source of a module by its name; None if its names don't count as literals."""


class Literal(NamedTuple):
    """A number of a wire format."""

    line: int
    text: str
    """The expression as `ast.unparse` spells it."""


class Source:
    """The source of a module; `find` gives those that it imports from."""

    def __init__(self, text: str, find: Find = lambda module: None) -> None:
        self.lines = text.encode().splitlines()
        self.tree = ast.parse(text)
        self.find = find

    @cached_property
    def values(self) -> dict[str, ast.expr | None]:
        """What each name is given; None if that is several things, or is found out when it runs."""
        values: dict[str, ast.expr | None] = {}
        for node in ast.walk(self.tree):
            for name, value in _given(node):
                values[name] = None if name in values else value
        return values

    @cached_property
    def imported(self) -> dict[str, tuple[str, str]]:
        """(module, name there) of what is imported by name."""
        return {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and node.module and not node.level
            for alias in node.names
        }

    def literals(self) -> list[Literal]:
        """All numbers of a wire format, in order."""
        found = (one for node in ast.walk(self.tree) for one in self.suspects(node))
        return sorted({Literal(one.lineno, ast.unparse(one)) for one in found})

    def suspects(self, node: ast.AST) -> Iterator[ast.expr]:
        """What in a node is such a number."""
        match node:
            case ast.Constant() if self.spelled_as_bits(node):
                yield node
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr() | ast.BitXor(), right) if not _tests_a_bit(node):
                if self.number(left) != self.number(right):
                    yield node
            case ast.AugAssign(_, ast.BitAnd() | ast.BitOr() | ast.BitXor(), value) if self.number(value):
                yield value
            case ast.Compare(left, _, others):
                sides = [left, *others]
                if any(map(_of_a_message, sides)) and any(self.number(one) and not _zero(one) for one in sides):
                    yield node
            case ast.Call(ast.Name("bytes" | "bytearray"), [ast.List() | ast.Tuple() as given]) if self.number(given):
                yield node
            case ast.Call(ast.Attribute(_, "fromhex"), [ast.Constant()]):
                yield node
            case ast.Call(ast.Name("Framing"), [ast.Constant() | ast.Name() as prefix, *_]) if not _zero(prefix):
                if self.number(prefix):
                    yield node
            case ast.keyword("prefix", value) if self.number(value) and not _zero(value):
                yield value

    def number(self, node: ast.expr | None, seen: frozenset[str] = frozenset()) -> bool:
        """Whether an expression is made of numbers alone: `31`, `~0x40`, `1 << 5`, `(1, 7)`, `range(2, 6)`, or a name
        that stands for such."""
        match node:
            case ast.Constant(value):
                return type(value) in (int, bytes)
            case ast.Name(name) if name in self.values:
                return name not in seen and self.number(self.values[name], seen | {name})
            case ast.Name(name) if name in self.imported:
                return self._elsewhere(*self.imported[name])
            case ast.Attribute(ast.Name(module), name) if module in self.imported:
                return self._elsewhere(".".join(self.imported[module]), name)
            case ast.UnaryOp(_, operand):
                return self.number(operand, seen)
            case ast.BinOp(left, _, right):
                return self.number(left, seen) and self.number(right, seen)
            case ast.Tuple(parts) | ast.List(parts) | ast.Set(parts):
                return bool(parts) and all(self.number(one, seen) for one in parts)
            case ast.Call(ast.Name(name), given) if name in MAKERS and given:
                return all(self.number(one, seen) or _text(one) for one in given)
            case ast.GeneratorExp(element, loops) | ast.ListComp(element, loops) | ast.SetComp(element, loops):
                bound = {name for loop in loops for name in _names(loop.target)}
                return _names(element) <= bound and all(self.number(loop.iter, seen) for loop in loops)
        return False

    def _elsewhere(self, module: str, name: str) -> bool:
        source = self.find(module)
        return source is not None and source.number(ast.Name(name))

    def spelled_as_bits(self, node: ast.Constant) -> bool:
        """Whether a literal is spelled as bits are: in hexadecimal or binary, or as bytes that are no text."""
        if isinstance(node.value, bytes):
            return not TEXT.issuperset(node.value)
        spelling = self.lines[node.lineno - 1][node.col_offset :][:2].lower()
        return type(node.value) is int and spelling in (b"0x", b"0b")


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """(name, value) of what a node assigns. Of several names at once each has its own part, or all of it."""
    match node:
        case ast.Assign([ast.Tuple(names)], ast.Tuple(values)) if len(names) == len(values):
            pairs = zip(names, values, strict=True)
            yield from ((name.id, value) for name, value in pairs if isinstance(name, ast.Name))
        case ast.Assign(targets, value):
            yield from ((name, value) for target in targets for name in _names(target))
        case ast.AnnAssign(ast.Name(name), _, value) | ast.NamedExpr(ast.Name(name), value):
            yield name, value
        case ast.AugAssign(ast.Name(name)):
            yield name, None
        case ast.For(target) | ast.comprehension(target):
            yield from ((name, None) for name in _names(target))
        case ast.arg(name):
            yield name, None


def _names(node: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _tests_a_bit(node: ast.BinOp) -> bool:
    """`value >> number & 1`: which bit that is isn't said here."""
    match node:
        case ast.BinOp(ast.BinOp(_, ast.RShift(), place), ast.BitAnd(), ast.Constant(1)):
            return not isinstance(place, ast.Constant)
    return False


def _of_a_message(node: ast.expr) -> bool:
    """Whether an expression stands for a byte, or for bits, of a message: `data[0]`, `ident`, `header & mask`."""
    match node:
        case ast.BinOp(_, ast.BitAnd() | ast.RShift()):
            return True
        case ast.Name(name) | ast.Attribute(_, name):
            return name in NAMES
        case ast.Subscript(ast.Name(name) | ast.Attribute(_, name)):
            return name in BYTES
    return False


def _zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
