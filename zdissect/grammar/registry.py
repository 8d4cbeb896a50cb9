"""Gives every place of the grammar its field: a name, a type, a description and a reference.

The same structure stands at several places (a timestamp in PUT, in DEL, in extensions); each place is a field of its
own: `zenoh.put.timestamp.time`. `place()` walks a message once and pairs its nodes with fields. The engine makes its
programs from these places; filters and docs look fields up by name in `fields()`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from zdissect.grammar import conditions
from zdissect.grammar.batch import BATCH, NETWORK_MESSAGE, SCOUTING_DATAGRAM
from zdissect.grammar.data import DEL, ERR, PUT, QUERY, REPLY
from zdissect.grammar.declarations import DECLARATIONS
from zdissect.grammar.derived import DERIVED
from zdissect.grammar.field import EXT_HEADER, EXT_LENGTH, EXT_NUMBER, EXT_UNKNOWN, EXT_VALUE, UNDECODED, Field
from zdissect.grammar.network import NETWORK
from zdissect.grammar.scouting import SCOUTING
from zdissect.grammar.serial import SERIAL_FRAME
from zdissect.grammar.transport import TRANSPORT
from zdissect.grammar.types import (
    ZBUF,
    Bit,
    Bits,
    Blob,
    Choice,
    Extension,
    Extensions,
    Fixed,
    Group,
    Message,
    Node,
    Repeat,
    Rest,
    Text,
    Unit,
    Vle,
)

DATA = (PUT, DEL, QUERY, REPLY, ERR)
MESSAGES: tuple[Message, ...] = (*SCOUTING, *TRANSPORT, *NETWORK, *DECLARATIONS, *DATA)
UNITS: tuple[Unit, ...] = (BATCH, SCOUTING_DATAGRAM, NETWORK_MESSAGE, SERIAL_FRAME)


class GrammarError(ValueError):
    """The grammar contradicts itself; says where and how."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedNode:
    """A node of the grammar with its field, and what is inside it."""

    node: Node | Extension
    field: Field
    inside: tuple["PlacedNode", ...] = ()
    count: "PlacedNode | None" = None
    """The number in front of a repeat, or the length in front of a group."""
    item: Field | None = None
    """For a repeat: the group around one turn."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedMessage:
    """A message (or unit) with its fields."""

    node: Message | Unit
    field: Field
    header: Field | None
    inside: tuple[PlacedNode, ...]


@cache
def place(message: Message | Unit) -> PlacedMessage:
    """The places of a message or unit; raises GrammarError where the grammar contradicts itself."""
    path = f"zenoh.{(message.path if isinstance(message, Message) else '') or message.name.lower()}"
    walk = _Walk(message)
    if isinstance(message, Unit):
        field = walk.field(path, "unit", message.doc, message)
        walk.known |= set(message.inputs)
        return PlacedMessage(message, field, None, walk.nodes(message.fields, path))
    field = walk.field(path, "message", message.doc, message)
    header = Field(f"{path}.header", "header", f"Header byte of {message.name}.", message.spec, message)
    ident = Bit("message_id", 0, f"Id of {message.name}: 0x{message.id:02x}.", width=5)
    header.bits = walk.bits((*message.flags, ident), path, 8)
    return PlacedMessage(message, field, header, walk.nodes(message.fields, path))


class _Walk:
    """One walk over a message: names fields and checks that the grammar makes sense."""

    def __init__(self, message: Message | Unit) -> None:
        self.spec = message.spec
        self.where = message.name
        self.known: set[str] = set()

    def fail(self, what: str) -> GrammarError:
        return GrammarError(f"{self.where}: {what}")

    def bits(self, bits: tuple[Bit, ...], path: str, size: int = 0) -> tuple[Field, ...]:
        """The fields of bit fields; with a size, they must fill exactly that many bits."""
        seen = 0
        for bit in bits:
            if bit.mask & seen:
                raise self.fail(f"bit field {bit.name} overlaps another")
            seen |= bit.mask
            self.known.add(bit.name)
        if size and seen != (1 << size) - 1:
            raise self.fail(f"bit fields of {path} don't fill the byte (0x{seen:02x})")
        ordered = sorted(bits, key=lambda bit: -bit.low)
        return tuple(self.field(f"{path}.{bit.name.lower()}", "bit", bit.doc, bit) for bit in ordered)

    def field(self, path: str, kind: str, doc: str, node: object) -> Field:
        spec = getattr(node, "spec", self.spec)
        if not doc:
            raise self.fail(f"{path} has no description")
        if not spec:
            raise self.fail(f"{path} has no reference")
        return Field(path, kind, doc, spec, node)

    def uses(self, text: str) -> None:
        unknown = conditions.names(text) - self.known
        if unknown:
            raise self.fail(f"condition {text!r} names {', '.join(sorted(unknown))} before it is read")

    def nodes(self, nodes: tuple[Node, ...], path: str) -> tuple[PlacedNode, ...]:
        return tuple(self.place(node, path) for node in nodes)

    def place(self, node: Node, path: str) -> PlacedNode:
        self.uses(node.when)
        if isinstance(node, Extensions):
            return self.chain(node, path)
        if isinstance(node, Choice):
            ids = [message.id for message in node.messages]
            if len(set(ids)) < len(ids):
                raise self.fail(f"two choices of {node.name} have the same id")
            return PlacedNode(node, self.field(f"{path}.{node.name}", "choice", node.doc, node))
        here = f"{path}.{node.name}" if node.name else path
        if isinstance(node, Group):
            self.uses(node.size)
            self.uses(node.loose)
            length = None
            if node.length:
                length = self.place(Vle("length", node.length, "Length of what follows, bytes.", render="bytes"), here)
            return PlacedNode(node, self.field(here, "group", node.doc, node), self.nodes(node.fields, here), length)
        if isinstance(node, Repeat):
            return self.repeat(node, here, path)
        field = self.field(here, KINDS[type(node)], node.doc, node)
        if isinstance(node, Fixed):
            field.kind = "raw" if node.raw else "uint"
            if isinstance(node.size, str):
                self.uses(node.size)
        elif isinstance(node, Bits):
            field.bits = self.bits(node.bits, path, 8)
        elif isinstance(node, Vle):
            field.bits = self.bits(node.bits, path)
        self.known.add(node.name)
        return PlacedNode(node, field)

    def repeat(self, node: Repeat, here: str, path: str) -> PlacedNode:
        count = None
        if isinstance(node.count, str):
            self.uses(node.count)
        else:
            count = self.place(node.count, path)
        inside = self.nodes(node.fields, here)
        item = Field(f"{here}.item", "item", f"One of {here}.", self.spec)
        return PlacedNode(node, self.field(here, "repeat", node.doc, node), inside, count, item)

    def chain(self, node: Extensions, path: str) -> PlacedNode:
        if len({ext.key for ext in node.known}) < len(node.known):
            raise self.fail("two extensions of a chain have the same header")
        # any order is legal, so a field of one extension may depend on the presence of any other
        self.known |= {ext.name for ext in node.known}
        inside = []
        for ext in node.known:
            here = f"{path}.ext_{ext.name}"
            self.uses(ext.loose)
            field = self.field(here, "extension", ext.doc, ext)
            inside.append(PlacedNode(ext, field, self.nodes(_body(ext), here)))
        return PlacedNode(node, Field(f"{path}.extensions", "chain", "Extensions.", "notes 2.1", node), tuple(inside))


def _body(ext: Extension) -> tuple[Node, ...]:
    """The nodes in an extension; an opaque extension has one."""
    if ext.fields or ext.enc != ZBUF:
        return ext.fields
    return (Blob("value", 32, ext.doc, render=ext.render or "opaque", column=ext.column, yields_to=ext.yields_to),)


KINDS = {Bits: "bits", Vle: "vle", Fixed: "uint", Text: "text", Blob: "blob", Rest: "rest"}


def walk(places: tuple[PlacedNode, ...]) -> Iterator[Field]:
    """All fields below these places, in the order of the wire."""
    for placed in places:
        if placed.count is not None:
            yield placed.count.field
        if placed.item is not None and len(placed.inside) > 1:
            yield placed.item
        if not isinstance(placed.node, Extensions | Choice) and (
            not isinstance(placed.node, Group) or placed.node.name
        ):
            yield placed.field
            yield from placed.field.bits
        yield from walk(placed.inside)


@cache
def wire_fields() -> dict[str, Field]:
    """Every field of the grammar by its name. Where two places share a name, they differ by a flag only."""
    table: dict[str, Field] = {}
    for message in (*UNITS, *MESSAGES):
        placed = place(message)
        heads = [placed.field, *([placed.header, *placed.header.bits] if placed.header else [])]
        for field in (*heads, *walk(placed.inside)):
            known = table.setdefault(field.path, field)
            if known.type != field.type:
                raise GrammarError(f"{field.path} is of type {known.type} and of type {field.type}")
    for field in (EXT_UNKNOWN, EXT_HEADER, *EXT_HEADER.bits, EXT_LENGTH, EXT_VALUE, EXT_NUMBER, UNDECODED):
        table[field.path] = field
    return table


@cache
def fields() -> dict[str, Field]:
    """Every field by its name: those on the wire, then the derived ones."""
    added = {derived.path: Field(derived.path, "derived", derived.doc, "zdissect", derived) for derived in DERIVED}
    return wire_fields() | added
