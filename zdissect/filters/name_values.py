"""The values that names have for a message: what filters compare, for whoever wants to see it."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from zdissect.dissection import Dissection
from zdissect.filters.compiled import TABLE
from zdissect.filters.on_tapes import Scope, Surroundings, TapeCompiler, Wanted
from zdissect.filters.typed_tree import AheadValues, ColumnValues, SpanValues, sources
from zdissect.filters.vocabulary import FilterName


class Foresight(Protocol):
    """What a first pass over the capture found out: as `LookAhead` does."""

    def columns(self, row: dict[str, Any]) -> dict[str, Any]:
        """What is known of the message of a full row."""


class NameValues:
    """Reads the values of names: of a message's own fields, the FRAME around it, its batch, packet and session."""

    def __init__(self, names: Sequence[FilterName]) -> None:
        known = set().union(*(sources(one.operand) for one in names))
        spans = {path for one in known if isinstance(one, SpanValues) and one.instead is None for path in one.paths}
        self.looks_ahead = any(isinstance(one, AheadValues) for one in known)
        """Whether a first pass over the capture is needed: see `ahead`."""
        self.needs_tape = bool(spans)
        """Whether dissections must have tapes."""
        self.ahead: Foresight | None = None
        """What a first pass found out; without one, nothing is known of what comes later."""
        self.began_ns: int | None = None
        """When the capture began; if nobody says so, with the first item."""
        self._wanted = Wanted(frozenset(spans))
        self.on_rows = all(
            isinstance(one, ColumnValues) or (isinstance(one, SpanValues) and one.instead) for one in known
        )
        """Whether rows hold all that the names read."""
        compiler = TapeCompiler(False)
        self._readers = [compiler.values(one.operand) for one in names]

    def read(self, item: Dissection) -> Iterator[list[list[Any]]]:
        """For each message of an item: for each name its values, none, one or several."""
        if self.began_ns is None:
            self.began_ns = item.frame.ts_ns
        readers = self._readers
        rows = TABLE.rows(item)
        if self.ahead is not None:
            rows = [{**row, **self.ahead.columns(row)} for row in rows]
        around = Surroundings(item, self._wanted, self.began_ns)
        for place, row in enumerate(rows):
            scope = Scope(row, item, around, place)
            yield [list(values(scope)) for values in readers]
