"""Cells of lines whose names are all columns of rows: each is made once for all messages that have it in common.

Where a cell comes from is decided once for each name: from the conversation, the frame, the template, or the message
itself. Only a name that reads several of these needs a whole row.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.engine.templates import OPEN
from zdissect.filters import FilterName
from zdissect.filters.column_values import conversion
from zdissect.filters.on_rows import RowCompiler, Values, columns_read
from zdissect.filters.row_selection import PLACES, SHARED
from zdissect.filters.typed_tree import ColumnValues
from zdissect.grammar.columns import FOLLOWING
from zdissect.grammar.short_cache import LONGEST
from zdissect.records import Frame
from zdissect.table import Table

if TYPE_CHECKING:
    from zdissect.vector.usual_batches import UsualBatches

Cell = Callable[[list[Any]], str]
"""What the values of a name become."""
Text = Callable[[Row], str]
"""The cell of a name, from a row."""
Make = Callable[[Any], str]
"""The cell of a name, from the value of its only column."""

MOST_KEPT = 512
"""Values of a column whose cells are kept: most come again, in the same frame at least."""
MOST_CONVERSATIONS = 4096
"""Conversations whose cells are kept."""
_FRAME = frozenset({"file", "frame_number", "ts", "ts_ns"})


class _Own(NamedTuple):
    """A name whose values differ from message to message."""

    place: int
    column: str
    """Among those that templates leave open."""
    make: Make
    applies: Callable[[Row], bool]
    """Whether messages with the row of this template have it."""


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
        self.whole: list[int] = []
        """Places of names that take a whole row."""
        self._conversations: dict[tuple[Any, ...], list[tuple[int, str]]] = {}
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
            self._own.append(_Own(place, source, _after(derive, make), applies))
        else:
            self.whole.append(place)

    def _of_rows(self, place: int, column: str, make: Make | None) -> None:
        """Notes a name of which the row of a message holds all: nothing but a column, or something else."""
        if column and make is not None:
            self._plain.setdefault(column, []).append((place, make))
        else:
            self._others.append(place)

    def lists(self, item: Dissection, chosen: Sequence[bool] | None = None) -> list[list[str]]:
        """The cells of each message of an item, of those that are chosen."""
        texts = self._texts
        shared = self._shared(item) + self._framed(item.frame)
        where = Table.where(item) if self.whole else {}
        out = []
        for number, message in enumerate(item.messages):
            if chosen is not None and not chosen[number]:
                continue
            cells = self._of(message.row)
            for place, text in shared:
                cells[place] = text
            for place, sent, make in self._numbers:
                cells[place] = make(item.first[sent] + number)
            if self.whole:
                row = Table.whole(item, number, where)
                for place in self.whole:
                    cells[place] = texts[place](row)
            out.append(cells)
        return out

    def lines(self, usual: "UsualBatches", join: Callable[[Iterable[str]], str]) -> Iterator[str]:
        """The cells of each message of usual batches, joined; not where a name takes a whole row."""
        kinds, kind = usual.kinds
        ways = [self._shared(usual.item(way)) for way in range(len(usual.ways))]
        common = [self._of(one.template.row) for one in kinds]
        for cells, one in zip(common, kinds, strict=True):
            for place, text in ways[one.way]:
                cells[place] = text
        columns = self._columns(usual, common)
        pieces: list[Iterable[str]] = []
        for own, places in groupby(range(len(self._blank)), columns.get):
            if own is not None:
                pieces += [own for _ in places]
                continue
            first, *others = places
            among = slice(first, first + len(others) + 1)
            pieces.append(map([join(cells[among]) for cells in common].__getitem__, kind.tolist()))
        return map(join, zip(*pieces, strict=True))

    def _columns(self, usual: "UsualBatches", common: list[list[str]]) -> dict[int, Iterable[str]]:
        """The cells of each place where they aren't common to the messages of a kind."""
        out: dict[int, Iterable[str]] = {}
        kind, batch, numbers = usual.kinds[1].tolist(), usual.batch.tolist(), usual.numbers() if self._numbers else ()
        framed = [[text for _, text in self._framed(frame)] for frame in usual.frames] if self._frame else []
        for at, place in enumerate(self._frame):
            out[place] = map([texts[at] for texts in framed].__getitem__, batch)
        for place, sent, make in self._numbers:
            out[place] = map(make, numbers[sent])
        for place, column, make, applies in self._own:
            rest = [
                (cells[place], applies(one.template.row)) for cells, one in zip(common, usual.kinds[0], strict=True)
            ]
            out[place] = [
                make(value) if value is not None and rest[one][1] else rest[one][0]
                for value, one in zip(usual.column(column), kind, strict=True)
            ]
        return out

    def _of(self, row: Row) -> list[str]:
        """The cells of a row, without those of its conversation, its frame and its place."""
        cells, plain = self._blank.copy(), self._plain
        for column in row.keys() & plain.keys():
            value = row[column]
            if value is not None:
                for place, make in plain[column]:
                    cells[place] = make(value)
        for place in self._others:
            cells[place] = self._texts[place](row)
        return cells

    def _framed(self, frame: Frame) -> list[tuple[int, str]]:
        """(place, cell) of what the messages of a frame have in common."""
        columns = Table.frame(frame) if self._frame else {}
        return [(place, self._texts[place](columns)) for place in self._frame]

    def _shared(self, item: Dissection) -> list[tuple[int, str]]:
        """(place, cell) of what the messages of this direction have in common."""
        key = Table.conversation_key(item)
        found = self._conversations.get(key)
        if found is None:
            if len(self._conversations) >= MOST_CONVERSATIONS:
                self._conversations.clear()
            row = Table.conversation(item) if self._conversation else {}
            found = self._conversations[key] = [(place, self._texts[place](row)) for place in self._conversation]
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
        found = make(value)
        if len(found) <= LONGEST:
            if len(kept) >= MOST_KEPT:
                kept.clear()
            kept[value] = found
        return found

    return remember
