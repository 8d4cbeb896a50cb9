"""Programs: the grammar made ready for the interpreter.

A program is a tuple of steps; a step is a plain tuple, because the interpreter's loop unpacks millions of them:

    (op, mask, want, test, field, first, second, keep, check)

A step is taken if `header & mask == want` (a condition on one header flag), or if `test(values)` holds. `keep` says
which values later conditions need. `first` and `second` depend on the operation, see `_Builder`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from zdissect.engine.value_checks import Check, bits_check, value_check
from zdissect.grammar import conditions
from zdissect.grammar.field import EXT_NUMBER, EXT_VALUE, Field
from zdissect.grammar.registry import PlacedMessage, PlacedNode, place
from zdissect.grammar.types import (
    Z64,
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
    Repeat,
    Rest,
    Text,
    Unit,
    Vle,
)

VLE, BLOB, TEXT, EXTENSIONS, CHOICE, GROUP, UINT, RAW, BITS, REST, REPEAT, REGION, INLINE = range(13)

Step = tuple[int, int, int, Any, Field, Any, Any, Any, Any]
INNER = ("data", "declaration")
"""Layers of messages that are part of another one."""

Keep = tuple[tuple[str, int, int], ...]


class Program(NamedTuple):
    """A message, ready to run."""

    message: Message
    field: Field
    header: Field
    label: str
    label_mask: int
    label_if: str
    """The message's name if `header & label_mask` isn't 0."""
    reserved: int
    keep: Keep
    check: Check | None
    steps: tuple[Step, ...]


class ExtensionProgram(NamedTuple):
    """An extension, ready to run."""

    field: Field
    steps: tuple[Step, ...]
    structured: bool
    """Whether it is a ZBuf with a structure, not just bytes."""
    keep: str
    """Its name, if a condition asks whether it is present."""
    before: int
    """The seven bits of the extension that must come after it; 0 if any may."""
    loose: Callable[[Any], int] | None
    mismatch: str
    """Code of the finding if its declared length isn't that of its structure."""


class ExtensionPrograms(dict[int, ExtensionProgram]):
    """The extensions that a chain knows, by the seven bits that tell them apart."""

    __slots__ = ("optional", "tolerant")

    def __init__(self, known: dict[int, ExtensionProgram], optional: bool, tolerant: bool) -> None:
        super().__init__(known)
        self.optional = optional
        """Whether no flag says that the chain is present: it is, unless its region has ended."""
        self.tolerant = tolerant
        """Whether unknown extensions may be skipped even with M=1."""


class RepeatProgram(NamedTuple):
    """A repeat, ready to run."""

    field: Field
    steps: tuple[Step, ...]
    item: Field
    """The group around one turn, if that has more than one field."""
    times: Callable[[Any], int] | None
    """Computes the number of turns, if that isn't in front of them."""
    counter: Step | None
    """Reads the number of turns in front of them."""


@cache
def message_program(message: Message) -> Program:
    """The program of a message; made once, when first needed."""
    placed = place(message)
    assert placed.header is not None
    builder = _Builder(placed)
    (name, labels), mask = next(iter(message.labels.items()), ("", (message.name, message.name))), 0
    if name:
        mask = next(flag.mask for flag in message.flags if flag.name == name)
    return Program(
        message, placed.field, placed.header, labels[0], mask, labels[1],
        sum(flag.mask for flag in message.flags if flag.reserved), builder.keep(placed.header.bits),
        bits_check(message.flags), builder.steps(placed.inside),
    )  # fmt: skip


@cache
def unit_program(unit: Unit) -> tuple[Field, tuple[Step, ...]]:
    """The program of a unit."""
    placed = place(unit)
    return placed.field, _Builder(placed).steps(placed.inside)


@cache
def unknown_body(enc: int) -> tuple[Step, ...]:
    """The body of an extension that isn't known, by its encoding."""
    if enc == Z64:
        return ((VLE, 0, 0, None, EXT_NUMBER, (1 << 64) - 1, 0, None, None),)
    return ((BLOB, 0, 0, None, EXT_VALUE, (1 << 32) - 1, None, None, None),) if enc == ZBUF else ()


class ProgramTable(dict[int, Program]):
    """Programs by id, each made when its id is first met, so that starting up costs only what is used."""

    def __init__(self, messages: tuple[Message, ...], refused: tuple[Message, ...] = (), inner: bool = False) -> None:
        super().__init__()
        self.messages = {message.id: message for message in messages}
        self.refused = {message.id for message in refused}
        """Ids of messages that the Rust implementation doesn't read here."""
        self.inner = inner
        """Whether these messages are part of the message around them."""

    def __missing__(self, key: int) -> Program:
        program = self[key] = message_program(self.messages[key])
        return program


@cache
def single(message: Message) -> ProgramTable:
    """The table of one message alone."""
    return ProgramTable((message,))


