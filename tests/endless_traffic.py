"""Traffic without an end, for tests of what a live capture remembers: ever new nodes, keys and connections.

Every kind of conversation is made once, of a node with marks in it: its ZenohID, address, MAC address and key. A round
writes those of a new node over the marks, so that hundreds of thousands of rounds take no encoder.
"""

from collections.abc import Callable, Iterator
from socket import inet_aton
from struct import pack
from typing import NamedTuple

from tests.conversation import ACK, ROUTER, SYN, Conversation, Node
from tests.messages import (
    d_keyexpr,
    declare,
    entity,
    final,
    gone,
    interest,
    link_state,
    node,
    push,
    pushed,
    request,
    response,
    response_final,
    u_keyexpr,
)
from tests.multicast_group import scouting
from tests.packets import SECOND, START_NS, CaptureBuilder, Parties, udp_packet
from zdissect.engine.encoder import encode
from zdissect.flow.framing import DATAGRAM
from zdissect.grammar.batch import BATCH
from zdissect.records import Frame

ZID, HOST, STATION, KEY = b"\xf1\xf2\xf3\xf4", "10.77.88.99", b"\x02\xf5\xf6\xf7\xf8\xf9", "k0000000"
"""The marks."""
OTHER = b"\xe1\xe2\xe3\xe4"
"""That of the ZenohID of a second new node."""
ROUTER_HOST = "192.168.0.1"
ROUND_NS = 6 * SECOND
RST = 4


def talk(capture: CaptureBuilder, port: int = 7447, other: Node = ROUTER, **options: object) -> Conversation:
    """A conversation of the new node."""
    parties = Parties((HOST, ROUTER_HOST), (40_000, port))
    return Conversation(capture, (Node(ZID, "client"), other), parties, **options)  # type: ignore[arg-type]


def whole_session(capture: CaptureBuilder) -> None:
    """What a session usually consists of."""
    tcp = talk(capture).open()
    tcp.frame(0, declare(d_keyexpr(1, f"demo/{KEY}"))).frame(0, declare(entity("SUBSCRIBER", 1, f"sub/{KEY}/**")))
    tcp.frame(0, declare(entity("TOKEN", 2, f"token/{KEY}"))).frame(0, interest(1, T=1, K=0, S=0, Q=0))
    tcp.frame(1, declare(entity("TOKEN", 3, f"other/{KEY}"), 1)).frame(1, final(1))
    tcp.frame(0, push(1), push(1, "/a"), push(f"new/{KEY}")).frame(0, push(1)).frame(0, push(1))
    tcp.frame(0, request(1, f"ask/{KEY}", timeout=1000)).frame(1, response(1, f"ask/{KEY}")).frame(1, response_final(1))
    tcp.keep_alive(0).frame(0, declare(gone("TOKEN", 2))).frame(0, declare(u_keyexpr(1)))
    tcp.close(0).hang_up()


def over_udp(capture: CaptureBuilder) -> None:
    """A session over UDP."""
    talk(capture, udp=True).open().frame(0, push(f"udp/{KEY}")).close(0)


def vanished(capture: CaptureBuilder) -> None:
    """Nodes of sessions over TCP and UDP that vanish, with a query that waits and a message that isn't complete."""
    for udp in (False, True):
        gone_node = talk(capture, 7448 + udp, udp=udp).open().frame(0, declare(d_keyexpr(1, f"lost/{KEY}")))
        gone_node.frame(0, request(1, f"lost/{KEY}", timeout=10_000)).frame(0, interest(2))
        gone_node.fragment(0, pushed(f"part/{KEY}", bytes(100))[:50], first=True)


def refused(capture: CaptureBuilder) -> None:
    """Connections that never come to be, or end during the handshake, or are half open."""
    talk(capture, 7450, connect=False).segment(0, b"", SYN)
    reset = talk(capture, 7451, connect=False)
    reset.segment(0, b"", SYN)
    reset.segment(1, b"", RST | ACK)
    talk(capture, 7452).init_syn().hang_up()
    talk(capture, 7453).init_syn().init_ack()
    talk(capture, 7454)
    half = talk(capture, 7455).open()
    half.segment(0, b"", ACK | 1)


