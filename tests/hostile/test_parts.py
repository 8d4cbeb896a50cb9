"""What one frame brings, or some frames that are read together, is never held as a whole if it takes much memory."""

from collections import deque
from collections.abc import Iterable
from struct import pack

import lz4.block
import pytest

from tests.conversation import Conversation
from tests.hostile.work import TWICE, growth, peak
from tests.messages import push
from tests.packets import Parties
from zdissect.dissection import PART_BYTES
from zdissect.fed import in_parts
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.vector import dissections, frame_blocks

MOST = 4 * PART_BYTES
"""What may be held of such traffic: what is counted, and what isn't yet."""


def shown(frames: Iterable[Frame]) -> None:
    deque(in_parts(Pipeline(Options()), frames, None), 0)


def jumbo(count: int) -> list[Frame]:
    """A record of a capture on the machine itself: its length doesn't fit IPv4, which says 0."""
    conversation = Conversation().open()
    conversation.segment(0, b"")
    *before, frame = conversation.capture.frames
    data = frame.data[:16] + b"\0\0" + frame.data[18:] + b"\x01\x00\x04" * count
    return [*before, frame._replace(data=data, wire_len=len(data))]


def compressed(count: int) -> list[Frame]:
    """Usual messages, and batches of 300 bytes each that hold five thousand messages."""
    usual = Conversation().open()
    other = Conversation(usual.capture, parties=Parties(ports=(40001, 7447))).open(compression=True)
    bomb = b"\x01" + lz4.block.compress(b"\x04" * 5_000, store_size=False)
    for number in range(count):
        usual.frame(0, push(0, "a/b"))
        if number % 5 == 4:
            other.raw(0, pack("<H", len(bomb)) + bomb)
    return usual.capture.frames


def test_a_record_of_any_size_is_dissected_in_parts() -> None:
    frames = jumbo(15_000)
    *_, (_, items) = in_parts_of(frames[-1], frames[:-1])
    assert len(items) < 15_000
    assert sum(len(items) for _, items in in_parts_of(frames[-1], frames[:-1])) == 15_000
    shown(jumbo(100))
    assert peak(lambda: shown(frames)) < MOST


def in_parts_of(frame: Frame, before: list[Frame]) -> list[tuple[object, list[object]]]:
    pipeline = Pipeline(Options())
    for one in before:
        pipeline.feed(one)
    return [(rank, [*items]) for rank, items in pipeline.ranked(frame)]


def test_work_for_a_record_is_linear() -> None:
    assert growth(lambda size: shown(jumbo(size)), 1000) < TWICE


@pytest.mark.parametrize("size", [1 << 30, 50])
def test_frames_read_together_are_given_when_they_bring_much(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As without blocks: one batch is held, and its messages take five megabytes."""
    monkeypatch.setattr("zdissect.fed.WORTH_FRAMES", size)
    monkeypatch.setattr(frame_blocks, "LEAST_FRAMES", 50)
    monkeypatch.setattr(dissections, "MOST_HELD", PART_BYTES)
    frames = compressed(150)
    shown(frames[:20])
    assert peak(lambda: shown(frames)) < 2 * MOST
