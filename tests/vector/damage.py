"""Traffic of several connections, and what may happen to single frames of it."""

from collections.abc import Callable
from functools import cache
from random import Random
from struct import pack_into, unpack_from

from tests.conversation import Conversation
from tests.messages import push, put
from tests.packets import CaptureBuilder, Parties
from zdissect.records import Frame

_IP, _TCP = 14, 34
_UDP_PAYLOAD = _TCP + 8


@cache
def traffic(seed: int, turns: int = 300, connections: int = 3, udp: int = 0) -> list[Frame]:
    """Connections whose batches come alone, together, and in pieces; side 1 seldom says anything.

    Args:
        seed: Of the choices.
        turns: How often something is said.
        connections: How many over TCP, and...
        udp: ... how many over UDP.
    """
    random = Random(seed)
    capture = CaptureBuilder()
    talks = [
        Conversation(capture, parties=Parties(ports=(40000 + n, 7447)), udp=n >= connections).open()
        for n in range(connections + udp)
    ]
    for _ in range(turns):
        talk, side = random.choice(talks), int(random.random() < 0.2)
        if random.random() < 0.2:
            talk.keep_alive(side) if talk.udp else talk.segment(side, b"")
            continue
        size = random.choice((10, 10, 10, 100, 3000, 9000))
        data = [talk.bytes(side, talk.framed(side, push("k", body=put(random.randbytes(size))))) for _ in range(3)]
        kind = random.random()
        if kind < 0.6:
            talk.raw(side, data[0])
        elif talk.udp:
            for one in data:
                talk.raw(side, one)
        elif kind < 0.8:
            talk.raw(side, b"".join(data), random.randint(1, 7))
        else:
            talk.raw(side, data[0], random.randint(2, 5))
    return capture.frames


def _number(offset: int, format: str, *changes: Callable[[int], int]) -> Callable[[Random, Frame], list[Frame]]:
    def changed(random: Random, frame: Frame) -> list[Frame]:
        data = bytearray(frame.data)
        pack_into(format, data, offset, random.choice(changes)(unpack_from(format, data, offset)[0]))
        return [frame._replace(data=bytes(data))]

    return changed


def _packet(change: Callable[[Random, bytes], list[bytes]]) -> Callable[[Random, Frame], list[Frame]]:
    def changed(random: Random, frame: Frame) -> list[Frame]:
        packets = change(random, frame.data[_IP:])
        return [frame._replace(data=frame.data[:_IP] + packet, wire_len=_IP + len(packet)) for packet in packets]

    return changed