def websocket(capture: CaptureBuilder) -> None:
    """A session over WebSocket."""
    head = (
        b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    tcp, plain = talk(capture, 8080), talk(CaptureBuilder(), udp=True)
    tcp.segment(0, head)
    tcp.segment(1, b"HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n")
    batches = [(0, plain.init(0)), (1, {**plain.init(1), "cookie": b"cookie"})]
    batches += [(0, plain.opening(0, {"cookie": b"cookie"})), (1, plain.opening(1, {}))]
    batches += [(0, plain.framed(0, push(f"web/{KEY}"))), (0, {"message": "CLOSE", "reason": 0})]
    for side, message in batches:
        data = encode(BATCH, {"messages": [message]}, **DATAGRAM.inputs)
        mask = b"" if side else bytes(4)
        tcp.segment(side, bytes((0x82, len(data) | (0 if side else 128))) + mask + data)
    tcp.hang_up()


def discovery(capture: CaptureBuilder) -> None:
    """Scouting, answered or not, and a HELLO that nobody has asked for."""
    ask = {"message": "SCOUT", "version": 9, "what": 7, "I": 1, "zid": ZID}
    group = Parties((HOST, "224.0.0.224"), (41_000, 7446))
    scouting(group, 0, capture, **ask)
    hello = {"message": "HELLO", "version": 9, "whatami": 0, "zid": ROUTER.wire_zid}
    scouting(Parties((HOST, ROUTER_HOST), (41_000, 7446)), 1, capture, **hello)
    scouting(Parties((HOST, ROUTER_HOST), (41_001, 7446)), 1, capture, **hello)


def strangers(capture: CaptureBuilder) -> None:
    """What isn't Zenoh, on known ports and others."""
    for port in (53, 7447, 9999):
        capture.record(udp_packet(Parties((HOST, ROUTER_HOST), (42_000, port)), 0, b"\xff\xfe nothing known" + ZID))
    talk(capture, 80).raw(0, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").raw(1, b"HTTP/1.1 200 OK\r\n\r\n").hang_up()
    talk(capture, 5000).raw(0, b"\0\1\2")
    talk(capture, 5001).raw(0, b"\0\1\2").hang_up()
    talk(capture, 22).raw(0, b"SSH-2.0-OpenSSH\r\n")
    capture.record(bytes(12) + b"\x08\x06" + bytes(28))
    lone = bytearray(udp_packet(Parties((HOST, ROUTER_HOST), (42_000, 7447)), 0, ZID * 8))
    lone[20:22] = b"\x20\x00"  # more fragments follow, that never come
    capture.record(bytes(lone))


def members(capture: CaptureBuilder) -> None:
    """New members: two that differ in a multicast group, and one that is alone in a group of its own."""
    lease = {"T": 1, "lease": 10, "next_sn_reliable": 1, "next_sn_best_effort": 1}
    for index, (to, zid) in enumerate((("224.0.0.225", ZID), ("224.0.0.225", OTHER), ("239.88.99.1", ZID))):
        join = {"message": "JOIN", "version": 9, "zid": zid, "whatami": 1, **lease}
        join |= {"extensions": [{"ext": "patch", "value": 1}], "rid": 2, "fsn": 1 + index % 2, "batch_size": 8192}
        data = encode(BATCH, {"messages": [join]}, **DATAGRAM.inputs)
        for _ in range(2):
            capture.record(udp_packet(Parties((HOST, to), (43_000 + index, 7450)), 0, data))


def stations(capture: CaptureBuilder) -> None:
    """A new station that speaks to another on raw Ethernet."""
    plain = talk(CaptureBuilder(), udp=True)
    for message in (plain.init(0), plain.framed(0, push(f"raw/{KEY}"))):
        data = encode(BATCH, {"messages": [message]}, **DATAGRAM.inputs)
        capture.record(b"\x02\0\0\0\0\1" + STATION + b"\x72\xe0" + pack(">H", len(data)) + data)


def harmed(capture: CaptureBuilder) -> None:
    """Sessions of which the capture lacks something, or which began before it."""
    tcp = talk(capture, 7461).open(compression=True).frame(0, push(f"packed/{KEY}"), compress=True)
    tcp.lose(0, bytes(40)).frame(0, push(f"after/{KEY}")).frame(0, push(7)).close(0).hang_up()
    middle = talk(capture, 7462, connect=False)
    for _ in range(4):
        middle.frame(0, push(f"middle/{KEY}")).frame(1, push(9))
    talk(capture, 7463).open().frame(0, request(1, f"never/{KEY}", timeout=1000)).hang_up()
    talk(capture, 7464).open(low_latency=True).batch(0, push(f"quick/{KEY}")).hang_up()


def peers(capture: CaptureBuilder) -> None:
    """Two new nodes, with two links between them, that tell each other of their neighbours."""
    first = talk(capture, 7471, Node(OTHER, "router")).open(multilink=True)
    second = talk(capture, 7472, Node(OTHER, "router")).open(multilink=True)
    first.frame(0, link_state(node(1, ZID, links=(2,)), node(2, OTHER))).frame(1, push(f"mesh/{KEY}"))
    first.close(0).hang_up()
    second.close(0).hang_up()


KINDS: tuple[Callable[[CaptureBuilder], None], ...] = (
    over_udp, vanished, refused, websocket, discovery, strangers, members, stations, harmed, peers,
)  # fmt: skip
"""Of these every round has one, besides a whole session over TCP."""


class Template(NamedTuple):
    """A frame with marks: when it comes after the start of its round, and its bytes."""

    after_ns: int
    data: bytes


def template(*kinds: Callable[[CaptureBuilder], None]) -> list[Template]:
    """The frames of a round."""
    capture = CaptureBuilder()
    for kind in kinds:
        kind(capture)
    return [Template(frame.ts_ns - START_NS, frame.data) for frame in capture.frames]


class Lasting:
    """A session that goes on, in which everything that is declared and asked ends in time."""

    def __init__(self) -> None:
        self.capture = CaptureBuilder()
        parties = Parties(("10.9.9.9", ROUTER_HOST), (39_999, 7447))
        self.talk = Conversation(self.capture, (Node(b"\x0a\x0b", "client"), ROUTER), parties).open()

    def round(self, number: int) -> list[Frame]:
        """What it says in a round."""
        self.capture.now_ns = START_NS + number * ROUND_NS + SECOND
        ident, name, talk = number % 500 + 1, f"lasting/k{number:07d}", self.talk
        talk.frame(0, declare(d_keyexpr(1, name)), push(1), push(name), declare(u_keyexpr(1)))
        talk.frame(0, declare(entity("TOKEN", number, name)), declare(gone("TOKEN", number)))
        talk.frame(0, interest(ident, "Current", T=1, K=0, S=0, Q=0)).frame(1, final(ident))
        talk.frame(0, request(number, name, timeout=50_000)).keep_alive(1)  # something is always awaited
        if number % 5:
            talk.frame(1, response(number, name), response_final(number))
        frames, self.capture.frames = self.capture.frames, []
        return frames


def rounds(first: int, last: int, lasting: Lasting) -> Iterator[Frame]:
    """The frames of rounds, from one number up to another, in order of their times; their numbers are those of the
    rounds."""
    made = [template(whole_session, kind) for kind in KINDS]
    for number in range(first, last):
        marks = (
            (ZID, pack(">I", 0x0101_0101 + number)), (OTHER, pack(">I", 0x8101_0101 + number)),
            (inet_aton(HOST), pack(">I", 0x0A00_0000 + number)), (STATION, b"\x02\0" + pack(">I", number)),
            (KEY.encode(), f"k{number:07d}".encode()), (inet_aton("239.88.99.1"), pack(">I", 0xEF00_0000 + number)),
        )  # fmt: skip
        at_ns = START_NS + number * ROUND_NS
        frames = lasting.round(number)
        for after_ns, data in made[number % len(KINDS)]:
            for mark, new in marks:
                data = data.replace(mark, new)
            frames.append(Frame("lo", 0, at_ns + after_ns, 1, len(data), data))
        for frame in sorted(frames, key=lambda frame: frame.ts_ns):
            yield frame._replace(source="lo", number=number + 1)
