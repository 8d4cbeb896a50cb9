"""Makes the Packet classes from the grammar."""

from dataclasses import replace
from typing import Any, cast

from scapy.base_classes import Packet_metaclass

from zdissect.engine.inference import level, single, terms
from zdissect.grammar import conditions
from zdissect.grammar.checks import VERSION
from zdissect.grammar.field import EXT_LENGTH
from zdissect.grammar.field import Field as WireField
from zdissect.grammar.flags import ID_BITS
from zdissect.grammar.registry import MESSAGES, PlacedNode, place
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
    Repeat,
    Rest,
    Text,
    Vle,
)
from zdissect.scapy.part_fields import PartField, ValueField, ValueListField, optional, packets
from zdissect.scapy.parts import CLASSES, ZenohExtension, ZenohMessage, ZenohPart, ident_word
from zdissect.scapy.wording import bit_word, camel, field_word, id_word, message_class


class _Description:
    """The attributes of a class, gathered place by place.

    Args:
        name: The name of the class, which is also the prefix for the classes inside.
        message: The message, if it is the class of a message.
    """

    def __init__(self, name: str, message: Message | None = None) -> None:
        self.name = name
        self.id_word = id_word(message) if message is not None else ""
        self.fields: dict[str, Any] = {}
        self.words: dict[str, str] = {}
        self.nested: dict[str, Any] = {}
        self.whole: dict[str, Vle] = {}
        self.usual: dict[str, tuple[Any, list[str]]] = {}
        self.made: dict[str, type[ZenohPart]] = {}
        """The classes of the parts inside, by name."""

    def attributes(self, places: tuple[PlacedNode, ...]) -> dict[str, Any]:
        """All attributes."""
        inferred = {term.name for one in level(places) for term in terms(getattr(one.node, "when", ""))}
        sizes = (one.node.size for one in level(places) if isinstance(one.node, Fixed | Group))
        inferred |= {name for size in sizes if isinstance(size, str) for name in conditions.names(size)}
        for one in level(places):
            self.place(one, inferred)
        return {
            "name": self.name, "places": places, "words": self.words, "nested": self.nested, "whole": self.whole,
            "usual": self.usual, "fields_desc": list(self.fields.values()), "__module__": "zdissect.scapy",
        }  # fmt: skip

    def place(self, one: PlacedNode, inferred: set[str]) -> None:
        """Adds the fields of a place."""
        node = one.node
        if isinstance(node, Extensions):
            self.add("extensions", "extensions", packets("extensions"))
            known = ((inside, inside.node) for inside in one.inside if isinstance(inside.node, Extension))
            self.nested["extensions"] = {node.name: self.extension(inside, node) for inside, node in known}
        elif isinstance(node, Choice | Extension):
            if isinstance(node, Choice) and node.many:
                self.fields["messages"] = packets("messages")
        elif isinstance(node, Group):
            if node.name:
                made = self.nested[node.name] = self.part(node.name, one)
                self.add(node.name, field_word(node.name), optional(PartField(field_word(node.name), None, made)))
        elif isinstance(node, Repeat):
            self.repeat(one, node)
        elif isinstance(node, Bits | Vle) and node.bits:
            for bit in one.field.bits:
                self.bit(bit, node, inferred)
            if isinstance(node, Vle):
                self.whole[node.name] = node
                self.value(one.field, node.name, None, node.when)
        else:
            self.value(one.field, node.name, _usual(node), node.when)

    def add(self, name: str, word: str, field: Any) -> None:
        """A field."""
        self.words[word] = name
        self.fields.setdefault(word, field)

    def bit(self, field: WireField, holder: Bits | Vle, inferred: set[str]) -> None:
        """A bit field."""
        bit = field.node
        assert isinstance(bit, Bit)
        known = bit.width > 1 and not bit.reserved and bit.name not in inferred
        self.value(field, bit.name, 0 if known else None, holder.when, bit_word(bit))

    def value(self, field: WireField, name: str, usual: Any, when: str, word: str = "") -> None:
        """A number, text or bytes."""
        word = word or (self.id_word if name == "id" and self.id_word else field_word(name))
        there = usual is not None and (not when or bool(conditions.test(when)({})))
        self.add(name, word, ValueField(word, usual, field) if there else optional(ValueField(word, None, field)))
        if usual is not None:
            self.usual.setdefault(name, (usual, []))[1].append(when)

    def repeat(self, one: PlacedNode, node: Repeat) -> None:
        """Several values, or several groups of them."""
        if single(one):
            self.add(node.name, node.name, optional(ValueListField(node.name, None, one.field)))
            return
        self.add(node.name, node.name, packets(node.name))
        self.nested[node.name] = self.part(node.name.removesuffix("s"), one)

    def part(self, name: str, one: PlacedNode) -> type[ZenohPart]:
        """The class of a group, or of the items of a list."""
        inner = _Description(self.name + camel(name))
        attributes = inner.attributes(one.inside)
        if one.count is not None and isinstance(one.node, Group):
            attributes["words"]["length"] = "length"
            attributes["fields_desc"].append(optional(ValueField("length", None, one.count.field)))
        return self.keep(inner, ZenohPart, attributes)

    def extension(self, one: PlacedNode, node: Extension) -> type[ZenohPart]:
        """The class of an extension that the message knows."""
        inner = _Description(f"{self.name}{camel(node.name)}Ext")
        attributes = inner.attributes(one.inside) | {"ext": node.name, "node": node}
        if node.enc == ZBUF and node.fields:
            attributes["words"]["length"] = "length"
            attributes["fields_desc"].append(optional(ValueField("length", None, EXT_LENGTH)))
        return self.keep(inner, ZenohExtension, attributes)

    def keep(self, inner: "_Description", base: type[ZenohPart], attributes: dict[str, Any]) -> type[ZenohPart]:
        """Makes and keeps the class of a part."""
        made = cast(type[ZenohPart], Packet_metaclass(inner.name, (base,), attributes))
        self.made |= inner.made | {inner.name: made}
        return made