class _Builder:
    """Turns the places of one message into steps."""

    def __init__(self, placed: PlacedMessage) -> None:
        self.flags = {} if isinstance(placed.node, Unit) else {flag.name: flag for flag in placed.node.flags}
        self.needed = frozenset(_names(placed.inside, self.flags))

    def steps(self, places: tuple[PlacedNode, ...]) -> tuple[Step, ...]:
        return tuple(self.step(placed) for placed in places)

    def step(self, placed: PlacedNode) -> Step:
        node, field = placed.node, placed.field
        assert not isinstance(node, Extension)
        mask, want, test = self.condition(node.when)
        op, first, second, keep, check = self.operation(placed)
        return (op, mask, want, test, field, first, second, keep, check)

    def condition(self, text: str) -> tuple[int, int, Any]:
        """(mask, want, None) for a condition on one header flag, (0, 0, test) for any other."""
        simple = conditions.flag_test(text) if text else None
        if simple and simple[0] in self.flags and self.flags[simple[0]].width == 1:
            mask = self.flags[simple[0]].mask
            return mask, mask if simple[1] else 0, None
        return 0, 0, conditions.test(text) if text else None

    def keep(self, bits: tuple[Field, ...]) -> Keep:
        """(name, shift, mask) of the bit fields that conditions need."""
        return tuple(
            (node.name, node.low, (1 << node.width) - 1)
            for node in (bit.node for bit in bits)
            if isinstance(node, Bit) and node.name in self.needed
        )

    def operation(self, placed: PlacedNode) -> tuple[int, Any, Any, Any, Any]:
        """op, first, second, keep, check of a node."""
        node = placed.node
        if isinstance(node, Vle):
            own: Keep = ((node.name, 0, -1),) if node.name in self.needed else ()
            reserved = sum(bit.mask for bit in node.bits if bit.reserved)
            return (
                VLE,
                (1 << (node.keeps or node.width)) - 1,
                reserved,
                own + self.keep(placed.field.bits) or None,
                value_check(node, node.bits),
            )
        if isinstance(node, Text | Blob):
            op = TEXT if isinstance(node, Text) else BLOB
            return op, (1 << node.length) - 1, None, None, value_check(node)
        if isinstance(node, Bits):
            reserved = sum(bit.mask for bit in node.bits if bit.reserved)
            return BITS, reserved, None, self.keep(placed.field.bits) or None, value_check(node, node.bits)
        if isinstance(node, Fixed):
            size = node.size if isinstance(node.size, int) else conditions.test(node.size)
            kept = node.name if node.name in self.needed else None
            return RAW if node.raw else UINT, size, isinstance(node.size, str), kept, value_check(node)
        if isinstance(node, Rest):
            return REST, node.text, None, None, value_check(node)
        return self.structure(placed)

    def structure(self, placed: PlacedNode) -> tuple[int, Any, Any, Any, Any]:
        """op, first, second, keep, check of a node that holds others."""
        node = placed.node
        if isinstance(node, Extensions):
            keys = {ext.name: ext.key for ext in node.known}
            known = {
                inner.node.key: self.extension(inner, inner.node, keys)
                for inner in placed.inside
                if isinstance(inner.node, Extension)
            }
            return EXTENSIONS, ExtensionPrograms(known, node.when == "", node.tolerant), None, None, None
        if isinstance(node, Choice):
            inner = any(message.layer in INNER for message in node.messages)
            return CHOICE, ProgramTable(node.messages, node.refused, inner), node.many, None, node.name
        if isinstance(node, Repeat):
            count = conditions.test(node.count) if isinstance(node.count, str) else None
            counter = self.step(placed.count) if placed.count else None
            assert placed.item is not None
            program = RepeatProgram(placed.field, self.steps(placed.inside), placed.item, count, counter)
            return REPEAT, program, None, None, None
        assert isinstance(node, Group)
        inside = self.steps(placed.inside)
        if placed.count:
            return REGION, inside, (1 << node.length) - 1, placed.count.field, None
        if node.size:
            return REGION, inside, conditions.test(node.size), None, None
        return GROUP if node.name else INLINE, inside, None, None, None

    def extension(self, placed: PlacedNode, node: Extension, keys: dict[str, int]) -> ExtensionProgram:
        """The program of an extension, of a chain with these headers."""
        loose = conditions.test(node.loose) if node.loose else None
        kept = node.name if node.name in self.needed else ""
        before = keys[node.before] if node.before else 0
        return ExtensionProgram(
            placed.field, self.steps(placed.inside), bool(node.fields), kept, before, loose, node.mismatch
        )


def _names(places: tuple[PlacedNode, ...], flags: dict[str, Bit]) -> set[str]:
    """Names that the conditions of these places need, without those that the header byte alone answers."""
    out: set[str] = set()
    for placed in places:
        node = placed.node
        texts = [
            getattr(node, part) for part in ("when", "loose", "size") if isinstance(getattr(node, part, None), str)
        ]
        if isinstance(node, Repeat) and isinstance(node.count, str):
            texts.append(node.count)
        for text in filter(None, texts):
            simple = conditions.flag_test(text)
            if not (simple and simple[0] in flags and text == getattr(node, "when", None)):
                out |= conditions.names(text)
        out |= _names(placed.inside, flags)
        if placed.count:
            out |= _names((placed.count,), flags)
    return out
