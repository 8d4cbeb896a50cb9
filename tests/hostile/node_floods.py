"""Floods of somebody who states ever new ZenohIDs, where there is one address or one connection."""

from collections.abc import Iterator

from tests.conversation import ROUTER, Conversation, Node
from tests.hostile.floods import Flood, Taken
from tests.messages import request
from tests.packets import Parties, udp_packet
from zdissect.records import Frame


def _zid(number: int) -> bytes:
    return (number + 1).to_bytes(4, "big")


def new_nodes(count: int) -> Iterator[Frame]:
    """One station that states another ZenohID each time."""
    capture = Taken()
    parties = Parties(("10.0.0.9", "224.0.0.224"), (7446, 7446))
    for number in range(count):
        capture.record(udp_packet(parties, 0, b"\x47\x09\x31" + _zid(number) + b"\x0a\xff\xff\x0a\x01\x01"))
        yield from capture.take()


def reopenings(count: int) -> Iterator[Frame]:
    """INIT_SYNs of ever new nodes, from one port."""
    capture = Taken()
    for number in range(count):
        Conversation(capture, (Node(_zid(number), "client"), ROUTER), udp=True).init_syn()
        yield from capture.take()


def sessions_of_a_port(count: int) -> Iterator[Frame]:
    """Whole handshakes of ever new nodes, from one port."""
    capture = Taken()
    for number in range(count // 4):
        nodes = Node(_zid(number), "client"), Node(_zid(number) + b"\x01", "router")
        Conversation(capture, nodes, udp=True).open()
        yield from capture.take()


def handshakes_begun(count: int) -> Iterator[Frame]:
    """INIT_SYNs of ever new nodes in one TCP connection."""
    capture = Taken()
    conversation = Conversation(capture)
    for number in range(count):
        conversation.nodes = Node(_zid(number), "client"), ROUTER
        conversation.init_syn()
        yield from capture.take()


def handshakes(count: int) -> Iterator[Frame]:
    """Whole handshakes of ever new nodes in one TCP connection, with leases of years."""
    capture = Taken()
    conversation = Conversation(capture)
    for number in range(count // 4):
        conversation.nodes = Node(_zid(number), "client"), Node(_zid(number) + b"\x01", "router")
        conversation.init_syn().init_ack()
        conversation.open_syn(lease=10**9).open_ack(lease=10**9)
        yield from capture.take()


def requests_of_a_port(count: int) -> Iterator[Frame]:
    """Sessions from one port, each of which asks something that may take years, and is followed by the next one."""
    capture = Taken()
    for number in range(count // 5):
        nodes = Node(_zid(number), "client"), Node(_zid(number) + b"\x01", "router")
        conversation = Conversation(capture, nodes, udp=True).open()
        conversation.frame(0, *(request(ident, "q/" + "k" * 200, timeout=10**12) for ident in range(5)))
        yield from capture.take()


def receivers(count: int) -> Iterator[Frame]:
    """One station on raw Ethernet that sends to ever new ones."""
    capture = Taken()
    for number in range(count):
        head = b"\x02\x00" + number.to_bytes(4, "big") + b"\x02\x01\x00\x00\x00\x01\xe0\x72"
        capture.record(head + b"\x00\x01\x04")
        yield from capture.take()


NODE_FLOODS: dict[str, Flood] = {
    flood.__name__: flood
    for flood in (
        new_nodes,
        reopenings,
        sessions_of_a_port,
        requests_of_a_port,
        handshakes_begun,
        handshakes,
        receivers,
    )
}
