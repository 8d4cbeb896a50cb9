"""A first look at a capture in blocks finds what it finds frame by frame."""

from collections.abc import Iterable
from random import Random

import pytest

from tests.conversation import CLIENT, OTHER_PEER, PEER, ROUTER, Conversation
from tests.export.partitions import damaged, looked_at, merged
from tests.export.tables import OLD_TIMES, SAMPLES
from tests.export.tables import frames as frames_of
from tests.in_blocks import small_blocks
from tests.packets import SECOND, Parties
from tests.random_traffic import random_conversation
from zdissect.parallel.first_look import FirstLook
from zdissect.parallel.look_blocks import LookedBlock, look_at
from zdissect.pipeline import Options
from zdissect.records import Frame

Found = tuple[object, ...]


def found(look: FirstLook) -> Found:
    """All that it has found out."""
    known = look.streams._halves.items()
    halves = {ends: (half.seq, half.offset, half.ack, half.last_ns, half.quick) for ends, half in known}
    state = look.places, look.last, look.latest_ns, look.pipeline.clock.last_ns
    return *state, halves, look.split(3).json()


def one_by_one(frames: Iterable[Frame]) -> Found:
    look = FirstLook(Options())
    for frame in frames:
        look.feed(frame)
    return found(look)


def in_blocks(frames: list[Frame], size: int) -> Found:
    with small_blocks(size):
        return found(look_at(frames, Options()))


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many frames were taken at once, of each block."""
    out, feed = list[int](), LookedBlock.feed

    def counting(block: LookedBlock) -> int:
        out.append(int(block.plain.sum()))
        return feed(block)

    monkeypatch.setattr(LookedBlock, "feed", counting)
    return out


def several(seed: int) -> list[Frame]:
    """Sessions that take turns, whose segments are lost, repeated or late where the seed is odd."""
    random = Random(seed)
    nodes = (CLIENT, ROUTER), (PEER, OTHER_PEER), (CLIENT, PEER)
    made = [Conversation(nodes=ends, parties=Parties(ports=(40001 + at, 7447))) for at, ends in enumerate(nodes)]
    some = merged([random_conversation(random.randrange(100), 80, one).capture.frames for one in made], random)
    return damaged(some, random) if seed % 2 else some


@pytest.mark.parametrize("size", [1, 10, 60])
@pytest.mark.parametrize("seed", range(4))
def test_sessions(seed: int, size: int, plain: list[int]) -> None:
    frames = several(seed)
    assert in_blocks(frames, size) == one_by_one(frames)
    assert seed % 2 or sum(plain) > len(frames) / 2


@pytest.mark.parametrize(("step_ns", "back"), [(20 * 60 * SECOND, 1), (SECOND // 100, 3)])
def test_odd_times(step_ns: int, back: int, plain: list[int]) -> None:
    """No step is a leap, though all together would be; and some go back."""
    random, frames = Random(1), several(2)
    times = [
        frames[0].ts_ns + number * step_ns - random.randrange(back * step_ns) * (number % 2)
        for number in range(len(frames))
    ]
    odd = [frame._replace(ts_ns=ts_ns) for frame, ts_ns in zip(frames, times, strict=True)]
    for size in (10, 100):
        assert in_blocks(odd, size) == one_by_one(odd)
    assert sum(plain) > len(frames) / 2


@pytest.mark.parametrize("seed", range(4))
def test_samples_together(seed: int, plain: list[int]) -> None:
    random = Random(seed)
    some = [damaged(frames_of(SAMPLES / name), random) for name in random.choices(OLD_TIMES, k=4)]
    frames = merged(some, random)
    assert in_blocks(frames, 20) == one_by_one(frames)
    assert sum(plain)


def test_waits_that_end_at_segments_of_others(plain: list[int]) -> None:
    """What is missing is waited for, while another connection goes on as usual."""
    first, second = Conversation(), Conversation(parties=Parties(ports=(40002, 7447)), nodes=(PEER, OTHER_PEER))
    second.capture = first.capture
    first.open()
    second.open()
    frames = first.capture.frames
    for number in range(100):
        if number % 20 < 10:
            first.keep_alive(0)
        second.keep_alive(number % 2)
        if number % 20 == 8:
            frames.pop(-2)  # of the first, which is silent soon
        if number % 20 == 9:
            first.keep_alive(1)  # this acknowledges what is missing
        first.capture.now_ns += SECOND * 27 // 100
    numbered = [frame._replace(number=number) for number, frame in enumerate(frames, 1)]
    assert in_blocks(numbered, 30) == one_by_one(numbered)
    assert sum(moment.look for _, moment in looked_at(numbered, 3).moments) > 3
    assert sum(plain) > 40
