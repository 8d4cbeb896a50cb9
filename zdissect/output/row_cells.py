"""Cells of lines whose names are all columns of rows: each is made once for all messages that have it in common.

Where a cell comes from is decided once for each name: from the conversation, the frame, the template, or the message
itself. Only a name that reads several of these needs a whole row.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from zdissect.dissection import Dissection
from zdissect.engine.messages import DecodedMessage, Row
from zdissect.engine.templates import CELL, OPEN, Template
from zdissect.filters import FilterName
from zdissect.filters.column_values import conversion
from zdissect.filters.on_rows import RowCompiler, Values, columns_read
from zdissect.filters.row_selection import PLACES, SHARED
from zdissect.filters.typed_tree import ColumnValues
from zdissect.grammar.columns import FOLLOWING
from zdissect.table import Table

Cell = Callable[[list[Any]], str]
"""What the values of a name become."""
Text = Callable[[Row], str]
"""The cell of a name, from a row."""
Make = Callable[[Any], str]
"""The cell of a name, from the value of its only column."""

MOST_KEPT = 512
"""Values of a column whose cells are kept: most come again, in the same frame at least."""
MOST_LISTS = 4096
"""Lists of cells that are kept."""
_FRAME = frozenset({"file", "frame_number", "ts", "ts_ns"})


class _Own(NamedTuple):
    """A name whose values are in the cells of messages."""

    place: int
    at: int
    """Where in them."""
    make: Make
    applies: Callable[[Row], bool]
    """Whether messages with the row of this template have it."""


class _Conversation(NamedTuple):
    """What the messages of one direction have in common."""

    cells: list[tuple[int, str]]
    """Place and cell of names that only it decides."""
    known: dict[Template, tuple[list[str], list[_Own]]]
    """For templates, all cells that messages with it have in common, and the names that they don't."""


