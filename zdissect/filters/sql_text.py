"""What DuckDB and Spark spell differently."""

from dataclasses import dataclass

_QUOTED = frozenset({"offset", "timestamp", "length", "file", "fields"})
"""Columns whose names are words of SQL."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect of SQL."""

    name: str
    quote: str
    """Around names."""
    wide: str
    """Type of numbers of more than 64 bits."""
    starts: str
    strlen: str
    """Function that gives the bytes of a text."""
    micros: str
    """Function that gives the microseconds of a time."""
    lists: str
    """How many elements of {list} fulfil {test}, of `x`."""

    def column(self, name: str) -> str:
        """The name of a column."""
        return f"{self.quote}{name}{self.quote}" if name in _QUOTED else name

    def text(self, value: str) -> str:
        """A text."""
        if self.name == "spark":
            value = value.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{value}'"
        return "'" + value.replace("'", "''") + "'"


DIALECTS = {
    "duckdb": Dialect(
        "duckdb", '"', "HUGEINT", "starts_with", "strlen", "epoch_us", "len(list_filter({list}, lambda x: {test}))"
    ),
    "spark": Dialect(
        "spark", "`", "DECIMAL(38,0)", "startswith", "octet_length", "unix_micros", "size(filter({list}, x -> {test}))"
    ),
}
