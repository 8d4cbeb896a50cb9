"""The base of all classes: their fields are values of the grammar, read from a tape and written by the encoder."""

from collections.abc import Mapping
from typing import Any, ClassVar

from scapy.config import conf
from scapy.packet import Packet

from zdissect.engine import encoder
from zdissect.engine.inference import infer
from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Tape
from zdissect.engine.values import Values, values
from zdissect.grammar import conditions
from zdissect.grammar.field import EXT_HEADER, EXT_NUMBER
from zdissect.grammar.flags import ID_BITS, Z, reserved
from zdissect.grammar.registry import GrammarError, PlacedNode
from zdissect.grammar.types import Choice, Extension, Extensions, Message, Node, Unit, Vle
from zdissect.scapy.part_fields import ValueField, optional
from zdissect.scapy.wording import bit_word

_, _ENC, _MANDATORY, _ID = EXT_HEADER.bits


class ZenohPart(Packet):
    """Some fields of a message, or all: their values by the names of scapy, and by those of the grammar."""

    words: ClassVar[dict[str, str]] = {}
    """Name in the grammar by name in scapy."""
    places: ClassVar[tuple[PlacedNode, ...]] = ()
    nested: ClassVar[dict[str, Any]] = {}
    """Classes of groups and list items by their names in the grammar; for extensions, a dict of classes."""
    whole: ClassVar[dict[str, Vle]] = {}
    """Integers that are shown as bit fields."""
    usual: ClassVar[dict[str, tuple[Any, list[str]]]] = {}
    """Default values, and the conditions under any of which a field that isn't given must be present."""

    def fill(self, found: Values) -> None:
        """Sets the fields from values in the form of `zdissect.engine.values`."""
        spelled = {name: word for word, name in self.words.items()}
        for name, value in found.items():
            node = self.whole.get(name)
            if node is not None and not value & ~sum(bit.mask for bit in node.bits):
                parts = {bit: bit.of(value) for bit in node.bits}
                self.fields |= {bit_word(bit): part for bit, part in parts.items() if part or not bit.reserved}
            elif name in spelled:
                self.fields[spelled[name]] = self._nest(name, value)
        self.explicit = 1

    def _nest(self, name: str, value: Any) -> Any:
        """A value as a packet, or a list of packets, where it has fields of its own."""
        if isinstance(value, list):
            return [self._nest(name, one) for one in value]
        if not isinstance(value, dict):
            return value
        kind = self.nested[name]
        if isinstance(kind, dict):
            kind = kind.get(value["ext"], ZenohExtension)
        part: ZenohPart = kind()
        part.fill(value)
        return part

    def given(self, around: Mapping[str, int]) -> Values:
        """Its values in the form of the encoder; `around` are those of the message that it is in."""
        out: Values = {}
        for word, name in self.words.items():
            if self.fields.get(word) is not None:
                out[name] = self.fields[word]
        seen = {**around, **{name: value for name, value in out.items() if isinstance(value, int)}}
        seen |= {str(one.ext): 1 for one in out.get("extensions", ()) if isinstance(one, ZenohPart)}
        for name, (value, whens) in self.usual.items():
            if name not in out and any(not when or conditions.test(when)(seen) for when in whens):
                out[name] = value
        return {name: _plain(value, seen) for name, value in out.items()}

    ext: ClassVar[str | int] = ""
    """The extension that it is, if it is one."""

    def unchanged(self) -> bool:
        """Whether it is unchanged since it was dissected, so that its bytes are still valid."""
        kept = self.raw_packet_cache_fields or {}
        return self.raw_packet_cache is not None and all(
            _plain(self.fields.get(word), {}) == value for word, value in kept.items()
        )

    def keep(self, data: bytes) -> None:
        """Remembers the bytes that it was dissected from, and the values that may be changed without its noticing."""
        self.raw_packet_cache = data
        self.raw_packet_cache_fields = {
            word: _plain(self.fields[word], {})
            for word in self.words
            if isinstance(self.fields.get(word), list | ZenohPart)
        }

    def do_dissect(self, s: bytes) -> bytes:
        """Parts are dissected with their message, and never alone."""
        return s

    def self_build(self) -> bytes:
        """The bytes of the part alone, if they don't depend on the message around it."""
        unit = Unit("part", tuple(one.node for one in self.places if isinstance(one.node, Node)), "A part.", "zdissect")
        try:
            return encoder.encode(unit, self.given({}))
        except GrammarError:
            return b""

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        """Bytes that follow don't belong to it."""
        return b"", s


def _plain(value: Any, seen: Mapping[str, int]) -> Any:
    """A value without packets."""
    if isinstance(value, list):
        return [_plain(one, seen) for one in value]
    return value.given(seen) if isinstance(value, ZenohPart) else value


