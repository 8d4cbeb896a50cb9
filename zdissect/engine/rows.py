"""Tape to rows: what the message table says of each message, as far as its bytes alone tell.

A row is a dict with the columns that have a value. Every scouting, transport and network message is a row; declarations
and data sub-messages are part of their network message's row.
"""

from functools import cache
from typing import Any

from zdissect.engine.tape import Span, Tape
from zdissect.grammar.columns import Convert, complete, converter
from zdissect.grammar.registry import EXT_HEADER, Field
from zdissect.grammar.rules import RULES
from zdissect.grammar.types import ENC_NAMES, Message

Row = dict[str, Any]

_LAYERS = frozenset({"scouting", "transport", "network"})
_CHANNEL = ("sn", "reliability")


def message_rows(tape: Tape) -> list[Row]:
    """The rows of a tape, in the order of the wire. Offsets count from the start of the tape's bytes."""
    rows: list[Row] = []
    row: Row = {}
    frame: Row = {}
    frame_stop = -1
    for index, span in enumerate(tape.spans):
        field, _, start, stop, value = span
        if field.kind == "message":
            layer = field.node.layer if isinstance(field.node, Message) else ""
            if layer in _LAYERS:
                row = {"layer": layer, "message": value, "offset": start - tape.start, "length": stop - start}
                rows.append(row)
                if field.name == "frame":
                    frame, frame_stop = row, stop
                elif start < frame_stop:
                    row.update((name, frame[name]) for name in _CHANNEL if name in frame)
            else:
                row["reply_body" if "body" in row else "body"] = value
        elif field.kind == "extension":
            row.setdefault("extensions", []).append(_extension(tape, index))
        else:
            for column, shift, mask, convert, many in _setters(field):
                cell = value >> shift & mask if mask else value
                if convert is not None:
                    cell = convert(cell)
                if many:
                    row.setdefault(column, []).append(cell)
                else:
                    row[column] = cell
    for row in rows:
        complete(row)
    _add_findings(tape, rows)
    return rows


@cache
def _setters(field: Field) -> tuple[tuple[str, int, int, Convert | None, bool], ...]:
    """(column, shift, mask, convert, many) for the columns that a leaf fills."""
    out = [(field.column, 0, 0, converter(field), field.column == "locators")] if field.column else []
    for bit in field.bits:
        node: Any = bit.node
        if bit.column:
            out.append((bit.column, node.low, (1 << node.width) - 1, converter(bit), False))
    return tuple(out) if field.kind != "message" else ()


def _extension(tape: Tape, index: int) -> Row:
    """The entry of `extensions` for the extension whose span is at `index`."""
    field, _, start, stop, _ = tape.spans[index]
    header = tape.spans[index + 1] if index + 1 < len(tape.spans) else None
    if header is None or header[0] is not EXT_HEADER:
        return {"id": None, "encoding": None, "mandatory": None, "name": None, "length": stop - start, "value": None}
    head = header[4]
    body = tape.data[header[3] : stop]
    if head >> 5 & 3 == 2:
        body = _content(tape.spans, index + 2, tape.data, stop)
    name = field.name.removeprefix("ext_") if field.name != "ext" else None
    return {
        "id": head & 15,
        "encoding": ENC_NAMES[head >> 5 & 3],
        "mandatory": bool(head & 16),
        "name": name,
        "length": len(body),
        "value": body,
    }


def _content(spans: list[Span], index: int, data: bytes, stop: int) -> bytes:
    """The bytes of a ZBuf without their length."""
    if index >= len(spans):
        return b""
    field, _, _, end, value = spans[index]
    return value if isinstance(value, bytes) and field.kind == "blob" else data[end:stop]


def _add_findings(tape: Tape, rows: list[Row]) -> None:
    """Gives each remark to the innermost message that holds it, or to the last one before it."""
    for code, start, _, text in tape.remarks:
        at = start - tape.start
        owner = None
        for row in rows:
            if row["offset"] > at:
                break
            owner = row
        if owner is not None:
            finding = {"severity": RULES[code].severity, "code": code, "offset": at, "message": text}
            owner.setdefault("findings", []).append(finding)
