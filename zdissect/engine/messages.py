"""Tape to messages: the rows of the message table, as far as the bytes alone tell.

A row is a dict with the columns that have a value. Every scouting, transport and network message is one; declarations
and data sub-messages are part of their network message.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from zdissect.engine.tape import Span, Tape
from zdissect.grammar.columns import Convert, complete, converter
from zdissect.grammar.field import EXT_HEADER, Field
from zdissect.grammar.registry import wire_fields
from zdissect.grammar.rule import ERROR
from zdissect.grammar.rules import RULES
from zdissect.grammar.types import ENC_NAMES, Bit, Message

Row = dict[str, Any]

LAYERS = frozenset({"scouting", "transport", "network"})


class DecodedMessage:
    """One message of a tape: its row, and its part of the spans."""

    __slots__ = ("first", "row", "stop", "tape")

    template: Any = None
    """The columns shared with other messages; together with `cell` it stands for a row that isn't made yet."""
    cell: tuple[Any, ...] = ()
    """The message's own values."""

    def __init__(self, tape: Tape, first: int, row: Row) -> None:
        self.tape = tape
        self.first = first
        """Index of its span."""
        self.stop = len(tape.spans)
        """Index of the first span after its own and those of messages inside it."""
        self.row = row

    @property
    def shared(self) -> Row:
        """Its columns, or at least those that it has in common with messages like it: no row is made for them."""
        known: Row = self.row if self.template is None else self.template.row
        return known

    def columns(self) -> Row:
        """Its columns, for who only reads them: a row that was made for it stays its own."""
        known: Row = self.row if self.template is None else self.template.complete(self.cell)
        return known

    @property
    def offset(self) -> int:
        """Where it begins, counted from the start of the tape's bytes."""
        start: int = self.row["offset"]
        return start

    @property
    def length(self) -> int:
        """How many bytes it has, with those of messages inside it."""
        size: int = self.row["length"]
        return size

    @property
    def header(self) -> int:
        """Its header byte."""
        value: int = self.tape.spans[self.first + 1][4]
        return value

    def flag(self, name: str) -> bool:
        """A flag of its header byte, by its name in the grammar."""
        kind = self.tape.spans[self.first][0].node
        return isinstance(kind, Message) and bool(self.header & kind.flag(name).mask)

    @property
    def data(self) -> bytes:
        """Its bytes."""
        _, _, start, stop, _ = self.tape.spans[self.first]
        return self.tape.data[start:stop]

    def spans(self) -> Iterator[Span]:
        """Its spans; the first is that of the message itself."""
        spans = self.tape.spans
        return (spans[index] for index in range(self.first, self.stop))

    def find(self, path: str) -> Span | None:
        """The first span of a field, by its name without `zenoh.`."""
        path = f"zenoh.{path}"
        return next((span for span in self.spans() if span[0].path == path), None)

    def value(self, path: str) -> Any:
        """The value of a field; None if it isn't present."""
        span = self.find(path)
        return None if span is None else span[4]

    def values(self, path: str) -> list[Any]:
        """All values of a field that can be repeated."""
        path = f"zenoh.{path}"
        return [span[4] for span in self.spans() if span[0].path == path]

    def has(self, path: str) -> bool:
        """Whether a field, group or extension is present."""
        return self.find(path) is not None

    def remark(self, code: str, text: str, path: str = "") -> None:
        """Reports a finding at a field of the message, or at its header byte."""
        start, stop = self.place(path)
        self.tape.remarks.append((code, start, stop, text))

    def place(self, path: str) -> tuple[int, int]:
        """First byte, and byte after the last, of a field of the message, or else of its header byte."""
        span = (self.find(path) if path else None) or self.tape.spans[min(self.first + 1, len(self.tape.spans) - 1)]
        return span[2], span[3]


def messages(tape: Tape) -> list[DecodedMessage]:
    """The messages of a tape, in the order of the wire. Offsets count from the start of the tape's bytes."""
    out: list[DecodedMessage] = []
    row: Row = {}
    frame: Row = {}
    frame_stop = -1
    named: set[str | None] = set()
    spans = tape.spans
    for index, (field, _, start, stop, value) in enumerate(spans):
        kind = field.kind
        if kind == "message":
            layer = field.node.layer if isinstance(field.node, Message) else ""
            if layer in LAYERS:
                row = {"layer": layer, "message": value, "offset": start - tape.start, "length": stop - start}
                if out:
                    out[-1].stop = index
                out.append(DecodedMessage(tape, index, row))
                named = set()
                if field.name == "frame":
                    frame, frame_stop = row, stop
                elif start < frame_stop:
                    inherit(row, frame)
            else:
                row["reply_body" if "body" in row else "body"] = value
        elif kind == "extension":
            _extend(row, tape, index, named)
        else:
            for column, shift, mask, convert, put in _setters(field):
                cell = value >> shift & mask if mask else value
                if convert is not None:
                    cell = convert(cell)
                if put is None:
                    row[column] = cell
                else:
                    put(row, column, cell, value, named)
    for message in out:
        complete(message.row)
    return out


