"""The units that links carry: batches and scouting datagrams."""

from typing import Any, ClassVar

from scapy.config import conf
from scapy.fields import LEShortField
from scapy.packet import Packet

from zdissect.engine.interpreter import interpret
from zdissect.grammar.batch import BATCH, STREAM_PREFIX
from zdissect.grammar.flags import ID_BITS
from zdissect.grammar.scouting import SCOUTING
from zdissect.scapy.part_fields import packets
from zdissect.scapy.parts import CLASSES, ZenohPart, packet_of


class ZenohBatch(ZenohPart):
    """A batch without a length prefix, as in a UDP datagram. Bytes that can't be dissected are its payload."""

    name = "ZenohBatch"
    fields_desc: ClassVar[Any] = [packets("messages")]

    def do_dissect(self, s: bytes) -> bytes:
        """Dissects the messages, up to the end or to the first bytes that aren't a message."""
        tape = interpret(BATCH, s, prefix=0)
        inside = [at for at, span in enumerate(tape.spans) if span[1] == 1 and span[0].kind == "message"]
        self.fields["messages"] = [packet_of(tape, at) for at in inside]
        end = tape.spans[inside[-1]][3] if inside else 0
        self.explicit = 1
        return s[end:]

    def self_build(self) -> bytes:
        """The messages one after the other."""
        return b"".join(map(bytes, self.fields.get("messages", ())))

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        """All remaining bytes belong to the batch."""
        return s, b""


class ZenohStreamBatch(ZenohBatch):
    """A batch with its length prefix, as in a TCP stream; another batch may follow as its payload."""

    __slots__ = ("sound",)

    name = "ZenohStreamBatch"
    fields_desc: ClassVar[Any] = [LEShortField("len", None), packets("messages")]

    def do_dissect(self, s: bytes) -> bytes:
        """One batch."""
        if len(s) < STREAM_PREFIX:
            raise ValueError("too short for the length of a batch")
        size = int.from_bytes(s[:STREAM_PREFIX], "little")
        stop = STREAM_PREFIX + size
        left = super().do_dissect(s[STREAM_PREFIX:stop])
        self.fields["len"] = size
        self.sound = not left
        return left + s[stop:]

    def self_build(self) -> bytes:
        """The length, and the messages."""
        data = super().self_build()
        size = self.fields.get("len")
        return (len(data) if size is None else int(size)).to_bytes(STREAM_PREFIX, "little") + data

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        """Another batch, if its length fits."""
        size = int.from_bytes(payload[:STREAM_PREFIX], "little")
        return ZenohStreamBatch if self.sound and 0 < size <= len(payload) - STREAM_PREFIX else conf.raw_layer


class ZenohScouting(Packet):
    """A scouting datagram: becomes a `ZenohScout` or a `ZenohHello`."""

    name = "ZenohScouting"
    fields_desc: ClassVar[Any] = []

    @classmethod
    def dispatch_hook(cls, _pkt: bytes | None = None, *args: Any, **kargs: Any) -> type[Packet]:
        """The class of the message."""
        if not _pkt:
            return cls
        return next((CLASSES[one] for one in SCOUTING if one.id == _pkt[0] & ID_BITS), conf.raw_layer)
