"""A fleet of robots that speak Zenoh through a router."""

from functools import cache
from struct import pack
from typing import Any

from tests.bench.compare.links import CaptureFile, Link
from tests.bench.compare.shapes import LARGE, LEAVES, ROBOTS, Exchange, Parcel, Sample, root, subscribers
from tests.conversation import ROUTER, Node
from tests.messages import (
    RECEIVER,
    SENDER,
    d_keyexpr,
    declare,
    entity,
    push,
    put,
    qos,
    request,
    response,
    response_final,
)
from tests.packets import SECOND
from zdissect.engine.encoder import encode
from zdissect.flow.framing import DATAGRAM
from zdissect.grammar.batch import BATCH
from zdissect.grammar.network import PUSH

PORT = 7447
SERVICE = "srv/get_state"
ROOT_ID, FIRST_LEAF_ID, FIRST_OTHER_ID, SERVICE_ID = 1, 10, 100, 2000
KEEP_ALIVE_NS = 5 * SECOND // 2
BLOCK = 8
"""The bit of QoS that says: wait rather than drop."""
PIECES = 2
"""Fragments of a large sample."""
_TIME_MARK = 0xF0E1_D2C3_B4A5_9687
_ATTACHMENT_MARK = b"an attachment of"


class ZenohFleet:
    """Sessions of all robots with one router: says what it is told to in messages that the encoder has made.

    The encoder makes each kind of message once; what changes from one to the next (payload, time, attachment) is
    written over marks in it, which makes captures with millions of messages possible.
    """

    def __init__(self, capture: CaptureFile) -> None:
        self.capture = capture
        self.requests = 0
        self.links = [Link(capture, (node(robot), ROUTER), robot, PORT).open() for robot in range(ROBOTS)]
        self.alive_ns = capture.now_ns
        for robot in range(ROBOTS):
            self._declare(robot)

    def _declare(self, robot: int) -> None:
        link = self.links[robot]
        names = [d_keyexpr(ROOT_ID, root(robot))]
        names += [d_keyexpr(FIRST_LEAF_ID + leaf, f"{root(robot)}/{name}") for leaf, name in enumerate(LEAVES)]
        link.frame(0, *(declare(name) for name in names))
        for other in (one for one in range(ROBOTS) if robot in subscribers(one)):
            link.frame(0, declare(d_keyexpr(FIRST_OTHER_ID + other, root(other))))
            link.frame(0, declare(entity("SUBSCRIBER", 1000 + other, FIRST_OTHER_ID + other, "/**")))
        link.frame(0, declare(entity("QUERYABLE", SERVICE_ID, ROOT_ID, f"/{SERVICE}")))

    def say(self, what: Parcel | Exchange) -> int:
        """Sends it; the number of network messages in it."""
        if self.capture.now_ns - self.alive_ns > KEEP_ALIVE_NS:
            self.alive_ns = self.capture.now_ns
            for link in self.links:
                link.keep_alive(0).keep_alive(1)
        return self._ask(what) if isinstance(what, Exchange) else self._publish(what)

    def _publish(self, parcel: Parcel) -> int:
        small = [sample for sample in parcel.samples if len(sample.payload) < LARGE]
        if small:
            self._frame(parcel.robot, parcel.side, small)
        for sample in parcel.samples:
            if len(sample.payload) >= LARGE:
                message = self._message(sample, parcel.side)
                self.links[parcel.robot].fragments(parcel.side, message, PIECES, priority=sample.priority)
        return len(parcel.samples)

    def _frame(self, robot: int, side: int, samples: list[Sample]) -> None:
        """A FRAME with messages of one priority."""
        link, first = self.links[robot], samples[0]
        head = encode(BATCH, {"messages": [link.framed(side, priority=first.priority)]}, **DATAGRAM.inputs)
        batch = head + b"".join(self._message(sample, side) for sample in samples)
        link.raw(side, pack("<H", len(batch)) + batch)

    def _message(self, sample: Sample, side: int) -> bytes:
        """A PUSH."""
        data = prototype(sample._replace(payload=b"", attachment=_ATTACHMENT_MARK if sample.attachment else b""), side)
        if sample.timestamp:
            seconds, ns = divmod(self.capture.now_ns, SECOND)
            data = data.replace(vle(_TIME_MARK), vle(seconds << 32 | (ns << 32) // SECOND))
        if sample.attachment:
            data = data.replace(_ATTACHMENT_MARK, sample.attachment)
        return data[:-1] + vle(len(sample.payload)) + sample.payload

    def _ask(self, exchange: Exchange) -> int:
        """A query, its answer and the end of it, each sent to the router and passed on by it."""
        asker, answerer = self.links[exchange.asker], self.links[exchange.answerer]
        key = f"{root(exchange.answerer)}/{SERVICE}"
        self.requests += 1
        ident, parameters = self.requests, f"req={self.requests}"
        asker.frame(0, request(ident, key, parameters=parameters, timeout=10_000))
        answerer.frame(1, request(ident, ROOT_ID, f"/{SERVICE}", RECEIVER, parameters=parameters, timeout=10_000))
        reply = {"message": "REPLY", "body": put(b'{"state": "ok"}')}
        answerer.frame(0, response(ident, ROOT_ID, f"/{SERVICE}", body=reply)).frame(0, response_final(ident))
        asker.frame(1, response(ident, key, body=reply)).frame(1, response_final(ident))
        return 6

    def close(self) -> None:
        """Ends all sessions."""
        for link in self.links:
            link.close(0).hang_up()


def node(robot: int) -> Node:
    """A robot as a node."""
    return Node(bytes((robot + 1, 0xAB)) * 8, "client")


@cache
def prototype(sample: Sample, side: int) -> bytes:
    """The bytes of a PUSH with an empty payload, and marks where a time and an attachment stand."""
    body: dict[str, Any] = {"extensions": []}
    if sample.timestamp:
        body["timestamp"] = {"time": _TIME_MARK, "id": node(sample.robot).wire_zid}
    if sample.encoding:
        body["encoding"] = {"id": 7}
    if sample.attachment:
        body["extensions"] += [{"ext": "attachment", "value": sample.attachment}]
    values: dict[str, Any] = {"body": put(b"", **body)}
    if sample.qos:
        values["extensions"] = qos(BLOCK | sample.priority)
    leaf = LEAVES[sample.leaf]
    if side:
        return encode(PUSH, push(FIRST_OTHER_ID + sample.robot, f"/{leaf}", RECEIVER, **values))
    if sample.expression == "declared":
        return encode(PUSH, push(FIRST_LEAF_ID + sample.leaf, "", SENDER, **values))
    if sample.expression == "both":
        return encode(PUSH, push(ROOT_ID, f"/{leaf}", SENDER, **values))
    return encode(PUSH, push(sample.key, **values))


def vle(value: int) -> bytes:
    """A number as Zenoh writes it."""
    out = bytearray()
    while value > 0x7F and len(out) < 8:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
