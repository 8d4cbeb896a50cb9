"""The source as tests of it see it: its files, their trees and what they import."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

SOURCES = sorted(
    path.relative_to(ROOT).as_posix() for top in ("zdissect", "cli") for path in (ROOT / top).rglob("*.py")
)


class Import(NamedTuple):
    line: int
    module: str
    top: bool
    """Whether it happens when the file is imported."""


@cache
def tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), path)


def imports(path: str) -> list[Import]:
    """All imports of a file, relative ones in full."""
    return list(_imports(tree(path), path.removesuffix(".py").split("/")[:-1], top=True))


def _imports(node: ast.AST, package: list[str], top: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(child.lineno, alias.name, top) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = package[: len(package) + 1 - child.level] if child.level else []
            module = ".".join([*base, *([child.module] if child.module else [])])
            # `from zdissect import x` may name a module
            names = [f"{module}.{alias.name}" if module in ("zdissect", "cli") else module for alias in child.names]
            yield from (Import(child.lineno, name, top) for name in dict.fromkeys(names))
        else:
            typing = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(child, package, top and not typing and not inside)


def part(path: str) -> str:
    """`zdissect/flow/ip.py` is of `flow`, `zdissect/table.py` is `table`."""
    return path.removeprefix("zdissect/").removesuffix(".py").split("/")[0]


LIBRARY = [path for path in SOURCES if path.startswith("zdissect/")]
