"""WebSocket connections: streams made by wsproto's own sender, holes in them, garbage, and a real capture."""

import json
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wsproto.frame_protocol import FrameProtocol

from tests.line_counts import executed_lines
from zdissect.capture.capture_file import open_capture
from zdissect.engine.interpreter import interpret
from zdissect.flow import detect
from zdissect.flow.framing import Framing
from zdissect.flow.link import Decoder
from zdissect.flow.stream_buffer import Batch, Skipped
from zdissect.flow.tcp import Streams
from zdissect.flow.upgrade import MOST_HEAD, is_upgrade
from zdissect.flow.websocket import WebSocketCutter
from zdissect.flow.wsframes import unmasked
from zdissect.grammar.batch import BATCH
from zdissect.records import Chunk, Frame, Gap, Segment

REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n\r\n"
RESPONSE = b"HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n"
HEADS = (REQUEST, RESPONSE)
UPGRADE = "HTTP upgrade to WebSocket"
FRAMING = Framing(0)
IP = 54
"""Bytes in front of the payload in the frames made here."""


@pytest.fixture(autouse=True)
def same_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sender masks with the same numbers in each run: some in a million look like the head of a message."""
    monkeypatch.setattr("wsproto.frame_protocol.os", SimpleNamespace(urandom=Random(1).randbytes))


# FRAME sn 0 and PUSH "k/a" with PUT of so many bytes.
def batch(size: int = 4) -> bytes:
    vle = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return bytes.fromhex("25007d00036b2f6101") + vle + b"z" * size


def chunks(data: bytes, sizes: Iterable[int], direction: int = 0, start: int = 0) -> list[Chunk]:
    """The stream in pieces of these sizes, then the rest; each in a frame of its own."""
    made, at = [], 0
    for number, size in enumerate([*sizes, len(data)], 1):
        piece = data[at : at + size]
        if piece:
            frame = Frame("test", number, number, 1, IP + len(piece), bytes(IP) + piece)
            made.append(Chunk(0, direction, start + at, piece, frame, IP))
        at += len(piece)
    return made


def run(items: Iterable[Chunk | Gap], cutter: WebSocketCutter | None = None) -> list[Batch | Skipped]:
    cutter = cutter or WebSocketCutter(FRAMING)
    out = [one for item in items for one in cutter.feed(item)] + list(cutter.close())
    assert not cutter.have
    return out


def split(found: list[Batch | Skipped]) -> tuple[list[bytes], list[tuple[int, int, str]]]:
    batches = [one.buffer.data for one in found if isinstance(one, Batch)]
    return batches, [(one.offset, one.size, one.reason) for one in found if isinstance(one, Skipped)]


def gap(start: int, stop: int, reason: str = "lost") -> Gap:
    return Gap(0, 0, start, stop - start, Frame("test", 999, 999, 1, 0, b""), reason)


def side(direction: int) -> FrameProtocol:
    return FrameProtocol(client=direction == 0, extensions=[])


@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65535, 65536, 70000])
def test_lengths(direction: int, size: int) -> None:
    payload = bytes(n % 251 for n in range(size))
    sender = side(direction)
    stream = HEADS[direction] + bytes(sender.send_data(payload)) + bytes(sender.send_data(b"x"))
    found = run(chunks(stream, [len(HEADS[direction])] + [1460] * 50, direction))
    assert split(found) == ([payload, b"x"], [(0, len(HEADS[direction]), UPGRADE)])
    assert {one.buffer.name for one in found if isinstance(one, Batch)} == {"ws"}


@pytest.mark.parametrize("direction", [0, 1])
def test_split_at_every_byte(direction: int) -> None:
    sender = side(direction)
    stream = HEADS[direction] + bytes(sender.send_data(batch()) + sender.ping(b"p") + sender.send_data(batch(200)))
    wanted = split(run(chunks(stream, [], direction)))
    assert wanted[0] == [batch(), batch(200)]
    for at in range(len(stream)):
        assert split(run(chunks(stream, [at], direction))) == wanted
    assert split(run(chunks(stream, [1] * len(stream), direction))) == wanted


def test_fragments_with_controls_between() -> None:
    sender = side(0)
    parts: list[bytes | bytearray] = [
        sender.send_data(b"abc", fin=False), sender.ping(b"?"), sender.send_data(b"", fin=False), sender.pong(),
        sender.send_data(b"defg", fin=True), sender.send_data("text", fin=False), sender.ping(),
        sender.send_data(" more"), sender.send_data(b"h"), sender.close(1000, "bye"), b"rest",
    ]  # fmt: skip
    places = [len(REQUEST)]
    for part in parts:
        places.append(places[-1] + len(part))
    found = run(chunks(REQUEST + b"".join(parts), [len(REQUEST), *map(len, parts)]))
    reasons = {
        1: "ping",
        3: "pong",
        5: "text message: not Zenoh, whose messages are binary",
        6: "ping",
        7: "text message: not Zenoh, whose messages are binary",
        9: "close 1000",
    }
    skipped = [(places[n], len(parts[n]), f"WebSocket {reason}") for n, reason in reasons.items()]
    last = (places[10], 4, "bytes after the WebSocket close")
    assert split(found) == ([b"abcdefg", b"h"], [(0, len(REQUEST), UPGRADE), *skipped, last])
    first = next(one for one in found if isinstance(one, Batch))
    assert first.frames == (2, 4, 6)
    assert first.frame.number == 6
    assert [(one.start, one.frame, one.offset) for one in first.buffer.origin] == [(0, 2, IP + 6), (3, 6, IP + 6)]
    assert (
        b"".join(one.data for one in found if isinstance(one, Skipped) and one.reason.endswith("close 1000"))
        == parts[9]
    )


@pytest.mark.parametrize("sizes", [[], [1] * 600, [len(RESPONSE) + 3, 100, 20], [7] * 80])
def test_origin_of_unmasked_bytes(sizes: list[int]) -> None:
    sender = side(1)
    stream = RESPONSE + bytes(
        sender.send_data(batch(), fin=False) + sender.send_data(batch(200)) + sender.send_data(b"!")
    )
    made = chunks(stream, sizes, 1)
    frames = {one.frame.number: one.frame.data for one in made}
    for one in run(made):
        if isinstance(one, Batch):
            data, starts = one.buffer.data, [place.start for place in one.buffer.origin]
            assert starts == sorted(set(starts))
            assert starts[0] == 0
            for place, stop in zip(one.buffer.origin, [*starts[1:], len(data)], strict=True):
                assert frames[place.frame][place.offset :].startswith(data[place.start : stop])
                assert place.frame in one.frames


def test_out_of_an_ip_fragment_there_is_no_offset() -> None:
    (made,) = chunks(RESPONSE + bytes(side(1).send_data(b"abc")), [], 1)
    found = run([made._replace(frame_offset=-1)])
    assert [place.offset for one in found if isinstance(one, Batch) for place in one.buffer.origin] == [-1]


def test_the_frame_that_completes_is_the_latest() -> None:
    first, second = chunks(RESPONSE + bytes(side(1).send_data(b"abcd")), [len(RESPONSE) + 3], 1)
    late = first._replace(frame=first.frame._replace(ts_ns=100, number=9))
    (found,) = (one for one in run([late, second]) if isinstance(one, Batch))
    assert found.frame is late.frame
    assert found.frames == (9, 2)


def test_framing_may_change_between_two_messages() -> None:
    sender = side(0)
    stream = REQUEST + bytes(sender.send_data(b"a") + sender.send_data(b"b"))
    cutter = WebSocketCutter(FRAMING)
    seen = []
    for one in cutter.feed(chunks(stream, [])[0]):
        if isinstance(one, Batch):
            seen.append(one.framing)
            cutter.framing = Framing(2, compression=True)
    assert seen == [Framing(0), Framing(0, compression=True)]


payloads = st.one_of(st.binary(max_size=300), st.integers(120, 130).map(bytes))
steps = st.lists(st.tuples(st.sampled_from(["data", "data", "more", "ping", "text"]), payloads), max_size=12)


@given(st.integers(0, 1), steps, st.lists(st.integers(1, 60), max_size=60))
def test_any_split_gives_the_same(direction: int, todo: list[tuple[str, bytes]], sizes: list[int]) -> None:
    sender = side(direction)
    stream, wanted, held = bytearray(HEADS[direction]), [], b""
    for what, payload in todo:
        if what == "ping":
            stream += sender.ping(payload[:125])
        elif what == "text":
            stream += sender.send_data(payload.hex()) if not held else b""
        else:
            stream += sender.send_data(payload or b"-", fin=what == "data")
            held += payload or b"-"
            if what == "data":
                wanted.append(held)
                held = b""
    found = run(chunks(bytes(stream), sizes, direction))
    assert split(found) == split(run(chunks(bytes(stream), [], direction)))
    assert [one.buffer.data for one in found if isinstance(one, Batch) and not one.missing] == wanted
    assert [one.buffer.data for one in found if isinstance(one, Batch) and one.missing] == ([held] if held else [])


@given(st.integers(0, 2), st.binary(max_size=600), st.lists(st.integers(1, 60), max_size=20), st.integers(0, 20))
def test_garbage_never_raises_and_is_all_accounted_for(head: int, data: bytes, sizes: list[int], hole: int) -> None:
    start = [*HEADS, b""][head]
    whole = chunks(start + data, sizes)
    holed: list[Chunk | Gap] = [
        one if n != hole else gap(one.offset, one.offset + len(one.data)) for n, one in enumerate(whole)
    ]
    for items in (whole, holed):
        found = run(items)
        assert all(one.size == len(one.data) for one in found if isinstance(one, Skipped) and one.data)
        places = [(one.offset, one.offset + one.size) for one in found if isinstance(one, Skipped)]
        assert all(a[1] <= b[0] for a, b in pairwise(places))


@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize("hole", [(3, 40), (3, 250), (-20, 10), (30, 300), (0, 236)])
def test_a_hole(direction: int, hole: tuple[int, int]) -> None:
    """Bytes go missing: within a message of known length only that one is lost; else up to the next that chains."""
    sender = side(direction)
    messages = [bytes(sender.send_data(batch(200 + n))) for n in range(9)]
    stream = HEADS[direction] + b"".join(messages)
    start, stop = (len(HEADS[direction]) + len(messages[0]) + at for at in hole)
    before = chunks(stream[:start], [100] * 3, direction)
    after = chunks(stream[stop:], [100] * 99, direction, stop)
    found = run([*before, gap(start, stop), *after])
    whole = [one.buffer.data for one in found if isinstance(one, Batch) and not one.missing]
    assert whole[-6:] == [batch(200 + n) for n in range(3, 9)]
    broken = [one for one in found if isinstance(one, Batch) and one.missing]
    assert [one.missing for one in broken] == (["lost"] if hole[0] in (-20, 30) else [])
    assert (start, stop - start, "not in the capture") in split(found)[1]
    total = sum(one.size if isinstance(one, Skipped) else len(one.buffer.data) for one in found)
    headers = len(stream) - total
    assert 0 <= headers <= 9 * 8


def test_snap_length_loses_no_message_heads() -> None:
    """Each segment cut after 40 bytes: every message is there up to its cut."""
    sender = side(1)
    stream, items = RESPONSE, list[Chunk | Gap](chunks(RESPONSE, [], 1))
    for number in range(5):
        message = bytes(sender.send_data(batch(100 + number)))
        items += [*chunks(message[:40], [], 1, len(stream)), gap(len(stream) + 40, len(stream) + len(message), "cut")]
        stream += message
    found = [one for one in run(items) if isinstance(one, Batch)]
    assert [one.missing for one in found] == ["cut"] * 5
    assert all(one.buffer.data == batch(100 + n)[:38] for n, one in enumerate(found))


@pytest.mark.parametrize("direction", [0, 1])
def test_a_capture_that_starts_in_the_middle(direction: int) -> None:
    sender = side(direction)
    stream = b"".join(bytes(sender.send_data(batch(n))) for n in range(20, 30))
    cutter = WebSocketCutter(FRAMING)
    cutter.lost = "the capture starts in the middle"
    found = run(chunks(stream[11:], [50] * 20, direction), cutter)
    assert split(found)[0] == [batch(n) for n in range(21, 30)]
    size = len(bytes(side(direction).send_data(batch(20)))) - 11
    assert split(found)[1] == [(0, size, "the capture starts in the middle")]
    assert split(run(chunks(stream[11:], [50] * 20, direction)))[0] == [batch(n) for n in range(21, 30)]


REFUSED = [
    ("HTTP/1.1 400 Bad\r\n\r\nno", "HTTP, but no upgrade"),
    ("GET / HTTP/1.1\r\nHost: b\r\n\r\n", "HTTP, but no upgrade"),
    ("GET / HTTP/1.1\r\nHost: b\r\n", "the stream ends within an HTTP head"),
    ("GET /" + "a" * MOST_HEAD, "an HTTP head of more than"), ("\x16\x03\x01\x02", "the upgrade to WebSocket isn't in"),
]  # fmt: skip


@pytest.mark.parametrize(("head", "reason"), REFUSED)
@pytest.mark.parametrize("sizes", [[], [1] * 40, [1460] * 60])
def test_no_upgrade(head: str, reason: str, sizes: list[int]) -> None:
    found = run(chunks(head.encode("latin-1"), sizes))
    ((offset, size, why),) = split(found)[1]
    assert (offset, size) == (0, len(head))
    assert why.startswith(reason)


FAULTS = [
    ("c2 01 61", "Reserved bit set"), ("83 00", "Invalid opcode"), ("82 81 01020304 00", "masked frame"),
    ("82 7e 0001 61", "1 would have sufficed"), ("09 00", "fragment control"), ("89 7e 0080", "payload len > 125"),
    ("82 7f 0000000001000001", "more than 16777216 bytes"), ("02 01 61 82 01 62", "starts before"),
    ("01 01 61 82 01 62", "starts before"),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "why"), FAULTS)
def test_a_fault_ends_it(fault: str, why: str) -> None:
    stream = RESPONSE + bytes(side(1).send_data(batch())) + bytes.fromhex(fault) + bytes(300)
    found = run(chunks(stream, [100] * 3, 1))
    assert split(found)[0][0] == batch()
    assert why in split(found)[1][-1][2]
    assert split(found)[1][-1][0] + split(found)[1][-1][1] == len(stream)


def test_an_extension_is_told_of() -> None:
    head = RESPONSE[:-2] + b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
    assert split(run(chunks(head, [], 1)))[1][0][2].endswith("aren't read: permessage-deflate")


def test_a_continuation_without_a_start() -> None:
    stream = RESPONSE + bytes.fromhex("80 01 61") + bytes(side(1).send_data(b"b"))
    batches, skipped = split(run(chunks(stream, [], 1)))
    assert batches == [b"b"]
    assert skipped[1] == (len(RESPONSE), 3, "WebSocket continuation frame without the start of its message")


def test_is_upgrade() -> None:
    for head in HEADS:
        assert is_upgrade(head + b"more")
        assert [is_upgrade(head[:n]) for n in range(len(head))] == [None] * len(head)
    assert is_upgrade(b"POST / HTTP/1.1\r\n") is False
    assert is_upgrade(RESPONSE.replace(b"101", b"404")) is False
    assert is_upgrade(REQUEST.replace(b"WebSocket\r", b"h2c\r")) is False
    assert is_upgrade(REQUEST.replace(b"WebSocket\r", b"h2c, websocket\r")) is True
    assert is_upgrade(b"GET /" + b"a" * MOST_HEAD) is False
    assert is_upgrade(REQUEST.replace(b"Host: a\r\n", b"")) is True
    assert is_upgrade(REQUEST.replace(b"Host: a", b"Host; a")) is True  # what else is damaged doesn't matter
    assert is_upgrade(REQUEST.replace(b": WebSocket", b": h2c\r\nupgrade: websocket")) is True


@given(st.sampled_from(HEADS), st.integers(0, 130), st.integers(0, 9), st.binary(max_size=9))
def test_any_bytes_are_an_upgrade_or_none(head: bytes, at: int, size: int, change: bytes) -> None:
    assert is_upgrade(head[:at] + change + head[at + size :]) in (True, False, None)


def test_unmasked() -> None:
    for size in range(10):
        data, key = bytes(range(size)), b"\x01\x80\xff\0"
        masked = bytearray(byte ^ key[at % 4] for at, byte in enumerate(data))
        assert unmasked(masked, key) == data
        assert unmasked(masked, b"") == masked


@pytest.mark.parametrize(
    "fill", [b"\x82\xfe\xff\xff", b"\x82\x7e\xff\xff\x25\x00", b"\x82", b"\x8a\x00", b"\x82\x7e\x01\x00\x26\x00"]
)
@pytest.mark.parametrize("size", [7, 1460])
def test_linear_work_where_the_place_is_lost(fill: bytes, size: int) -> None:
    def work(length: int) -> int:
        cutter = WebSocketCutter(FRAMING)
        cutter.lost = "lost"
        data = (fill * length)[:length]
        return executed_lines(lambda: run(chunks(data, [size] * (length // size)), cutter))

    once, twice = work(8_000), work(16_000)
    assert twice <= 2.5 * once + 2000


def test_large_messages_in_small_segments() -> None:
    payload = bytes(4 << 20)
    stream = REQUEST + bytes(side(0).send_data(payload))
    assert split(run(chunks(stream, [1460] * 3000)))[0] == [payload]


def test_a_real_capture(captures: Path) -> None:
    name = captures / "11-websocket.pcap"
    decoder, streams, cutters = Decoder(), Streams(), (WebSocketCutter(FRAMING), WebSocketCutter(FRAMING))
    items = []
    with open_capture(str(name)) as capture:
        for frame in capture:
            segment = decoder.feed(frame)
            items += streams.feed(segment) if isinstance(segment, Segment) else []
    found = [one for item in items if isinstance(item, Chunk) for one in cutters[item.direction].feed(item)]
    found += [one for cutter in cutters for one in cutter.close()]
    assert Counter(one.reason for one in found if isinstance(one, Skipped)) == {UPGRADE: 2, "WebSocket close": 2}
    counts: Counter[str] = Counter()
    for one in found:
        if isinstance(one, Batch):
            assert detect.transport(one.buffer.data)
            tape = interpret(BATCH, one.buffer.data, **one.framing.inputs)
            counts.update(str(span[4]) for span in tape.spans if span[0].kind == "message" and span[1] == 1)
    wanted = json.loads(name.with_suffix(".json").read_text())["wire_counts"]["transport"]
    assert counts == wanted