class RowCells:
    """Turns messages into lists of cells.

    Args:
        names: What each line has; columns hold all that they read.
        cells: What the values of each become.
    """

    def __init__(self, names: Sequence[FilterName], cells: Sequence[Cell]) -> None:
        self._blank = [""] * len(names)
        self._texts: list[Text] = []
        self._plain: dict[str, list[tuple[int, Make]]] = {}
        """Places of names that are nothing but a column, for each column."""
        self._others: list[int] = []
        """Places of the other ones that the row of a message has."""
        self._conversation: list[int] = []
        self._frame: list[int] = []
        self._numbers: list[tuple[int, bool, Make]] = []
        """(place, whether it counts the messages of the sender, cell): where in its frame or stream a message is."""
        self._own: list[_Own] = []
        self._whole: list[int] = []
        """Places of names that take a whole row."""
        self._conversations: dict[tuple[Any, ...], _Conversation] = {}
        self._lists = 0
        for place, (name, cell) in enumerate(zip(names, cells, strict=True)):
            self._add(place, name, cell)

    def _add(self, place: int, name: FilterName, cell: Cell) -> None:
        """Decides where the cell of a name comes from."""
        compiler = RowCompiler()
        known, reads = compiler.plain(name.operand), columns_read(name.operand)
        single = known if known is not None and len(known.columns) == 1 and not known.member else None
        column = single.columns[0] if single is not None else ""
        make = _make(single, cell) if single is not None else None
        if single is not None and make is not None and not single.guards:
            self._texts.append(_of_column(column, make))
        else:
            self._texts.append(_of_values(compiler.values(name.operand), cell))
        if reads <= _FRAME:
            self._frame.append(place)
        elif reads <= SHARED - _FRAME:
            self._conversation.append(place)
        elif column in PLACES and make is not None and reads == {column}:
            self._numbers.append((place, column == "message_number", make))
        elif reads.isdisjoint(OPEN | SHARED | PLACES):
            self._of_rows(place, column if single is not None and not single.guards else "", make)
        elif single is not None and make is not None and (reads - {column}).isdisjoint(OPEN | SHARED | PLACES):
            self._of_rows(place, column if not single.guards else "", make)
            source, derive = FOLLOWING.get(column, (column, None))
            applies = compiler.guarded(lambda row: True, single.guards)
            self._own.append(_Own(place, 1 + CELL.index(source), _after(derive, make), applies))
        else:
            self._whole.append(place)

    def _of_rows(self, place: int, column: str, make: Make | None) -> None:
        """Notes a name of which the row of a message holds all: nothing but a column, or something else."""
        if column and make is not None:
            self._plain.setdefault(column, []).append((place, make))
        else:
            self._others.append(place)

    def lists(self, item: Dissection, chosen: Sequence[bool] | None = None) -> list[list[str]]:
        """The cells of each message of an item, of those that are chosen."""
        conversation = self._shared(item)
        texts, numbers, whole = self._texts, self._numbers, self._whole
        columns = Table.frame(item) if self._frame else {}
        frame = [(place, texts[place](columns)) for place in self._frame]
        where = Table.where(item) if whole else {}
        out = []
        for number, message in enumerate(item.messages):
            if chosen is not None and not chosen[number]:
                continue
            cells = self._cells(conversation, message)
            for place, text in frame:
                cells[place] = text
            for place, sent, make in numbers:
                cells[place] = make(item.first[sent] + number)
            if whole:
                row = Table.whole(item, number, where)
                for place in whole:
                    cells[place] = texts[place](row)
            out.append(cells)
        return out

    def _cells(self, conversation: _Conversation, message: DecodedMessage) -> list[str]:
        """The cells of a message, but for those of its frame and its place."""
        template = message.template
        if template is None:
            return self._of(conversation, message.row)
        known = conversation.known.get(template)
        if known is None:
            known = self._learn(conversation, template)
        cells = known[0].copy()
        cell = message.cell
        for place, at, make, _ in known[1]:
            value = cell[at]
            if value is not None:
                cells[place] = make(value)
        return cells

    def _of(self, conversation: _Conversation, row: Row) -> list[str]:
        """The cells of a row."""
        cells, plain = self._blank.copy(), self._plain
        for column in row.keys() & plain.keys():
            value = row[column]
            if value is not None:
                for place, make in plain[column]:
                    cells[place] = make(value)
        for place in self._others:
            cells[place] = self._texts[place](row)
        for place, text in conversation.cells:
            cells[place] = text
        return cells

    def _learn(self, conversation: _Conversation, template: Template) -> tuple[list[str], list[_Own]]:
        """What messages of a conversation with a template have in common."""
        self._lists += 1
        if self._lists > MOST_LISTS:
            self._lists = 0
            self._conversations.clear()
        own = [one for one in self._own if one.applies(template.row)]
        made = conversation.known[template] = self._of(conversation, template.row), own
        return made

    def _shared(self, item: Dissection) -> _Conversation:
        """What the messages of this direction have in common."""
        key = Table.conversation_key(item)
        found = self._conversations.get(key)
        if found is None:
            if len(self._conversations) >= MOST_LISTS:
                self._conversations.clear()
            row = Table.conversation(item) if self._conversation else {}
            found = _Conversation([(place, self._texts[place](row)) for place in self._conversation], {})
            self._conversations[key] = found
        return found


def _of_column(column: str, make: Make) -> Text:
    return lambda row: "" if (value := row.get(column)) is None else make(value)


def _of_values(values: Values, cell: Cell) -> Text:
    return lambda row: cell(list(values(row)))


def _make(known: ColumnValues, cell: Cell) -> Make:
    """The cell of a column."""
    change = conversion(known.type, known.columns[0])
    if known.listed:
        return lambda values: cell(list(values) if change is None else list(map(change, values)))

    def make(value: Any) -> str:
        changed = value if change is None else change(value)
        return "" if changed is None else cell([changed])

    return make if known.type.binary else _remembered(make)


def _after(derive: Callable[[Any], Any] | None, make: Make) -> Make:
    """The cell of a column whose value follows from another one."""
    return make if derive is None else lambda value: make(derive(value))


def _remembered(make: Make) -> Make:
    """The same function, which keeps its last results."""
    kept: dict[Any, str] = {}

    def remember(value: Any) -> str:
        if (found := kept.get(value)) is not None:
            return found
        if len(kept) >= MOST_KEPT:
            kept.clear()
        found = kept[value] = make(value)
        return found

    return remember
