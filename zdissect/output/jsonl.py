"""Rows as JSON: one flat object per message with exactly the columns of the message table.

Most of a line was in lines before it: the columns of its conversation, and those of its template. Their text is made
once; what is left for each message are its numbers, its payload and its times.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import count, islice
from typing import TYPE_CHECKING, Any, TypeVar

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.engine.templates import CELL, OPEN, Template
from zdissect.grammar.columns import COLUMNS, NAMES, SCHEMA_VERSION, timestamp_us
from zdissect.grammar.short_cache import short_cache
from zdissect.output.printable import dumps
from zdissect.records import Frame
from zdissect.table import Table

if TYPE_CHECKING:
    from zdissect.vector.usual_batches import UsualBatches

_HOLE = "\0"
"""What no JSON holds."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FLOW, _OFFSET = NAMES.index("flow_id"), NAMES.index("offset")
"""Where the columns of a conversation begin, and where they end."""
MOST_KEPT = 4096
"""Texts that are kept of conversations, and of templates."""
_MOST_VALUES = 512
"""Texts that are kept of a column's values."""


def line(row: Row) -> str:
    """A row as one line of JSON. Bytes are hex, timestamps RFC 3339 in UTC."""
    return f"{{{','.join(_members(row))}}}"


class JsonlWriter:
    """Writes the messages of dissections as lines."""

    def __init__(self) -> None:
        self._conversations: dict[tuple[Any, ...], str] = {}
        self._templates: dict[Template, tuple[str, ...]] = {}

    def lines(self, item: Dissection) -> list[str]:
        """A line for each message, with its line end."""
        start, conversation = _start(item.frame), self._conversation(item)
        return [
            f'{start}{index},"message_number":{number}{conversation}{",".join(_members(message.row)[_OFFSET:-1])}{_END}'
            for message, index, number in zip(item.messages, *map(count, item.first), strict=False)
        ]

    def texts(self, usual: "UsualBatches") -> Iterator[list[str]]:
        """The same for usual batches."""
        kinds, kind = usual.kinds
        ways = [self._conversation(usual.item(way)) for way in range(len(usual.ways))]
        known = [(ways[one.way], *self._pieces(one.template)) for one in kinds]
        columns = zip(map(known.__getitem__, kind.tolist()), *usual.numbers(), *map(usual.column, CELL), strict=True)
        for frame, size in zip(usual.frames, usual.counts.tolist(), strict=True):
            start = _start(frame)
            yield [f"{start}{_filled(*values)}" for values in islice(columns, size)]

    def _conversation(self, item: Dissection) -> str:
        """The columns that all messages of this direction share, between commas."""
        key = Table.conversation_key(item)
        text = self._conversations.get(key)
        if text is None:
            text = f",{','.join(_members(Table.conversation(item))[_FLOW:_OFFSET])},"
            _keep(self._conversations, key, text)
        return text

    def _pieces(self, template: Template) -> tuple[str, ...]:
        """The end of a line from `offset` on: what stands before each of the columns that a template leaves open, and
        after the last one; at last those extensions that most messages with this template have."""
        pieces = self._templates.get(template)
        if pieces is None:
            members = _members(template.row)
            named = zip(NAMES[_OFFSET:-1], members[_OFFSET:-1], strict=True)
            text = ",".join([f'"{name}":{_HOLE}' if name in OPEN else member for name, member in named]) + _END
            pieces = *text.split(_HOLE), members[NAMES.index("extensions")].partition(":")[2]
            _keep(self._templates, template, pieces)
        return pieces


def _start(frame: Frame) -> str:
    """The columns of a frame, up to the place of the first number of a message."""
    row = Table.frame(frame)
    return f'{{{",".join([_PLACES[name][1](value) for name, value in row.items()])},"message_index":'


def _filled(pieces: tuple[str, ...], index: int, number: int, *values: Any) -> str:
    """A line from its first number on: with the values of the columns that its template leaves open, and of those that
    follow from them, in the order of the table."""
    own, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, end, shared = pieces
    offset, length, sn, stamp, payload, attachment, source_sn, request_id, extensions = values
    content, size, more, time, extended = "null", "null", "null", "null", shared
    if payload is not None:
        content, size = f'"{payload.hex()}"', str(len(payload))
    if attachment is not None:
        more = f'"{attachment.hex()}"'
    if stamp is not None:
        time = _time(timestamp_us(stamp))
    if extensions is not None:
        extended = f"[{','.join(map(_extension, extensions))}]"
    return (
        f'{index},"message_number":{number}{own}{p1}{offset}{p2}{length}{p3}'
        f"{'null' if sn is None else sn}{p4}{'null' if request_id is None else request_id}{p5}{content}{p6}"
        f"{size}{p7}{more}{p8}{time}{p9}{'null' if stamp is None else stamp}{p10}"
        f"{'null' if source_sn is None else source_sn}{p11}{extended}{end}"
    )


def _extension(entry: Row) -> str:
    """An extension, of which only length and value, its last entries, change from message to message."""
    *same, (_, length), (_, value) = entry.items()
    return f'{_start_of_extension(tuple(same))},"length":{length},"value":"{value.hex()}"}}'


@lru_cache(_MOST_VALUES)
def _start_of_extension(same: tuple[tuple[str, Any], ...]) -> str:
    return dumps(dict(same)).removesuffix("}")


_Key = TypeVar("_Key")
_Text = TypeVar("_Text")


def _keep(kept: dict[_Key, _Text], key: _Key, text: _Text) -> None:
    """Adds to what is kept, after all else was thrown away if it has become too much."""
    if len(kept) >= MOST_KEPT:
        kept.clear()
    kept[key] = text


def _members(row: Row) -> list[str]:
    """A member for each column, in the order of the table."""
    out, find = _NULLS.copy(), _PLACES.get
    for name, value in row.items():
        if value is not None and (known := find(name)) is not None:
            place, write = known
            out[place] = write(value)
    return out


def _member(name: str, kind: str) -> Callable[[Any], str]:
    """How a value of a column becomes a member, by the column's type."""
    start = f'"{name}":'
    if kind.startswith("int"):
        return lambda value: f"{start}{value}"
    if kind == "binary":
        return lambda value: f'{start}"{value.hex()}"'
    if kind == "timestamp":
        return lambda value: start + _time(value)
    text: Callable[[Any], str] = lambda value: start + dumps(value)  # noqa: E731
    if kind == "string":
        return short_cache(_MOST_VALUES)(text)
    return text if kind.startswith("list") else lru_cache(_MOST_VALUES)(text)


_NULLS = [f'"{name}":null' for name in NAMES]
_PLACES = {column.name: (place, _member(column.name, column.type)) for place, column in enumerate(COLUMNS)}
_END = f',"schema_version":{SCHEMA_VERSION}}}\n'


def _time(us: int) -> str:
    """Microseconds since 1970 as JSON: null in years that no calendar has."""
    text = time_text(us)
    return "null" if text is None else f'"{text}"'


def time_text(us: int) -> str | None:
    """Microseconds since 1970 as RFC 3339 in UTC; None in years that this hasn't."""
    seconds, fraction = divmod(us, 1_000_000)
    second = _second(seconds)
    return second and f"{second}.{fraction:06d}Z"


@lru_cache(_MOST_VALUES)  # all messages of a second have it in common
def _second(seconds: int) -> str | None:
    try:
        return (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    except OverflowError:
        return None