def _in_fragments(random: Random, packet: bytes) -> list[bytes]:
    body, out = packet[20:], []
    at = 0
    while at < len(body):
        size = random.choice((24, 64, 8000)) if len(body) - at > 24 else 24
        more = at + size < len(body)
        head = bytearray(packet[:20])
        pack_into(">HHH", head, 2, 20 + len(body[at : at + size]), 77, more << 13 | at // 8)
        out.append(bytes(head) + body[at : at + size])
        at += size
    return out


def _in_gre(random: Random, packet: bytes) -> list[bytes]:
    head = bytearray(packet[:20])
    pack_into(">H", head, 2, 24 + len(packet))
    head[9] = 47
    return [bytes(head) + b"\0\0\x08\0" + packet]


def _with_options(random: Random, packet: bytes) -> list[bytes]:
    head = bytearray(packet[:20])
    pack_into(">BxH", head, 0, 0x46, 4 + len(packet))
    return [bytes(head) + b"\1\1\1\1" + packet[20:]]


DAMAGES: dict[str, Callable[[Random, Frame], list[Frame]]] = {
    "lost": lambda random, frame: [],
    "repeated": lambda random, frame: [frame, frame],
    "cut off": lambda random, frame: [frame._replace(data=frame.data[: -random.randint(1, 5)])],
    "earlier": lambda random, frame: [frame._replace(ts_ns=frame.ts_ns - random.choice((5 * 10**5, 10**7, 10**9)))],
    "much later": lambda random, frame: [frame._replace(ts_ns=frame.ts_ns + 4000 * 10**9)],
    "ack of the future": _number(_TCP + 8, ">I", lambda ack: ack + 1000 & 0xFFFFFFFF),
    "ack of the past": _number(_TCP + 8, ">I", lambda ack: ack - 500 & 0xFFFFFFFF),
    "ack of far away": _number(
        _TCP + 8,
        ">I",
        lambda ack: ack ^ 0x80000000,
        lambda ack: ack ^ 0x40000000,
        lambda ack: ack + 0x60000000 & 0xFFFFFFFF,
    ),
    "another place": _number(_TCP + 4, ">I", lambda seq: seq + 7 & 0xFFFFFFFF),
    "FIN": _number(_TCP + 13, "B", lambda flags: flags | 1),
    "SYN": _number(_TCP + 13, "B", lambda flags: flags | 2),
    "RST": _number(_TCP + 13, "B", lambda flags: flags | 4),
    "no ACK": _number(_TCP + 13, "B", lambda flags: flags & ~16),
    "urgent": _number(_TCP + 13, "B", lambda flags: flags | 0x28),
    "longer header": _number(_TCP + 12, "B", lambda size: 0x60),
    "bad header": _number(_TCP + 12, "B", lambda size: 0x40),
    "shorter packet": _number(_IP + 2, ">H", lambda total: max(total - 5, 20)),
    "packet without length": _number(_IP + 2, ">H", lambda total: 0),
    "longer packet": _number(_IP + 2, ">H", lambda total: total + 5),
    "length of UDP": _number(
        _TCP + 4, ">H", lambda size: 0, lambda size: size - 3 & 0xFFFF, lambda size: size + 3 & 0xFFFF
    ),
    "INIT": _number(_UDP_PAYLOAD, "B", lambda header: 1, lambda header: 0x21, lambda header: 2),
    "captured twice": lambda random, frame: [frame, *captured_twice([frame], 10**4)],
    "UDP": _number(_IP + 9, "B", lambda protocol: 17),
    "IP fragments": _packet(_in_fragments),
    "GRE": _packet(_in_gre),
    "IP options": _packet(_with_options),
    "padding": lambda random, frame: [frame._replace(data=frame.data + bytes(6), wire_len=frame.wire_len + 6)],
    "VLAN": lambda random, frame: [frame._replace(data=frame.data[:12] + b"\x81\0\0\x05" + frame.data[12:])],
    "two VLANs": lambda random, frame: [
        frame._replace(data=frame.data[:12] + b"\x88\xa8\0\5\x81\0\0\6" + frame.data[12:])
    ],
}


for _header in ("IP options", "IP fragments", "GRE"):
    DAMAGES[f"RST, {_header}"] = lambda random, frame, header=_header: [  # type: ignore[misc]
        packet for reset in DAMAGES["RST"](random, frame) for packet in DAMAGES[header](random, reset)
    ]


def damaged(random: Random, frames: list[Frame], kind: str, share: float) -> list[Frame]:
    """The frames, some of them damaged, and numbered anew."""
    out: list[Frame] = []
    for frame in frames:
        out += DAMAGES[kind](random, frame) if random.random() < share and len(frame.data) >= 54 else [frame]
    return [frame._replace(number=number) for number, frame in enumerate(out, 1)]


def disordered(random: Random, frames: list[Frame], share: float) -> list[Frame]:
    """The frames, some of them after one that came later."""
    out = list(frames)
    for at in range(1, len(out)):
        if random.random() < share:
            out[at - 1], out[at] = out[at], out[at - 1]
    return [frame._replace(number=number) for number, frame in enumerate(out, 1)]


def captured_twice(frames: list[Frame], apart_ns: int) -> list[Frame]:
    """The frames as they were recorded on another interface, somewhat later."""
    return [
        frame._replace(data=frame.data[:5] + b"\7" + frame.data[6:], ts_ns=frame.ts_ns + apart_ns) for frame in frames
    ]


def with_numbers(frames: list[Frame]) -> list[Frame]:
    """The frames with IP packets that their senders have numbered."""
    out = []
    for frame in frames:
        data = bytearray(frame.data)
        pack_into(">H", data, _IP + 4, frame.number & 0xFFFF)
        out.append(frame._replace(data=bytes(data)))
    return out


def shifted(frames: list[Frame], numbers: tuple[int, int]) -> list[Frame]:
    """The frames as if the sides had begun to count their bytes that much later."""
    out = []
    for frame in frames:
        data = bytearray(frame.data)
        side = int(data[_TCP : _TCP + 2] == (7447).to_bytes(2))
        seq, ack = unpack_from(">II", data, _TCP + 4)
        own, other = numbers[side], numbers[1 - side] if ack else 0
        pack_into(">II", data, _TCP + 4, seq + own & 0xFFFFFFFF, ack + other & 0xFFFFFFFF)
        out.append(frame._replace(data=bytes(data)))
    return out
