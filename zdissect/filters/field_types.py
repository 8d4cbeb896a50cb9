"""The types of fields and columns, from the grammar; and which field says no more than a column does."""

from collections import defaultdict
from functools import cache

from zdissect.filters.predicates import Among
from zdissect.filters.typed_tree import ColumnValues, Guard
from zdissect.filters.value_types import (
    BOOL,
    BYTES,
    IP,
    KEY,
    MILLISECOND,
    NONE,
    NUMBER,
    SECOND,
    TEXT,
    ZID,
    ClosedSet,
    ValueType,
    closed,
    ranked,
)
from zdissect.grammar.columns import BIT_WORDS, COLUMNS, Column
from zdissect.grammar.enums import WHATAMI
from zdissect.grammar.field import Field
from zdissect.grammar.registry import MESSAGES, fields
from zdissect.grammar.rule import SEVERITIES
from zdissect.grammar.rules import RULES
from zdissect.grammar.types import ENC_NAMES, Bit, Choice, Enum, Message, Unit
from zdissect.records import DATAGRAM_LINKS

LAYERS = ("scouting", "transport", "network")
"""Layers whose messages are rows; all others are bodies."""
DURATIONS = {"_ns": 1, "_ms": MILLISECOND}
"""Ends of the names of columns that hold durations, and their units in nanoseconds."""
FINDING = {
    "severity": ranked("severity", SEVERITIES),
    "code": closed("finding", RULES),
    "offset": NUMBER,
    "message": TEXT,
}
EXTENSION = {
    "id": NUMBER,
    "encoding": closed("encoding of an extension", ENC_NAMES),
    "mandatory": BOOL,
    "name": TEXT,
    "length": NUMBER,
    "value": BYTES,
}
"""Types of the members of structs."""


def labels_of(message: Message) -> tuple[str, ...]:
    """The names that a message can have: those of its variants, or its own."""
    return tuple(label for pair in message.labels.values() for label in pair) or (message.name,)


def _labels(*layers: str) -> list[str]:
    return [label for message in MESSAGES if message.layer in layers for label in labels_of(message)]


_WORDS = {
    "layer": closed("layer", LAYERS),
    "message": closed("message", _labels(*LAYERS)),
    "body": closed("body of a message", _labels("data", "declaration")),
    "reply_body": closed("body of a reply", _labels("data")),
    "link": closed("link", ("tcp", "ws", *DATAGRAM_LINKS, "serial")),
    "congestion_control": closed("congestion control", ("Drop", "Block", "BlockFirst")),
    "src_role": closed("role", WHATAMI.names.values()),
    "dst_role": closed("role", WHATAMI.names.values()),
    "src_ip": IP,
    "dst_ip": IP,
    "key_expr": KEY,
    "ts": ValueType("time", unit=1000, bare=SECOND),
    "timestamp": ValueType("time", unit=1000, bare=SECOND),
    "ts_ns": ValueType("time"),
}
"""Types of columns that no field of the wire fills."""


def enum_type(enum: Enum) -> ValueType:
    """The type of a number whose values have names."""
    return ValueType("number", ClosedSet(enum.title, {label: value for value, label in enum.names.items()}))


@cache
def filled() -> dict[str, list[Field]]:
    """The fields that fill each column."""
    out: dict[str, list[Field]] = defaultdict(list)
    for field in fields().values():
        if field.column and (field.leaf or field.kind == "bit"):
            out[field.column].append(field)
    return out


@cache
def column_type(column: Column) -> ValueType:
    """The type of a column's values, or of the elements of a list."""
    name, kind, _ = column
    known = filled().get(name, [])
    if name in _WORDS:
        return _WORDS[name]
    if name in BIT_WORDS:
        return ranked(name.replace("_", " "), BIT_WORDS[name])
    if name.endswith("zid") or any(field.render == "zid" for field in known):
        return ZID
    for end, unit in DURATIONS.items():
        if name.endswith(end):
            return ValueType("duration", unit=unit, bare=unit, unsigned=_is_wide(known))
    enums = {field.enum: None for field in known if field.enum is not None}
    if enums and kind == "string":
        return ValueType("label", _together(name, list(enums)))
    if enums and name == "encoding_id":
        return enum_type(next(iter(enums)))
    if kind in ("bool", "binary", "string"):
        return {"bool": BOOL, "binary": BYTES, "string": TEXT}[kind]
    if kind == "list<string>":
        return TEXT
    return NONE if "struct" in kind else ValueType("number", unsigned=_is_wide(known))


