"""Traffic of somebody who floods, one kind each: as many frames as wished, made as they are taken."""

from collections.abc import Callable, Iterable, Iterator

from tests.conversation import SYN, Conversation, Node
from tests.messages import d_keyexpr, declare, entity, gone, interest, push, request, response
from tests.packets import MS, CaptureBuilder, Parties, tcp_packet, udp_packet
from zdissect.records import Frame

Flood = Callable[[int], Iterator[Frame]]
ROUND = 32
"""So many messages in a batch."""


class Taken(CaptureBuilder):
    """A capture whose frames are taken as they are made."""

    def take(self) -> list[Frame]:
        """Those made since the last call. Numbers go on."""
        out, self.frames = self.frames, []
        return out

    def record(self, packet: bytes) -> None:
        super().record(packet)
        self.made = getattr(self, "made", 0) + 1
        self.frames[-1] = self.frames[-1]._replace(number=self.made)


def _session(**values: object) -> tuple[Taken, Conversation]:
    capture = Taken()
    return capture, Conversation(capture, **values).open()  # type: ignore[arg-type]


def _messages(count: int, make: Callable[[int], dict[str, object]], side: int = 0) -> Iterator[Frame]:
    """One session, in which a side sends messages."""
    capture, conversation = _session()
    for first in range(0, count, ROUND):
        conversation.frame(side, *(make(number) for number in range(first, min(first + ROUND, count))))
        yield from capture.take()


def declared_keys(count: int) -> Iterator[Frame]:
    return _messages(count, lambda number: declare(d_keyexpr(number % 65535 + 1, f"{number}/" + "k" * 400)))


def chained_keys(count: int) -> Iterator[Frame]:
    return _messages(count, lambda number: declare(d_keyexpr(number % 65535 + 1, number % 65535, "/a" * (number > 0))))


def long_keys(count: int) -> Iterator[Frame]:
    capture, conversation = _session()
    conversation.frame(0, declare(d_keyexpr(1, "k" * 30_000)))
    for number in range(count):
        conversation.frame(0, push(1, f"/{number}"))
        yield from capture.take()


def subscribers(count: int) -> Iterator[Frame]:
    return _messages(count, lambda number: declare(entity("SUBSCRIBER", number, f"{number}/" + "k" * 200)))


def undeclarations(count: int) -> Iterator[Frame]:
    """Many live entities, and as many that come and go."""

    def make(number: int) -> dict[str, object]:
        if number % 3 == 0:
            return declare(entity("SUBSCRIBER", number, "live"))
        return declare(entity("SUBSCRIBER", number, "x") if number % 3 == 1 else gone("SUBSCRIBER", number - 1))

    return _messages(count, make)


def freed_keys(count: int) -> Iterator[Frame]:
    """U_KEYEXPR among many live entities."""

    def make(number: int) -> dict[str, object]:
        if number % 2:
            return declare({"message": "U_KEYEXPR", "expr_id": number % 65535})
        return declare(entity("TOKEN", number, f"t/{number}"))

    return _messages(count, make)


def interests(count: int) -> Iterator[Frame]:
    return _messages(count, lambda number: interest(number))


def requests(count: int) -> Iterator[Frame]:
    return _messages(count, lambda number: request(number, "q/" + "k" * 200, timeout=3_600_000))


def matched_keys(count: int) -> Iterator[Frame]:
    """Answers to one request, with keys that take long to compare."""
    capture, conversation = _session()
    conversation.frame(0, request(1, "/".join(["a$*"] * 300)), declare(d_keyexpr(1, "/".join(["ab"] * 300))))
    for number in range(0, count, ROUND):
        conversation.frame(1, *(response(1, 1, f"/{number}", mapping=0) for _ in range(ROUND)))
        yield from capture.take()


def fragments(count: int) -> Iterator[Frame]:
    """Messages of all channels and priorities that never end, on two sessions."""
    capture = Taken()
    nodes = Node(b"\x01\xaa", "peer"), Node(b"\x02\xbb", "peer")
    both = [
        Conversation(capture, nodes, Parties(ports=(40000, 7447))).open(patch=1),
        Conversation(capture, (Node(b"\x03\xcc", "peer"), nodes[1]), Parties(ports=(40001, 7447))).open(patch=1),
    ]
    for number in range(count):
        conversation, place = both[number & 1], number >> 1
        conversation.fragment(0, b"f" * 1000, first=place < 16, reliable=bool(place & 8), priority=place & 7)
        yield from capture.take()


