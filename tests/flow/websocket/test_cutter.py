"""WebSocket connections: streams made by wsproto's own sender, gaps in them, garbage, and a real capture."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.flow.websocket.streams import (
    FRAMING,
    HEADS,
    IP,
    REQUEST,
    RESPONSE,
    UPGRADE,
    batch,
    chunks,
    run,
    side,
    split,
)
from zdissect.capture.capture_file import open_capture
from zdissect.engine.interpreter import interpret
from zdissect.flow import detect_datagram
from zdissect.flow.framing import Framing
from zdissect.flow.link import Decoder
from zdissect.flow.stream_buffer import Batch, Skipped
from zdissect.flow.tcp import Streams
from zdissect.flow.websocket import WebSocketCutter
from zdissect.flow.websocket_frames import unmasked
from zdissect.grammar.batch import BATCH
from zdissect.records import Chunk, Segment


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
    batches = [item for item in run(made) if isinstance(item, Batch)]
    assert len(batches) == 2
    for found in batches:
        data, starts = found.buffer.data, [place.start for place in found.buffer.origin]
        assert starts == sorted(set(starts))
        assert starts[0] == 0
        for place, stop in zip(found.buffer.origin, [*starts[1:], len(data)], strict=True):
            assert frames[place.frame][place.offset :].startswith(data[place.start : stop])
            assert place.frame in found.frames


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


def test_unmasked() -> None:
    for size in range(10):
        data, key = bytes(range(size)), b"\x01\x80\xff\0"
        masked = bytearray(byte ^ key[at % 4] for at, byte in enumerate(data))
        assert unmasked(masked, key) == data
        assert unmasked(masked, b"") == masked


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
            assert detect_datagram.transport(one.buffer.data)
            tape = interpret(BATCH, one.buffer.data, **one.framing.inputs)
            counts.update(str(span[4]) for span in tape.spans if span[0].kind == "message" and span[1] == 1)
    wanted = json.loads(name.with_suffix(".json").read_text())["wire_counts"]["transport"]
    assert counts == wanted
