"""Conversations for tests: what two nodes say to each other, as frames of a capture.

    conversation = Conversation().open(patch=1)
    conversation.frame(0, declare(d_keyexpr(1, "demo")))
    conversation.frame(0, push(1, "/a"))
    observed(conversation).keys == ["demo", "demo/a"]

Side 0 is the client that opens, side 1 the router. Everything is healthy unless a test says otherwise: sequence numbers
count up, TCP numbers fit, a millisecond passes between two frames. Bytes come from the encoder, so that a value given
explicitly (`sn=7`) is what stands on the wire.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from struct import pack
from typing import Any, NamedTuple, Self

import lz4.block

from tests.packets import MS, SECOND, CaptureBuilder, Parties, tcp_packet, udp_packet
from zdissect.engine.encoder import encode
from zdissect.flow.framing import DATAGRAM, STREAM, Framing
from zdissect.grammar.batch import BATCH
from zdissect.grammar.enums import SN_MASKS
from zdissect.session.opening import rust_initial_sn

Values = dict[str, Any]
ROLES = {"router": 0, "peer": 1, "client": 2}
DATA = 5
SYN, ACK, FIN = 2, 16, 1


class Node(NamedTuple):
    """A Zenoh node."""

    wire_zid: bytes
    role: str


CLIENT, ROUTER = Node(b"\x01\xaa", "client"), Node(b"\x02\xbb", "router")
PEER, OTHER_PEER, OTHER_ROUTER = Node(b"\x03\xcc", "peer"), Node(b"\x04\xdd", "peer"), Node(b"\x05\xee", "router")


@dataclass
class Conversation:
    """A link between two nodes, in one capture with others if they share a `Wire`."""

    capture: CaptureBuilder = field(default_factory=CaptureBuilder)
    nodes: tuple[Node, Node] = (CLIENT, ROUTER)
    parties: Parties = field(default_factory=Parties)
    udp: bool = False
    connect: bool = True
    """Whether the capture holds the TCP handshake."""

    def __post_init__(self) -> None:
        self.framings = [DATAGRAM, DATAGRAM] if self.udp else [STREAM, STREAM]
        self.mask = SN_MASKS[2]
        self.next: dict[tuple[int, bool, int], int] = {}
        self.sent = [0, 0]
        """Bytes of each stream."""
        self.proposed: list[Values] = [{}, {}]
        if self.connect and not self.udp:
            for side, flags in ((0, SYN), (1, SYN | ACK), (0, ACK)):
                self.segment(side, b"", flags)

    # What travels: bytes, batches, messages.

    def segment(self, side: int, payload: bytes, flags: int = ACK, offset: int | None = None) -> None:
        """A TCP segment; `offset` is its place in the stream, if it isn't the next one."""
        at = self.sent[side] if offset is None else offset
        acked = 0 if flags == SYN else self.sent[1 - side]
        self.capture.record(tcp_packet(self.parties, side, payload, flags, -1 if flags & SYN else at, acked))
        if offset is None:
            self.sent[side] += len(payload)

    def raw(self, side: int, data: bytes, pieces: int = 1) -> Self:
        """Bytes of a stream in as many segments as wished, or a datagram."""
        if self.udp:
            self.capture.record(udp_packet(self.parties, side, data))
            return self
        size = -(-len(data) // pieces) or 1
        for at in range(0, len(data), size):
            self.segment(side, data[at : at + size])
        return self

    def lose(self, side: int, data: bytes) -> Self:
        """Bytes that were on the wire, and that the capture doesn't hold."""
        self.sent[side] += len(data)
        return self

    def bytes(self, side: int, *messages: Values, compress: bool = False, **values: Any) -> bytes:
        """The bytes of a batch under the framing of its side."""
        framing = self.framings[side]
        data = encode(BATCH, {"messages": list(messages), **values}, **framing.inputs)
        if not compress:
            return data
        plain = encode(BATCH, {"messages": list(messages)}, **DATAGRAM.inputs)
        block = b"\x01" + lz4.block.compress(plain, store_size=False)
        return pack("<H", len(block)) * bool(framing.prefix) + block

    def batch(self, side: int, *messages: Values, pieces: int = 1, compress: bool = False, **values: Any) -> Self:
        """Messages in one batch. Without any it is an empty one."""
        return self.raw(side, self.bytes(side, *messages, compress=compress, **values), pieces)

    def frame(self, side: int, *messages: Values, compress: bool = False, pieces: int = 1, **channel: Any) -> Self:
        """Network messages in a FRAME of their own batch (`sn`, `reliable` and `priority` as in `framed`)."""
        if self.framings[side].low_latency:
            return self.batch(side, *messages, pieces=pieces)
        return self.batch(side, self.framed(side, *messages, **channel), compress=compress, pieces=pieces)

    def framed(
        self, side: int, *messages: Values, sn: int | None = None, reliable: bool = True, priority: int = DATA
    ) -> Values:
        """A FRAME with the next sequence number of its channel, or the one that is given."""
        out = self.carrier("FRAME", side, sn, reliable, priority)
        return {**out, "messages": list(messages)}

    def fragment(
        self, side: int, payload: bytes, first: bool = False, last: bool = False, drop: bool = False,
        sn: int | None = None, reliable: bool = True, priority: int = DATA,
    ) -> Self:  # fmt: skip
        """A piece of a message."""
        out = self.carrier("FRAGMENT", side, sn, reliable, priority)
        marks = [{"ext": name} for name, there in (("first", first), ("drop", drop)) if there]
        out["extensions"] += marks
        return self.batch(side, {**out, "M": int(not last), "payload": payload})

    def fragments(self, side: int, message: bytes, count: int, markers: bool = True, **channel: Any) -> Self:
        """A whole message in pieces, as the Rust implementation sends it: one number is left out behind it."""
        size = -(-len(message) // count)
        pieces = [message[at : at + size] for at in range(0, len(message), size)]
        for index, piece in enumerate(pieces):
            self.fragment(side, piece, first=markers and not index, last=index == len(pieces) - 1, **channel)
        self.skip(side, **channel)
        return self

    def carrier(self, name: str, side: int, sn: int | None, reliable: bool, priority: int) -> Values:
        """What FRAME and FRAGMENT share."""
        space = side, reliable, priority
        number = self.next.get(space, self.initial(side)) if sn is None else sn
        self.next[space] = number + 1 & self.mask
        exts = [] if priority == DATA else [{"ext": "qos", "value": priority}]
        return {"message": name, "R": int(reliable), "sn": number, "extensions": exts}

    def skip(self, side: int, count: int = 1, reliable: bool = True, priority: int = DATA) -> None:
        """Uses up sequence numbers."""
        space = side, reliable, priority
        self.next[space] = self.next.get(space, self.initial(side)) + count & self.mask

    # The handshake.

    def open(self, answer: Values | None = None, **proposal: Any) -> Self:
        """All four messages of a handshake: what side 0 proposes, and what the answer has instead."""
        self.init_syn(**proposal).init_ack(**{**proposal, **(answer or {})})
        return self.open_syn().open_ack()

    def init_syn(self, **proposal: Any) -> Self:
        """INIT_SYN; see `init` for what may be proposed."""
        return self.batch(0, self.init(0, **proposal))

    def init_ack(self, cookie: bytes = b"cookie", **proposal: Any) -> Self:
        """INIT_ACK."""
        return self.batch(1, {**self.init(1, **proposal), "cookie": cookie})

    def init(
        self, side: int, sn: int = 32, rid: int = 32, batch_size: int = 65535, qos: bool = True, patch: int = 1,
        compression: bool = False, low_latency: bool = False, multilink: bool = False, shm: bool = False,
        extensions: Iterable[Values] = (), **values: Any,
    ) -> Values:  # fmt: skip
        """An INIT of either kind. Defaults are those of the Rust implementation."""
        answer = bool(side)
        key = {"modulus": b"m", "exponent": b"e"} | ({"nonce": b"n"} if answer else {})
        memory = {"challenge": 1, "segment": 2} if answer else {"segment": 1}
        exts: list[Values] = [{"ext": "qos"}] if qos else []
        exts += [{"ext": "shm", **memory}] if shm else []
        exts += [{"ext": "multilink", **key}] if multilink else []
        exts += [{"ext": "low_latency"}] if low_latency else []
        exts += [{"ext": "compression"}] if compression else []
        exts += [{"ext": "patch", "value": patch}] if patch else []
        proposal = {"sn": sn, "compression": compression, "low_latency": low_latency}
        self.proposed[side] = proposal
        self.mask = min(SN_MASKS[{8: 0, 16: 1, 32: 2}.get(one.get("sn", 64), 3)] for one in self.proposed)
        out = self.node(side, "INIT_ACK" if answer else "INIT_SYN") | values
        if (sn, rid, batch_size) != (32, 32, 65535):
            width = (8, 16, 32, 64).index
            out |= {"rid": width(rid), "fsn": width(sn), "batch_size": batch_size}
        return {**out, "extensions": [*exts, *extensions]}

    def node(self, side: int, message: str) -> Values:
        """What INIT and JOIN say of their sender."""
        zid, role = self.nodes[side]
        return {"message": message, "version": 9, "zid": zid, "whatami": ROLES[role]}

    def open_syn(self, cookie: bytes = b"cookie", **values: Any) -> Self:
        """OPEN_SYN; what was agreed on begins behind it."""
        return self.batch(0, self.opening(0, {"cookie": cookie, **values})).switch(0)

    def open_ack(self, **values: Any) -> Self:
        """OPEN_ACK; what was agreed on begins behind it."""
        return self.batch(1, self.opening(1, values)).switch(1)

    def opening(self, side: int, values: Values) -> Values:
        """An OPEN of either kind."""
        own: Values = {"message": ("OPEN_SYN", "OPEN_ACK")[side], "T": 1, "lease": 10, "initial_sn": self.initial(side)}
        return own | values

    def initial(self, side: int) -> int:
        """The first sequence number of a side."""
        return rust_initial_sn(self.nodes[side].wire_zid, self.nodes[1 - side].wire_zid, self.mask)

    def switch(self, side: int) -> Self:
        """Takes over the framing that the handshake agreed on."""
        first, second = self.proposed
        both = {name: bool(first.get(name) and second.get(name)) for name in ("compression", "low_latency")}
        prefix = 0 if self.udp else 4 if both["low_latency"] else 2
        self.framings[side] = Framing(prefix, both["compression"], both["low_latency"])
        return self

    # Time, and the end.

    def wait(self, seconds: float) -> Self:
        """Lets time pass without a word."""
        self.capture.now_ns += int(seconds * SECOND) - MS
        return self

    def idle(self, seconds: float, every: float = 2) -> Self:
        """Lets time pass; both sides send KEEP_ALIVEs, as they should."""
        while seconds > 0:
            self.wait(min(every, seconds))
            seconds -= every
            self.keep_alive(0).keep_alive(1)
        return self

    def keep_alive(self, side: int) -> Self:
        """KEEP_ALIVE."""
        return self.batch(side, {"message": "KEEP_ALIVE"})

    def close(self, side: int, reason: int = 0) -> Self:
        """CLOSE."""
        return self.batch(side, {"message": "CLOSE", "reason": reason})

    def hang_up(self) -> Self:
        """Ends the TCP connection."""
        for side in (0, 1):
            self.segment(side, b"", FIN | ACK)
            self.sent[side] += 1
        return self