def joins(count: int) -> Iterator[Frame]:
    """One station that states other terms each time, and many that do so once."""
    capture = Taken()
    for number in range(count):
        size = (number % 60_000 + 1).to_bytes(2, "little")
        zid = number.to_bytes(3, "little")
        join = b"\x47\x09\x21" + zid + b"\x0a" + size + b"\x0a" + b"\x01\x01"
        host = "10.0.0.9" if number & 1 else f"10.1.{number >> 9 & 255}.{number >> 1 & 255}"
        parties = Parties((host, "224.0.0.224"), (7446 + number // 131_072, 7446))
        capture.record(udp_packet(parties, 0, join))
        yield from capture.take()


def udp_flows(count: int) -> Iterator[Frame]:
    capture = Taken()
    for number in range(count):
        hosts = f"10.2.{number >> 16 & 255}.{number >> 8 & 255}", "10.0.0.2"
        capture.record(udp_packet(Parties(hosts, (1024 + (number & 255), 9000)), 0, b"\x1f" + bytes(40)))
        yield from capture.take()


def scouts(count: int) -> Iterator[Frame]:
    capture = Taken()
    for number in range(count):
        hosts = f"10.3.{number >> 16 & 255}.{number >> 8 & 255}", "224.0.0.224"
        capture.record(udp_packet(Parties(hosts, (1024 + (number & 255), 7446)), 0, b"\x01\x09\x07"))
        yield from capture.take()


def syns(count: int) -> Iterator[Frame]:
    capture = Taken()
    for number in range(count):
        hosts = f"10.4.{number >> 16 & 255}.{number >> 8 & 255}", "10.0.0.2"
        capture.record(tcp_packet(Parties(hosts, (1024 + (number & 255), 7447)), 0, b"", SYN, -1, 0))
        yield from capture.take()


def waiting_connections(count: int) -> Iterator[Frame]:
    """Each lacks its first bytes, which nobody has acknowledged."""
    capture = Taken()
    for number in range(count):
        parties = Parties((f"10.5.{number >> 16 & 255}.{number >> 8 & 255}", "10.0.0.2"), (1024 + (number & 255), 7447))
        capture.now_ns -= MS  # no time passes
        capture.record(tcp_packet(parties, 0, b"", SYN, -1, 0))
        capture.now_ns -= MS
        capture.record(tcp_packet(parties, 0, bytes(1000), 16, 50, 0))
        yield from capture.take()


def lost_streams(count: int) -> Iterator[Frame]:
    """Streams of which the capture holds neither the beginning nor anything that could be read."""
    capture = Taken()
    lost = bytes(range(1, 251))
    for number in range(count):
        parties = Parties(("10.0.0.1", "10.0.0.2"), (1024 + number % 200, 7447))
        capture.record(tcp_packet(parties, 0, lost, 16, len(lost) * (number // 200), 0))
        yield from capture.take()


def holed_streams(count: int) -> Iterator[Frame]:
    """Streams on another port, each frame cut off: they aren't decided at their first hole."""
    capture = Taken()
    for number in range(count):
        parties = Parties(("10.0.0.1", "10.0.0.2"), (1024 + number % 20, 9000))
        packet = tcp_packet(parties, 0, b"\x0f" + bytes(999), 16, 1000 * (number // 20), 0)
        capture.record(packet)
        frame = capture.frames[-1]
        capture.frames[-1] = frame._replace(data=packet[:200])
        yield from capture.take()


def tiny_segments(count: int) -> Iterator[Frame]:
    capture = Taken()
    parties = Parties(("10.0.0.1", "10.0.0.2"), (1024, 9000))
    for number in range(count):
        capture.record(tcp_packet(parties, 0, b"\x25", 16, number, 0))
        yield from capture.take()


def websocket_fragments(count: int) -> Iterator[Frame]:
    """A message in ever more pieces, and Pings that say nothing about what it is."""
    capture = Taken()
    parties = Parties(("10.0.0.1", "10.0.0.2"), (1024, 9001))
    head = b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n"
    pieces: Iterable[bytes] = (
        b"\x89\x80abcd" if number & 1 else (b"\x02" if not number else b"\x00") + b"\x82abcdXY"
        for number in range(count)
    )
    at = 0
    for piece in (head, *pieces):
        capture.record(tcp_packet(parties, 0, piece, 16, at, 0))
        at += len(piece)
        yield from capture.take()


def low_latency_batch(count: int) -> Iterator[Frame]:
    """A batch that claims to have 4 GB."""
    capture, conversation = _session()
    conversation = Conversation(capture, parties=Parties(ports=(40007, 7447))).open(low_latency=True)
    conversation.raw(0, b"\xff\xff\xff\xff\x3d\x00\x01k")
    for _ in range(count):
        conversation.raw(0, bytes(1400))
        yield from capture.take()


FLOODS: dict[str, Flood] = {
    flood.__name__: flood
    for flood in (
        declared_keys, chained_keys, long_keys, subscribers, undeclarations, freed_keys, interests, requests,
        matched_keys, fragments, joins, udp_flows, scouts, syns, waiting_connections, lost_streams, holed_streams,
        tiny_segments, websocket_fragments, low_latency_batch,
    )
}  # fmt: skip