def _is_wide(known: list[Field]) -> bool:
    """Whether a number of these fields may fill 64 bits: an integer of variable length may, whatever it is for."""
    return any(field.kind == "vle" for field in known)


def _together(column: str, enums: list[Enum]) -> ClosedSet:
    """The names of several enums; their numbers only if they agree on them."""
    numbers: dict[str, int | None] = {}
    for enum in enums:
        for value, label in enum.names.items():
            numbers[label] = value if numbers.get(label, value) == value else None
    if None in numbers.values():
        numbers = dict.fromkeys(numbers)
    return ClosedSet(column.replace("_", " "), numbers)


@cache
def field_type(path: str) -> ValueType:
    """The type of a field's values."""
    field = fields()[path]
    node = field.node
    if isinstance(node, Message | Unit) or not (field.leaf or isinstance(node, Bit)):
        return NUMBER if field.kind == "header" else NONE
    if field.render == "zid":
        return ZID
    if field.render == "ntp64":
        return ValueType("time", bare=SECOND)
    if field.render in ("seconds", "milliseconds"):
        return ValueType("duration", bare=MILLISECOND)
    if field.enum is not None:
        return enum_type(field.enum)
    if field.type in ("bool", "string", "bytes"):
        return {"bool": BOOL, "string": TEXT, "bytes": BYTES}[field.type]
    return NUMBER


# --- fields that are columns


def owner(path: str) -> Message | None:
    """The message to which a field belongs; None for those of units and extensions of any message."""
    head = ".".join(path.split(".")[:2])
    node = fields()[head].node if head in fields() else None
    return node if isinstance(node, Message) else None


@cache
def _bodies(message: Message) -> frozenset[Message]:
    """The messages that a message may hold."""
    inside = {one for node in message.fields if isinstance(node, Choice) for one in node.messages}
    return frozenset(inside.union(*map(_bodies, inside)))


def as_guard(labels: tuple[str, ...]) -> Guard:
    """The condition that a row's message, or a body in it, has one of these names."""
    known = _WORDS["message"].names
    assert known is not None
    columns = ("message",) if labels[0] in known.numbers else ("body", "reply_body")
    return Guard(columns, Among(frozenset(labels)))


@cache
def _guards(message: Message) -> tuple[Guard, ...]:
    """The conditions that a row is of a message; both layers have an OAM."""
    own = as_guard(labels_of(message))
    others = [one for one in MESSAGES if one is not message and set(labels_of(one)) & set(labels_of(message))]
    return (own, Guard(("layer",), Among(frozenset([message.layer])))) if others else (own,)


@cache
def same_column(path: str) -> ColumnValues | None:
    """The column that says exactly what a field does, if there is one.

    Extensions may come twice, FRAMEs are around other messages, and some columns have defaults: these aren't the same.
    """
    field = fields()[path]
    message = owner(path)
    if message is None or message.name == "FRAME":
        return None
    guards = _guards(message)
    if field.kind == "message":
        return ColumnValues(NONE, ("message" if message.layer in LAYERS else "body",), guards=guards)
    column = next((one for one in COLUMNS if one.name == field.column), None)
    if column is None or not field.leaf or ".ext_" in path or column.name in ("sn", "locators"):
        return None
    if column_type(column) not in (_widened(field_type(path)), field_type(path)) or field.scale != 1:
        return None
    near = {message, *_bodies(message), *(one for one in MESSAGES if message in _bodies(one))}
    if [other.path for other in filled()[column.name] if owner(other.path) in near] != [path]:
        return None
    return ColumnValues(column_type(column), (column.name,), guards=guards)


def _widened(kind: ValueType) -> ValueType:
    return ValueType("number", unsigned=True) if kind == NUMBER else kind
