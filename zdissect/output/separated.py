"""Lines of separated values: `-T fields` as tshark has it, and `-T csv`."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

from zdissect.dissection import Dissection
from zdissect.filters import FilterName, name, suggest
from zdissect.filters.name_values import NameValues
from zdissect.grammar.columns import COLUMNS
from zdissect.output.row_cells import RowCells
from zdissect.output.value_text import value_text

if TYPE_CHECKING:
    from zdissect.vector.usual_batches import UsualBatches

Texts = list[str]


class NoSuchName(LookupError):
    """A name that neither the grammar nor a table has; its text says which, and what is near."""


@dataclass(frozen=True, slots=True)
class Separators:
    """What `-E` sets, by tshark's names."""

    header: bool = False
    separator: str = "\t"
    occurrence: str = "a"
    """f: the first value, l: the last one, a: all of them."""
    aggregator: str = ","
    """Between several values of a name."""
    quote: str = ""
    bom: bool = False


CSV = Separators(header=True, separator=",", quote='"')
"""Quotes stand where RFC 4180 asks for them; in `-T fields` around each value that there is."""

_SPACES = {"/t": "\t", "/s": " "}
_KEYS = "bom|header|separator|occurrence|aggregator|quote"
_SETTING = re.compile(rf"({_KEYS})=(.*?)(?:,(?=(?:{_KEYS})=)|$)", re.DOTALL)
_ALLOWED: dict[str, dict[str, Any]] = {
    "bom": {"y": True, "n": False},
    "header": {"y": True, "n": False},
    "occurrence": {letter: letter for letter in "fla"},
    "quote": {"d": '"', "s": "'", "n": ""},
}


def separators(settings: Iterable[str], start: Separators) -> Separators:
    """What one or several `-E` set: `header=y`, or several of them with commas, `header=y,separator=,,quote=d`.

    Raises:
        ValueError: A text is none of these; it says what is possible.
    """
    for text in settings:
        at = 0
        while at < len(text):
            match = _SETTING.match(text, at)
            if match is None:
                raise ValueError(f"{text[at:]!r} isn't understood; write NAME=VALUE, where NAME is {_KEYS}")
            start = replace(start, **{match[1]: _setting(match[1], match[2])})
            at = match.end()
    return start


def _setting(key: str, value: str) -> Any:
    known = _ALLOWED.get(key)
    if known is not None:
        if value not in known:
            raise ValueError(f"{key}={value} isn't known; {key} is {' or '.join(known)}")
        return known[value]
    char = _SPACES.get(value, value)
    if len(char) != 1 or not (char.isprintable() or char == "\t"):
        raise ValueError(f"{key}={value} isn't known; {key} is one printable character, /t or /s")
    return char


class SeparatedWriter:
    """Turns the messages of dissections into lines.

    Args:
        names: What each line has, of names that filters know; none: all columns of the message table.
        payload: How payloads are written: a key of `value_text.PAYLOADS`.
        csv: Whether quotes stand only where they must.

    Raises:
        NoSuchName: There is no such name.
    """

    def __init__(self, names: Sequence[str], separators: Separators, payload: str = "hex", csv: bool = False) -> None:
        self.names = tuple(names) or tuple(column.name for column in COLUMNS)
        self.separators = separators
        self.known = known = [_known(one) for one in self.names]
        self.values = NameValues(known)
        quote = separators.quote
        self._finish: Callable[[str], str] = str
        if csv:
            self._finish = _quoted_if_needed(separators.separator)
        elif quote:
            self._finish = lambda text: f"{quote}{text.replace(quote, quote * 2)}{quote}" if text else ""
        self._cells = [self._cell(one, value_text(one, payload)) for one in known]
        self._row_cells = RowCells(known, self._cells) if self.values.on_rows else None

    def _cell(self, name: FilterName, text: Callable[[Any], str]) -> Callable[[list[Any]], str]:
        """How the values of a name become what stands in a line; structs become an array of JSON."""
        finish, join = self._finish, self.separators.aggregator.join
        if name.type.kind == "none" and name.name in _STRUCTS:
            return lambda values: finish(f"[{','.join(map(text, values))}]") if values else ""
        pick = {"f": slice(1), "l": slice(-1, None), "a": slice(None)}[self.separators.occurrence]

        def cell(values: list[Any]) -> str:
            if len(values) == 1:
                return finish(text(values[0]))
            return finish(join(map(text, values[pick]))) if values else ""

        return cell

    def header(self) -> str:
        """What stands before the first line: the names, if they are asked for."""
        text = "\ufeff" if self.separators.bom else ""
        return f"{text}{self.separators.separator.join(self.names)}\n" if self.separators.header else text

    @property
    def takes_columns(self) -> bool:
        """Whether `texts` can be asked for."""
        return self._row_cells is not None and not self._row_cells.whole

    def texts(self, usual: "UsualBatches") -> Iterator[str]:
        """The line of each message of usual batches, without its end."""
        assert self._row_cells is not None
        return self._row_cells.lines(usual, self.separators.separator.join)

    def lines(self, item: Dissection, chosen: Sequence[bool] | None = None) -> Iterator[str]:
        """The line of each message, of those that are chosen."""
        join, cells = self.separators.separator.join, self._cells
        if self._row_cells is not None:
            lists = self._row_cells.lists(item, chosen)
        else:
            every = self.values.read(item)
            found = every if chosen is None else compress(every, chosen)
            lists = [[cell(values) for cell, values in zip(cells, one, strict=True)] for one in found]
        return (join(one) + "\n" for one in lists)


_STRUCTS = frozenset(column.name for column in COLUMNS if "struct" in column.type)


def _known(asked: str) -> FilterName:
    found = name(asked)
    if found is None:
        hint = suggest(asked)
        raise NoSuchName(f"no field and no column is called {asked!r}{'; ' if hint else ''}{hint}")
    return found


def _quoted_if_needed(separator: str) -> Callable[[str], str]:
    """RFC 4180: quotes around what holds a separator, a quote or the end of a line; quotes in it stand twice."""
    plain = not separator.isalnum()
    special = re.compile(f'[{re.escape(separator)}"\r\n]').search

    def finish(text: str) -> str:
        if plain and text.isalnum():  # of long texts the most, and much faster to be told
            return text
        return '"' + text.replace('"', '""') + '"' if special(text) else text

    return finish