class ZenohExtension(ZenohPart):
    """An extension that isn't known for its message, by id; the base of the classes of known extensions."""

    name = "ZenohExtension"
    fields_desc: ClassVar[Any] = [
        ValueField("eid", 0, _ID),
        optional(ValueField("enc", None, _ENC)),
        optional(ValueField("mandatory", None, _MANDATORY)),
        optional(ValueField("value", None, EXT_NUMBER)),
    ]
    words: ClassVar[dict[str, str]] = {"enc": "enc", "mandatory": "mandatory", "value": "value"}

    def fill(self, found: Values) -> None:
        """Takes values; those of an unknown extension hold its id."""
        super().fill(found)
        if not self.ext:
            self.fields["eid"] = found["ext"]

    def given(self, around: Mapping[str, int]) -> Values:
        """Its values, and the extension that it is."""
        return {"ext": self.ext or self.getfieldval("eid"), **super().given(around)}

    def self_build(self) -> bytes:
        """Its bytes as the last extension of a chain, if they don't depend on the message around it."""
        known = [self.node] if self.node else []
        carrier = Message("X", 0, "network", "A message.", "zdissect", (Z, reserved(5, 2)), (Extensions(*known),))
        try:
            return encoder.encode(carrier, {"extensions": [self.given({})]})[1:]
        except GrammarError:
            return b""

    node: ClassVar[Extension | None] = None


class ZenohMessage(ZenohPart):
    """A message: the base of the classes of all messages."""

    __slots__ = ("sound",)

    message: ClassVar[Message]
    head: ClassVar[Message]
    """The message without those that it carries at its end..."""
    carried: ClassVar[Choice | None] = None
    """... which are these."""

    @property
    def carries_one(self) -> bool:
        """Whether it ends with a body, a single message, which is its payload in scapy."""
        return self.carried is not None and not self.carried.many

    def do_dissect(self, s: bytes) -> bytes:
        """The fields; the body is left to the payload."""
        end, _ = self.take(interpret(self.message, s), 0)
        return s[end:]

    def take(self, tape: Tape, first: int) -> tuple[int, int | None]:
        """Sets the fields from the message at span `first`; returns the end of its bytes, and the index of its body."""
        spans = tape.spans
        self.sound = first < len(spans) and spans[first][0].kind == "message"
        if not self.sound:
            self.keep(b"")
            return 0, None
        _, depth, start, stop, _ = spans[first]
        last = next((at for at in range(first + 1, len(spans)) if spans[at][1] <= depth), len(spans))
        inside = [at for at in range(first + 1, last) if spans[at][1] == depth + 1 and spans[at][0].kind == "message"]
        self.fill(values(Tape(tape.data, start, stop, spans[first:last], [])))
        if self.carried is not None and self.carried.many:
            self.fields["messages"] = [packet_of(tape, at) for at in inside]
        self.sound = last == len(spans) or spans[last][0].kind != "undecoded" or tape.remarks[-1][0] == "trailing-bytes"
        body = inside[0] if self.carries_one and inside else None
        self.sound |= body is not None
        end = spans[inside[0]][2] if inside else stop
        self.keep(tape.data[start:end])
        return (stop if body is None else end), body

    def self_build(self) -> bytes:
        """The bytes of the fields, and of the messages in a FRAME."""
        kept = self.raw_packet_cache if self.unchanged() else None
        return (self._written() if kept is None else kept) + b"".join(map(bytes, self.fields.get("messages", ())))

    def _written(self) -> bytes:
        """The bytes of the fields."""
        found = self.given({})
        for bit in self.message.flags:
            unsaid = bit.width > 1 and not bit.reserved and bit.name not in found
            if unsaid and infer(bit.name, found, self.places, lambda one: None) is None:
                found[bit.name] = 0
        data = bytearray(encoder.encode(self.head, found))
        data[0] = data[0] & ~ID_BITS | self.getfieldval(ident_word(self.message)) & ID_BITS
        return bytes(data)

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        """The class of the body."""
        known = {one.id: one for one in self.carried.messages} if self.carried is not None and self.carries_one else {}
        message = known.get(payload[0] & ID_BITS) if getattr(self, "sound", True) else None
        return CLASSES[message] if message is not None else conf.raw_layer

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        """Only the body belongs to it, or bytes that couldn't be dissected."""
        return (s, b"") if self.carries_one or not self.sound else (b"", s)


def ident_word(message: Message) -> str:
    """The field name of the id in the header byte, of a message or of a declaration."""
    return "did" if message.layer == "declaration" else "mid"


CLASSES: dict[Message, type[ZenohMessage]] = {}
"""The class of each message."""


def packet_of(tape: Tape, first: int) -> ZenohMessage:
    """The message at span `first` of a tape, with its body."""
    message = tape.spans[first][0].node
    assert isinstance(message, Message)
    packet = CLASSES[message]()
    _, body = packet.take(tape, first)
    if body is not None:
        packet.add_payload(packet_of(tape, body))
    return packet