def nameless(tape: Tape, layer: str) -> list[DecodedMessage]:
    """A message without a name for a unit whose messages can't be identified, if a finding says why; else nothing."""
    if not any(RULES[code].severity == ERROR for code, *_ in tape.remarks):
        return []
    return [DecodedMessage(tape, 0, {"layer": layer, "message": None, "offset": 0, "length": tape.stop - tape.start})]


def inherit(row: Row, frame: Row) -> None:
    """Gives a network message the channel of the FRAME, or last FRAGMENT, that carried it."""
    for name in ("sn", "reliability"):
        if name in frame:
            row[name] = frame[name]


Put = Callable[[Row, str, Any, Any, set[str | None]], None]
"""Puts a value into a column where plain assignment won't do: (row, column, cell, value of the field, names of the
message's extensions so far)."""


@cache
def _setters(field: Field) -> tuple[tuple[str, int, int, Convert | None, Put | None], ...]:
    """(column, shift, mask, convert, put) for the columns that a leaf fills."""
    out: list[tuple[str, int, int, Convert | None, Put | None]] = []
    if field.column:
        out.append((field.column, 0, 0, converter(field), _put(field)))
    masks = {bit.node.name: bit.node.mask for bit in field.bits if isinstance(bit.node, Bit)}
    for bit in field.bits:
        node: Any = bit.node
        if bit.column:
            put = _under(masks[node.under]) if node.under else None
            out.append((bit.column, node.low, (1 << node.width) - 1, converter(bit), put))
    return tuple(out)


def _put(field: Field) -> Put | None:
    """How the value of a field gets into its column; None for plain assignment."""
    if field.column == "locators":
        return lambda row, column, cell, *_: row.setdefault(column, []).append(cell)
    other = getattr(field.node, "yields_to", "")
    if not other:
        return None

    def spare(row: Row, column: str, cell: Any, _: Any, named: set[str | None]) -> None:
        if other not in named:
            row[column] = cell

    return spare


def _under(mask: int) -> Put:
    """Sets a column only where a bit of the same byte is set."""

    def put(row: Row, column: str, cell: Any, value: Any, _: set[str | None]) -> None:
        if value & mask:
            row[column] = cell

    return put


def _extend(row: Row, tape: Tape, index: int, named: set[str | None]) -> None:
    """Adds the extension whose span is at `index` to the column of all extensions, and its name to those so far.

    If an extension is repeated, the last one counts, and nothing of the earlier one is left.
    """
    field, _, _, stop, _ = tape.spans[index]
    header = tape.spans[index + 1]
    assert header[0] is EXT_HEADER
    head = header[4]
    body = tape.data[header[3] : stop]
    if head >> 5 & 3 == 2:
        body = _content(tape.spans, index + 2, tape.data, stop)
    name = field.name.removeprefix("ext_") if field.name != "ext" else None
    entry = {
        "id": head & 15,
        "encoding": ENC_NAMES[head >> 5 & 3],
        "mandatory": bool(head & 16),
        "name": name,
        "length": len(body),
        "value": body,
    }
    if name is not None and name in named:
        for column in _columns_of(field):
            row.pop(column, None)
    named.add(name)
    row.setdefault("extensions", []).append(entry)


@cache
def _columns_of(field: Field) -> tuple[str, ...]:
    """The columns that an extension fills regardless of other extensions."""
    within = (inner for inner in wire_fields().values() if inner.path.startswith(f"{field.path}."))
    return tuple({inner.column for inner in within if inner.column and not getattr(inner.node, "yields_to", "")})


def _content(spans: list[Span], index: int, data: bytes, stop: int) -> bytes:
    """The bytes of a ZBuf without their length."""
    if index >= len(spans):
        return b""
    field, _, _, end, value = spans[index]
    return value if isinstance(value, bytes) and field.kind == "blob" else data[end:stop]


def add_findings(tape: Tape, out: list[DecodedMessage]) -> None:
    """Gives each remark of a tape to the innermost message that contains it, or else to the last one before it."""
    if not out:
        return
    offsets = [message.offset for message in out]
    for code, start, _, text in tape.remarks:
        at = start - tape.start
        owner = out[max(bisect_right(offsets, at) - 1, 0)].row
        finding = {"severity": RULES[code].severity, "code": code, "offset": at, "message": text}
        owner.setdefault("findings", []).append(finding)
