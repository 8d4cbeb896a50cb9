"""Fields of scapy that hold values of the grammar. They neither read nor write bytes: their packet does."""

from collections.abc import Mapping
from typing import Any

from scapy.fields import ConditionalField, Field, PacketField, PacketListField
from scapy.packet import Packet
from scapy.volatile import RandBin, RandNum

from zdissect.grammar.field import Field as WireField
from zdissect.grammar.primitives import RENDERINGS
from zdissect.grammar.types import Bit, Vle

_PLAIN = frozenset({"", "bytes", "payload", "opaque"})
"""Renderings that say nothing beyond the value."""


class ValueField(Field[Any, Any]):
    """A number, a text or bytes."""

    __slots__ = ("place",)

    def __init__(self, word: str, default: Any, place: WireField) -> None:
        super().__init__(word, default, "B")
        self.place = place

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        """The value and what it means."""
        place, bit = self.place, self.place.node
        if isinstance(x, list):
            return repr(x)
        if isinstance(x, int) and isinstance(bit, Bit) and bit.says is not None and x in (0, 1):
            return f"{x} ({bit.says[x]})"
        if isinstance(x, int) and place.enum is not None:
            return f"{x} ({place.enum.names.get(x, 'unknown')})"
        if x is not None and place.render in RENDERINGS and place.render not in _PLAIN:
            return str(RENDERINGS[place.render](x))
        return repr(x)

    def randval(self) -> Any:
        """A value that fits, for `fuzz`."""
        node = self.place.node
        if isinstance(self.default, bytes | str):
            return RandBin(RandNum(1, 16))
        return RandNum(0, (1 << (node.width if isinstance(node, Bit | Vle) else 8)) - 1)


class ValueListField(ValueField):
    """Several values: locators, links."""

    islist = 1


class PartField(PacketField):
    """A group of fields, such as a timestamp. May be given as a tuple or dict of its values."""

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        """The group as a packet."""
        if not isinstance(x, tuple | Mapping):
            return x
        kind: Any = self.cls
        if isinstance(x, tuple):
            return kind(**{one.name: part for one, part in zip(kind.fields_desc, x, strict=False)})
        return kind(**x)


def optional(field: Any) -> Any:
    """A field that isn't shown if it isn't present."""
    return ConditionalField(field, lambda packet: packet.fields.get(field.name) is not None)


def packets(word: str) -> Any:
    """A list of packets."""
    return PacketListField(word, [], Packet)
