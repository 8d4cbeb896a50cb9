"""WebSocket streams with faults: gaps, cut segments, garbage, and what breaks the protocol."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.flow.websocket.streams import FRAMING, HEADS, RESPONSE, batch, chunks, gap, run, side, split
from tests.line_counts import executed_lines
from zdissect.flow.stream_buffer import Batch, Skipped
from zdissect.flow.websocket import WebSocketCutter
from zdissect.records import Chunk, Gap


@given(st.integers(0, 2), st.binary(max_size=600), st.lists(st.integers(1, 60), max_size=20), st.integers(0, 20))
def test_garbage_never_raises_and_is_all_accounted_for(head: int, data: bytes, sizes: list[int], missing: int) -> None:
    start = [*HEADS, b""][head]
    whole = chunks(start + data, sizes)
    holed: list[Chunk | Gap] = [
        one if n != missing else gap(one.offset, one.offset + len(one.data)) for n, one in enumerate(whole)
    ]
    for items in (whole, holed):
        found = run(items)
        assert all(one.size == len(one.data) for one in found if isinstance(one, Skipped) and one.data)
        places = [(one.offset, one.offset + one.size) for one in found if isinstance(one, Skipped)]
        assert all(a[1] <= b[0] for a, b in pairwise(places))
        batches = [one.buffer.data for one in found if isinstance(one, Batch)]
        left = len(start + data) - sum(stop - begin for begin, stop in places) - sum(map(len, batches))
        assert left == 0 if not batches else left > 0, "only the heads of messages are neither skipped nor in a batch"


@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize("missing", [(3, 40), (3, 250), (-20, 10), (30, 300), (0, 236)])
def test_a_gap(direction: int, missing: tuple[int, int]) -> None:
    """Bytes go missing: within a message of known length only that one is lost; else up to the next that chains."""
    sender = side(direction)
    messages = [bytes(sender.send_data(batch(200 + n))) for n in range(9)]
    stream = HEADS[direction] + b"".join(messages)
    start, stop = (len(HEADS[direction]) + len(messages[0]) + at for at in missing)
    before = chunks(stream[:start], [100] * 3, direction)
    after = chunks(stream[stop:], [100] * 99, direction, stop)
    found = run([*before, gap(start, stop), *after])
    whole = [one.buffer.data for one in found if isinstance(one, Batch) and not one.missing]
    assert whole[-6:] == [batch(200 + n) for n in range(3, 9)]
    broken = [one for one in found if isinstance(one, Batch) and one.missing]
    assert [one.missing for one in broken] == (["lost"] if missing[0] in (-20, 30) else [])
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


DAMAGES = {
    "a bad header": (0, b"\x83"), "a bad batch": (-12, b"\xff" * 12), "another mask": (1, b""),
    "a message too short": (-1, None),
}  # fmt: skip


@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize("pieces", [[], [50] * 30, [1] * 2000], ids=["together", "pieces", "bytes"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_message_before_a_damaged_one_is_found(direction: int, pieces: list[int], damage: str) -> None:
    """The place is lost; of what follows, all is found that isn't damaged itself."""
    sender = side(direction)
    messages = [bytes(sender.send_data(batch(40 + n))) for n in range(8)]
    at, by = DAMAGES[damage]
    hit = bytearray(messages[3])
    if by is None:
        del hit[at:]
    elif by:
        hit[at : len(hit) + at + len(by) if at < 0 else at + len(by)] = by
    else:
        hit[at] ^= 128
    cutter = WebSocketCutter(FRAMING)
    cutter.lost = "lost"
    stream = messages[1][20:] + messages[2] + bytes(hit) + b"".join(messages[4:])
    found = [one.buffer.data for one in run(chunks(stream, pieces, direction), cutter) if isinstance(one, Batch)]
    good = [batch(40 + n) for n in range(2, 8) if n != 3 and (by is not None or n != 4)]  # a header too long takes more
    assert [data for data in found if data in good] == good


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


def test_a_continuation_without_a_start() -> None:
    stream = RESPONSE + bytes.fromhex("80 01 61") + bytes(side(1).send_data(b"b"))
    batches, skipped = split(run(chunks(stream, [], 1)))
    assert batches == [b"b"]
    assert skipped[1] == (len(RESPONSE), 3, "WebSocket continuation frame without the start of its message")


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
