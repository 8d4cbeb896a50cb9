"""Typed trees as conditions in SQL."""

import string
from dataclasses import dataclass

from zdissect.filters.filter_error import FilterError
from zdissect.filters.on_rows import columns_of
from zdissect.filters.sql_predicates import HALF, all_of, any_of, ask
from zdissect.filters.sql_text import Dialect
from zdissect.filters.typed_tree import (
    AllOf,
    AnyOf,
    Called,
    Inverse,
    Masked,
    Operand,
    Pair,
    Present,
    Sliced,
    Tree,
    ValueTest,
    sources,
)
from zdissect.filters.value_types import TEXT, ValueType

_COMPARED = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


@dataclass(frozen=True, slots=True)
class Sql:
    """A value in SQL. With a list, it is that of an element `x`."""

    text: str
    list: str = ""


class SqlWriter:
    """Writes conditions in a dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def test(self, tree: Tree) -> str:
        """A condition: true for what is selected, false or null for all else."""
        match tree:
            case AllOf(parts):
                return all_of(list(map(self.test, parts)))
            case AnyOf(parts):
                return any_of(list(map(self.test, parts)))
            case Inverse(inner):
                return f"NOT COALESCE({self.test(inner)}, FALSE)"
            case Present(operand):
                return self.present(operand)
            case ValueTest():
                return self.value_test(tree)
            case Pair():
                return self.pair(tree)

    def some(self, value: Sql, test: str) -> str:
        """The condition that a value, or one of a list, fulfils a test."""
        if not value.list:
            return test
        return f"{self.dialect.lists.format(list=value.list, test=test)} > 0"

    def none(self, value: Sql, test: str) -> str:
        """The condition that no value there is fails a test."""
        failed = f"{value.text} IS NOT NULL AND NOT COALESCE({test}, FALSE)"
        if not value.list:
            return f"NOT ({failed})"
        return f"COALESCE({self.dialect.lists.format(list=value.list, test=failed)}, 0) <= 0"

    def present(self, operand: Operand) -> str:
        guards = {guard.columns for source in sources(operand) for guard in columns_of(source).guards}
        values = self.values(operand)
        if len(values) == 1 and (values[0].text,) in guards:
            return self.guarded((operand,), "")
        return self.guarded((operand,), any_of([self.some(one, f"{one.text} IS NOT NULL") for one in values]))

    def value_test(self, tree: ValueTest) -> str:
        kind = tree.operand.type
        values = self.values(tree.operand)
        tests = [ask(self.dialect, one.text, kind, tree.predicate, bool(one.list)) for one in values]
        asked = list(zip(values, tests, strict=True))
        if not tree.every or (len(values) == 1 and not values[0].list):
            return self.guarded((tree.operand,), any_of([self.some(*one) for one in asked]))
        there = any_of([self.some(one, f"{one.text} IS NOT NULL") for one in values])
        return self.guarded((tree.operand,), all_of([there, *(self.none(*one) for one in asked)]))

    def guarded(self, operands: tuple[Operand, ...], found: str) -> str:
        """What was found, where the guards of columns hold."""
        parts = []
        for known in (columns_of(source) for operand in operands for source in sources(operand)):
            for guard in known.guards:
                columns = map(self.dialect.column, guard.columns)
                parts.append(any_of([ask(self.dialect, one, TEXT, guard.predicate, False) for one in columns]))
        return all_of([*dict.fromkeys(parts), *([found] if found else [])])

    # --- operands

    def values(self, operand: Operand) -> list[Sql]:
        match operand:
            case Called(_, "count", inner):
                return [Sql(self.counted(self.values(inner)))]
            case Called(_, function, inner):
                return [Sql(self.call(function, one.text, inner.type), one.list) for one in self.values(inner)]
            case Sliced(_, inner, pieces):
                step = 2 if inner.type.binary else 1
                return [Sql(_pieces(one.text, pieces, step), one.list) for one in self.values(inner)]
            case Masked(_, inner, mask):
                return [Sql(f"(CAST({one.text} AS BIGINT) & {mask})", one.list) for one in self.values(inner)]
        known = columns_of(operand)
        out = []
        for name in known.columns:
            column = self.dialect.column(name)
            if known.listed:
                out.append(Sql(self.plain(f"x.{known.member}" if known.member else "x", known.type), column))
            else:
                out.append(Sql(self.plain(column, known.type), ""))
        return out

    def plain(self, text: str, kind: ValueType) -> str:
        """The value of a column as it is compared."""
        if kind.binary:
            return f"hex({text})"
        return f"{self.dialect.micros}({text})" if kind.kind == "time" and kind.unit > 1 else text

    def counted(self, values: list[Sql]) -> str:
        """How many values there are; null for none."""
        each = [
            f"COALESCE({self.dialect.lists.format(list=one.list, test=f'{one.text} IS NOT NULL')}, 0)"
            if one.list else f"CASE WHEN {one.text} IS NOT NULL THEN 1 ELSE 0 END"
            for one in values
        ]  # fmt: skip
        return f"NULLIF({' + '.join(each)}, 0)"

    def call(self, function: str, text: str, kind: ValueType) -> str:
        """A function of a value."""
        if function == "len":
            if not kind.binary:
                return f"{self.dialect.strlen}({text})"
            return f"CAST(length({text}) / 2 AS BIGINT)"
        if function in ("lower", "upper"):
            letters = (string.ascii_uppercase, string.ascii_lowercase)
            before, after = letters if function == "lower" else letters[::-1]
            return f"translate({text}, '{before}', '{after}')"
        if function == "number":
            return f"TRY_CAST({text} AS BIGINT)"
        wide = f"CAST({text} AS {self.dialect.wide})"
        if kind.unsigned:
            wide = f"(CASE WHEN {text} < 0 THEN {wide} + {2 * HALF} ELSE {wide} END)"
        if function == "string":
            return f"CAST({wide if kind.unsigned else text} AS {'VARCHAR' if self.is_duckdb else 'STRING'})"
        return f"({wide} * {kind.unit})" if kind.unit > 1 else wide

    @property
    def is_duckdb(self) -> bool:
        """Whether the dialect is DuckDB's."""
        return self.dialect.name == "duckdb"

    # --- two operands

    def pair(self, tree: Pair) -> str:
        lefts, rights = self.values(tree.left), self.values(tree.right)
        two_lists = any(one.list for one in lefts) and any(one.list for one in rights)
        if two_lists or (tree.every and len(lefts) * len(rights) > 1):
            raise FilterError("", 0, "a condition in SQL can't compare these two: both repeat")
        found = []
        for one in lefts:
            for other in rights:
                test = self.compare(one.text, tree.word, other.text, bool(one.list or other.list))
                found.append(self.some(one if one.list else other, test))
                if tree.every and (one.list or other.list):
                    found[-1] = all_of([found[-1], self.none(one if one.list else other, test)])
        return self.guarded((tree.left, tree.right), any_of(found))

    def compare(self, one: str, word: str, other: str, listed: bool) -> str:
        if word in _COMPARED:
            return f"{one} {_COMPARED[word]} {other}"
        if word == "contains":
            return f"contains({one}, {other})"
        if listed:
            raise FilterError("", 0, f"a condition in SQL can't ask {word} of the elements of a list")
        if word == "intersects":
            return f"zdissect_intersects({one}, {other})"
        return f"zdissect_includes({', '.join((one, other) if word == 'includes' else (other, one))})"


def _pieces(text: str, pieces: tuple[tuple[int, int | None], ...], step: int) -> str:
    """Pieces of a text, put together; null if they are empty. Of bytes in hex, each has two digits."""
    found = [_piece(text, first * step, None if stop is None else stop * step) for first, stop in pieces]
    return f"NULLIF({' || '.join(found)}, '')"


def _piece(text: str, first: int, stop: int | None) -> str:
    start = str(first) if first >= 0 else f"greatest(length({text}) - {-first}, 0)"
    if stop is None:
        return f"substr({text}, {start} + 1)"
    if first >= 0 and stop >= 0:
        return f"substr({text}, {first + 1}, {max(stop - first, 0)})"
    end = str(stop) if stop >= 0 else f"length({text}) - {-stop}"
    return f"substr({text}, {start} + 1, greatest({end} - {start}, 0))"