def _usual(node: Any) -> Any:
    """The default of a field; None for a field that is absent by default."""
    match node:
        case Vle() | Fixed(raw=False):
            return VERSION if getattr(node, "check", "") == "version" else 0
        case Fixed():
            return b"\x01"
        case Text():
            return ""
        case Blob() | Rest():
            return b""
    return None


def _message(message: Message) -> dict[str, type[ZenohPart]]:
    """The class of a message, and those of what is in it."""
    last = message.fields[-1]
    carried = last if isinstance(last, Choice) else None
    head = message if carried is None else replace(message, fields=message.fields[:-1])
    description = _Description(message_class(message), message)
    placed = place(message)
    assert placed.header is not None
    for field in placed.header.bits[:-1]:
        assert isinstance(field.node, Bit)
        inferred = {term.name for one in level(placed.inside) for term in terms(getattr(one.node, "when", ""))}
        known = field.node.width > 1 and not field.node.reserved and field.node.name not in inferred
        description.value(field, field.node.name, 0 if known else None, "", bit_word(field.node))
    ident = ident_word(message)
    description.fields[ident] = ValueField(ident, message.id & ID_BITS, placed.header.bits[-1])
    attributes = description.attributes(placed.inside) | {"message": message, "head": head, "carried": carried}
    made = cast(type[ZenohMessage], Packet_metaclass(description.name, (ZenohMessage,), attributes))
    CLASSES[message] = made
    return {description.name: made, **description.made}


def generated() -> dict[str, type[ZenohPart]]:
    """All classes by their names, those of the messages first."""
    made = {name: one for message in MESSAGES for name, one in _message(message).items()}
    return dict(sorted(made.items(), key=lambda item: not issubclass(item[1], ZenohMessage)))


GENERATED = generated()
