"""Filters as conditions in SQL, for DuckDB and Spark, and the functions that some of them need.

    connection.sql(f"SELECT * FROM 'OUT/messages/*.parquet' WHERE {compile_filter(text).sql()}")

A condition is never true for a row that isn't selected, and null or false for all others.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from zdissect.filters.checkers import Check, checker
from zdissect.filters.predicates import AddressRange, Matches, Relates
from zdissect.filters.sql_text import DIALECTS
from zdissect.filters.sql_writer import SqlWriter
from zdissect.filters.typed_tree import Tree


def condition(tree: Tree, dialect: str) -> str:
    """The condition of a WHERE.

    Raises:
        FilterError: The dialect can't express it.
        ValueError: There is no such dialect.
    """
    if dialect not in DIALECTS:
        raise ValueError(f"there is no dialect {dialect!r}: {', '.join(DIALECTS)}")
    return SqlWriter(DIALECTS[dialect]).test(tree)


def functions(text: str) -> frozenset[str]:
    """The names of the functions that must be registered for a condition."""
    return frozenset(re.findall(r"\bzdissect_\w+(?=\()", re.sub(r"'(?:[^'\\]|\\.|'')*'", "''", text)))


def register(connection: Any) -> None:
    """Makes the functions known to a connection of DuckDB, or to a SparkSession."""
    if hasattr(connection, "udf"):
        for name, (function, _) in FUNCTIONS.items():
            connection.udf.register(name, function, "boolean")
        return
    known = {name for (name,) in connection.execute("SELECT function_name FROM duckdb_functions()").fetchall()}
    for name, (function, count) in FUNCTIONS.items():
        if name not in known:
            connection.create_function(name, function, ["VARCHAR"] * count, "BOOLEAN")


@cache
def _relation(word: str, key: str) -> Check:
    return checker(Relates(word, key), binary=False)


@cache
def _pattern(pattern: str, binary: bool) -> Check:
    return checker(Matches(pattern), binary)


@cache
def _network(low: str, high: str) -> Check:
    return checker(AddressRange(bytes.fromhex(low), bytes.fromhex(high)), binary=False)


def zdissect_intersects(key: str | None, other: str | None) -> bool | None:
    """Whether some key matches both expressions."""
    return None if key is None or other is None else _relation("intersects", other)(key)


def zdissect_includes(key: str | None, other: str | None) -> bool | None:
    """Whether every key that matches `other` matches `key`."""
    return None if key is None or other is None else _relation("includes", other)(key)


def zdissect_matches(text: str | None, pattern: str | None) -> bool | None:
    """Whether a regular expression matches somewhere in a text."""
    return None if text is None or pattern is None else _pattern(pattern, False)(text)


def zdissect_matches_bytes(digits: str | None, pattern: str | None) -> bool | None:
    """Whether a regular expression matches somewhere in bytes, which are given in hex."""
    return None if digits is None or pattern is None else _pattern(pattern, True)(bytes.fromhex(digits))


def zdissect_address_between(text: str | None, low: str | None, high: str | None) -> bool | None:
    """Whether an IP address lies between two others, which are given in hex."""
    return None if text is None or low is None or high is None else _network(low, high)(text)


FUNCTIONS: dict[str, tuple[Callable[..., bool | None], int]] = {
    "zdissect_intersects": (zdissect_intersects, 2),
    "zdissect_includes": (zdissect_includes, 2),
    "zdissect_matches": (zdissect_matches, 2),
    "zdissect_matches_bytes": (zdissect_matches_bytes, 2),
    "zdissect_address_between": (zdissect_address_between, 3),
}
"""The functions by their names, and how many arguments each takes."""
