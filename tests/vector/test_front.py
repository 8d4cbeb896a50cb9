"""Blocks of frames, up to batches: the batches, and the state of all layers after each block, are as frame by frame."""

from itertools import zip_longest
from random import Random

import pytest

from tests.captures.expectations import SAMPLES, SHARED, frames_of
from tests.conversation import Conversation
from tests.messages import push, put
from tests.packets import FIRST_SEQ, SECOND, START_NS, Parties
from tests.random_traffic import random_conversation
from tests.vector.blocks import Fed
from tests.vector.damage import DAMAGES, captured_twice, damaged, disordered, shifted, traffic, with_numbers
from zdissect.records import Frame


def agree(frames: list[Frame], head: int, size: int) -> Fed:
    """Feeds frames in both ways, and compares after each block."""
    single, blocks = Fed(), Fed()
    single.one_by_one(frames[:head])
    blocks.one_by_one(frames[:head])
    for at in range(head, len(frames), size):
        some = frames[at : at + size]
        single.one_by_one(some)
        blocks.block(some)
        for number, (one, other) in enumerate(zip_longest(single.noted, blocks.noted)):
            assert one == other, f"batch {number}, block from frame {at + 1}"
        for (name, one), (other_name, other) in zip_longest(single.state(), blocks.state(), fillvalue=("", None)):
            assert (name, one) == (other_name, other), f"{name}, block from frame {at + 1}"
        single.noted.clear()
        blocks.noted.clear()
    return blocks


CAPTURES = sorted(path for folder in (SAMPLES, SHARED / "captures") for path in folder.glob("*.pcap*"))


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
@pytest.mark.parametrize("size", [7, 64, 5000])
def test_captures(path, size):
    frames = list(frames_of([path]))[:6000]
    agree(frames, len(frames) // 5, size)


@pytest.mark.parametrize("seed", range(12))
def test_random_traffic(seed):
    frames = random_conversation(seed).capture.frames
    fed = agree(frames, 12, 5 + 13 * seed)
    assert fed.plain > 0.3 * fed.all


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.003, 0.1])
@pytest.mark.parametrize("kind", DAMAGES)
def test_damage(kind, share, seed):
    random = Random(f"{kind} {seed}")
    frames = damaged(random, traffic(seed), kind, share)
    agree(frames, 30, random.choice((20, 100, 1000)))


@pytest.mark.parametrize("share", [0.003, 0.1])
@pytest.mark.parametrize("kind", DAMAGES)
def test_damaged_datagrams(kind, share):
    random, taken = Random(f"{kind} of UDP"), 0
    for seed, size in enumerate((20, 300)):
        frames = damaged(random, traffic(seed, 150, connections=1, udp=3), kind, share)
        taken += agree(frames, 30, size).datagrams
    assert taken > 10


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("udp", [0, 2])
def test_disorder(seed, udp):
    random = Random(seed)
    frames = disordered(random, traffic(seed, udp=udp), random.choice((0.002, 0.02)))
    agree(frames, 30, random.choice((20, 100, 1000)))


@pytest.mark.parametrize("size", [3, 100, 2000])
def test_undamaged_traffic_is_plain(size):
    frames = traffic(0, 1000)
    fed = agree(frames, 30, size)
    assert fed.plain == fed.all


@pytest.mark.parametrize("size", [3, 100, 2000])
def test_undamaged_datagrams_are_plain(size):
    fed = agree(with_numbers(traffic(0, 1000, 1, udp=3)), 30, size)
    assert fed.plain == fed.all
    assert fed.datagrams > 0.6 * fed.all


def test_a_datagram_whose_copy_comes_blocks_later():
    talk = Conversation(udp=True).open()
    head = len(talk.capture.frames)
    for number in range(60):
        talk.frame(0, push(body=put(number.to_bytes(2))))
    frames = [frame._replace(ts_ns=START_NS + 10**5 * frame.number) for frame in talk.capture.frames]
    copies = captured_twice(frames[head:], 10**7)
    both = sorted([*frames, *copies], key=lambda frame: frame.ts_ns)
    fed = agree([frame._replace(number=number) for number, frame in enumerate(both, 1)], head, 20)
    assert fed.pipeline.datagrams.repeated == sum(len(frame.data) - 42 for frame in copies)
    assert fed.datagrams >= 60


def test_a_handshake_that_only_its_rules_see():
    """The header of an OPEN that isn't the first of its datagram: what follows is framed otherwise."""
    talk = Conversation(udp=True).init_syn(compression=True).init_ack(compression=True)
    for _ in range(20):
        talk.frame(0, push("a"))
    head = len(talk.capture.frames)
    for _ in range(20):
        talk.frame(0, push("a")).keep_alive(1)
    agree(talk.capture.frames, head - 15, 100)


def test_a_side_whose_place_is_unknown():
    """It is silent; then its first number happens to be the one before 0."""
    talk = Conversation(connect=False)
    for _ in range(80):
        talk.frame(0, push())
    talk.sent[1] = -FIRST_SEQ[1] - 2
    talk.frame(1, push()).frame(1, push())
    fed = agree(talk.capture.frames, 70, 10)
    assert fed.plain >= 10


def test_what_isnt_zenoh():
    talk = Conversation(parties=Parties(ports=(40000, 8080)))
    for line in (b"GET / HTT", b"P/1.1\r\n", b"Host: there\r\n", b"\r\n", b"\x03\0abc", b"more"):
        talk.raw(0, line).raw(1, b"\x01\0\x04")
    assert not agree(talk.capture.frames, 5, 3).plain


def test_the_first_answer_comes_in_pieces():
    talk = Conversation().init_syn()
    head = len(talk.capture.frames)
    talk.batch(1, {**talk.init(1), "cookie": b"cookie"}, pieces=3).open_syn().open_ack().frame(0, push())
    agree(talk.capture.frames, head, 100)


@pytest.mark.parametrize("before", [2000, 30_000, 200_000])
def test_numbers_begin_anew(before):
    fed = agree(shifted(traffic(0), ((1 << 32) - before, (1 << 32) - before // 4)), 30, 50)
    assert fed.plain == fed.all


@pytest.mark.parametrize("head", range(40, 60))
def test_two_files_of_the_same_time(head):
    """What is in hand when the second file begins has a higher frame number than what completes it."""
    frames = [frame._replace(ts_ns=START_NS) for frame in traffic(1)[:120]]
    first = [frame._replace(number=10_000 + frame.number, source="first") for frame in frames[:head]]
    agree(first + frames[head:], head, 40)


@pytest.mark.parametrize("empty", [b"\0\0", b"\x01\0\4\0\0", b"\0\0\x01\0\4"])
def test_empty_batches(empty):
    talk = Conversation().open().frame(0, push()).frame(1, push())
    head = len(talk.capture.frames)
    talk.frame(0, push()).raw(0, empty).frame(0, push()).keep_alive(1)
    other = Conversation(talk.capture, parties=Parties(ports=(40001, 7447))).open()
    fed = agree(other.frame(0, push()).capture.frames, head, 100)
    assert fed.plain == 0


@pytest.mark.parametrize("at", [97, 109])  # in a block, and its last frame
@pytest.mark.parametrize("hours", [-2, 2, 10_000])
def test_a_clock_that_was_set(hours, at):
    frames = traffic(2)[:200]
    later = [frame._replace(ts_ns=frame.ts_ns + hours * 3600 * SECOND) for frame in frames[at:]]
    agree(frames[:at] + later, 30, 20)
