"""What the pipeline yields as nested JSON: every node with its name, value, meaning and range in bits."""

from collections.abc import Container, Sequence
from typing import Any

from zdissect.dissection import Dissection, Finding, Item, Notice, findings
from zdissect.engine.messages import DecodedMessage
from zdissect.engine.tape import Span, Tape
from zdissect.grammar.derived import DERIVED, SHOWN
from zdissect.grammar.field import Field
from zdissect.grammar.primitives import RENDERINGS
from zdissect.grammar.transport import FRAME
from zdissect.grammar.types import Bit
from zdissect.table import endpoint

Node = dict[str, Any]


def document(item: Item, chosen: Sequence[bool] | None = None) -> Node:
    """The whole of an item: where it is from, what it is, its findings; with `chosen`, of its messages only those.

    A dissection has its `frames`, its `buffer` and its `nodes`. A node has `name`, `start` and `bits` (position and
    size in bits in the buffer), and what it has of `value`, `meaning`, `children`, `derived`. Bytes that couldn't be
    dissected are `skipped`, with their place in the stream; what no bytes show is a `notice`. Bytes are hex; integers
    above 2**53 are exact, as JSON allows.
    """
    frame, flow = item.frame, item.flow
    src, dst = flow.ends if item.direction == 0 else flow.ends[::-1]
    where = {
        "file": frame.source,
        "frame_number": frame.number,
        "ts_ns": frame.ts_ns,
        "flow_id": flow.id,
        "link": flow.link,
        "src": endpoint(src),
        "dst": endpoint(dst),
    }
    return where | content(item, chosen) | {"findings": [found(finding) for finding in findings(item)]}


def content(item: Item, chosen: Sequence[bool] | None = None) -> Node:
    """What an item holds; with `chosen`, of its messages only those."""
    if isinstance(item, Notice):
        return {"notice": item.text}
    if not isinstance(item, Dissection):
        data = item.data.hex() or None
        return {"skipped": {"offset": item.offset, "size": item.size, "data": data, "reason": item.reason}}
    return {
        "frames": list(item.frames),
        "buffer": {"name": item.buffer.name, "origin": item.origin or None, "data": item.buffer.data.hex()},
        "missing": item.missing or None,
        "nodes": nodes(item.tape, item.messages, hidden(item, chosen) if chosen is not None else ()),
    }


def found(finding: Finding) -> Node:
    """A finding; what no bytes show has no place."""
    rule, text, item, start, stop = finding
    out = {"severity": rule.severity, "group": rule.group, "code": rule.code, "message": text}
    return out if isinstance(item, Notice) else {**out, "start": start * 8, "bits": (stop - start) * 8}


def hidden(item: Dissection, chosen: Sequence[bool]) -> set[int]:
    """The spans that aren't shown if only some messages are: those of all others, but not of a FRAME around them."""
    out: set[int] = set()
    frame: range | None = None
    spans = item.tape.spans
    for message, shown in zip(item.messages, chosen, strict=bool(item.messages)):
        own = range(message.first, message.stop)
        start, stop = spans[message.first][2:4]
        if frame is not None and shown and start < spans[frame.start][3]:
            out -= {*frame}
        if not shown:
            out |= {*own}
        if spans[message.first][0].node is FRAME and stop > start:
            frame = own
    return out


def nodes(tape: Tape, messages: Sequence[DecodedMessage] = (), hidden: Container[int] = ()) -> list[Node]:
    """The spans of a tape as a forest, but for those that are hidden. With `messages`, what is known of them."""
    known = {message.first: message for message in messages}
    roots: list[Node] = []
    path: list[tuple[int, list[Node]]] = [(-1, roots)]
    for index, span in enumerate(tape.spans):
        if index in hidden:
            continue
        depth = span[1]
        while path[-1][0] >= depth:
            path.pop()
        made = node(span, tape.start)
        if index in known:
            made["derived"] = derived(known[index])
        path[-1][1].append(made)
        path.append((depth, made.setdefault("children", [])))
    prune(roots)
    return roots


def prune(forest: list[Node]) -> None:
    """Drops empty lists of children."""
    waiting = list(forest)
    while waiting:
        node = waiting.pop()
        waiting += node["children"]
        bits = node.pop("bit_fields", None)
        if bits:
            node["children"] = bits + node["children"]
        if not node["children"]:
            del node["children"]


def node(span: Span, base: int) -> Node:
    """One span."""
    field, _, start, stop, value = span
    out: Node = {"name": field.path, "start": (start - base) * 8, "bits": (stop - start) * 8}
    if value is not None:
        out["value"] = value.hex() if isinstance(value, bytes) else value
    meaning = means(field, value)
    if meaning is not None:
        out["meaning"] = meaning
    if field.bits:
        out["bit_fields"] = [bit(one, value, (start - base) * 8, field.kind != "vle") for one in field.bits]
        out["bit_fields"] = [one for one in out["bit_fields"] if one is not None]
    return out


def bit(field: Field, value: int, start: int, in_place: bool) -> Node | None:
    """A bit field; one of an integer (which isn't in place on the wire) has no range of its own."""
    inside = field.node
    assert isinstance(inside, Bit)
    number = value >> inside.low & (1 << inside.width) - 1
    if inside.reserved and not in_place and not number:
        return None
    out: Node = {"name": field.path, "value": number}
    if in_place:
        out["start"], out["bits"] = start + 8 - inside.low - inside.width, inside.width
    if inside.says is not None:
        out["meaning"] = inside.says[number]
    elif inside.enum is not None:
        out["meaning"] = inside.enum.names.get(number)
    return out


def means(field: Field, value: Any) -> str | None:
    """What a value means, if that isn't the value itself."""
    if value is None:
        return None
    if field.enum is not None and isinstance(value, int):
        return field.enum.names.get(value)
    if field.render in RENDERINGS and field.render not in ("bytes", "hex"):
        return RENDERINGS[field.render](value)
    return None


def derived(message: DecodedMessage) -> dict[str, Any]:
    """What the session knows of a message, and where it was told what comes later (`filters/ahead.py`), that."""
    row = message.row
    known = {field.path: row[field.column] for field in SHOWN if row.get(field.column) is not None}
    if "answered" in row:
        known |= {path: row[column] for path, column in _LATER if row[column] is not None}
    return known


_LATER = tuple((one.path, one.path.rsplit(".", 1)[-1]) for one in DERIVED if one.ahead)
"""Derived fields of what comes later, and their columns in a row that was told."""
