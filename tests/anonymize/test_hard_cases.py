"""What is in the way of replacing bytes in place: compression, fragments, segments, copies, masks, holes, faults."""

from random import Random

import lz4.block
import pytest

from tests.anonymize.proof import leaks, secrets, structure
from tests.conversation import Conversation
from tests.flow.websocket.streams import REQUEST, RESPONSE, side
from tests.messages import d_keyexpr, declare, push, pushed, put
from tests.random_traffic import random_conversation
from zdissect.anonymize.anonymizer import Anonymizer
from zdissect.anonymize.secret import Secret
from zdissect.capture.spool import Spool
from zdissect.dissection import Dissection
from zdissect.pipeline import Options, dissect

SECRET = b"the quick brown fox, " * 40


def anonymized(frames):
    """Other frames, and what was done."""
    with Spool() as spool:
        anonymizer = Anonymizer(spool, Options(), Secret("seed"))
        for frame in frames:
            spool.add(frame)
            anonymizer.feed(frame._replace(source="", number=len(spool)))
        anonymizer.close()
        new = [
            anonymizer.frame(frame, spool.new(place, 0, len(frame.data))) for place, frame in enumerate(spool.frames())
        ]
    return [frame._replace(source="test") for frame in new], anonymizer.account


def same(frames):
    """Whether the structure is the same, and nothing is left; the new items, and what was done."""
    new, account = anonymized(frames)
    old_items, new_items = list(dissect(frames)), list(dissect(new))
    for old, other in zip(structure(old_items), structure(new_items), strict=True):
        assert old == other
    inside = [item.buffer.data for item in new_items if isinstance(item, Dissection)]
    assert leaks(secrets(old_items), b"\0".join([*inside, *(frame.data for frame in new)])) == []
    return new_items, account


def payloads(items):
    return [
        message.row["payload"]
        for item in items
        if isinstance(item, Dissection)
        for message in item.messages
        if message.row.get("payload")
    ]


@pytest.mark.parametrize(
    "payload", [SECRET, bytes(500), bytes(range(256)) * 2, b"x"], ids=["text", "zeros", "all", "one"]
)
def test_compressed_batches(payload):
    conversation = Conversation().open(compression=True)
    conversation.frame(0, declare(d_keyexpr(1, "robot/arm")), compress=True)
    for number in range(3):
        pushes = [push(1, f"/joint/{number}/{index}", body=put(payload)) for index in range(4)]
        conversation.frame(0, *pushes, compress=True, pieces=3)
    items, account = same(conversation.capture.frames)
    assert account.blocks == 0
    assert len(payloads(items)) == 12


def test_what_cannot_be_compressed_so_well_is_overwritten_and_counted():
    """Keys that are each other's parts, but not from their beginnings: what replaces them has nothing in common."""
    conversation = Conversation().open(compression=True)
    conversation.frame(
        0, *[push(f"{'x' * index}abcdefghijklmnopqrst", body=put(b"")) for index in range(40)], compress=True
    )
    new, account = anonymized(conversation.capture.frames)
    assert account.blocks == 1
    assert "compressed batches" in " ".join(account.lines())
    assert len(list(dissect(new))) > 4


@pytest.mark.parametrize("count", [2, 7])
@pytest.mark.parametrize("compression", [False, True])
def test_fragments(count, compression):
    conversation = Conversation().open(compression=compression)
    conversation.fragments(0, pushed("robot/camera", SECRET), count)
    conversation.fragments(0, pushed("robot/camera", bytes(3000)), count)
    items, _ = same(conversation.capture.frames)
    first, second = payloads(items)
    assert (len(first), len(second)) == (len(SECRET), 3000)
    assert first[:8] * 2 == first[8:24]


def test_fragments_of_two_priorities_between_each_other():
    conversation = Conversation().open(qos=True)
    halves = [(message[:50], message[50:]) for message in (pushed("a/first", SECRET), pushed("b/second", bytes(900)))]
    for first in (True, False):
        for priority, parts in ((5, halves[0]), (2, halves[1])):
            conversation.fragment(0, parts[not first], first=first, last=not first, priority=priority)
    items, _ = same(conversation.capture.frames)
    assert sorted(map(len, payloads(items))) == sorted([len(SECRET), 900])


def test_fragments_without_an_end_are_overwritten():
    conversation = Conversation().open()
    conversation.fragment(0, pushed("robot/camera", SECRET)[:300], first=True)
    same(conversation.capture.frames)


def test_segments_of_a_few_bytes_lost_ones_and_copies():
    random = Random(1)
    conversation = Conversation().open()
    for number in range(30):
        data = conversation.bytes(0, conversation.framed(0, push(f"robot/{number}", body=put(SECRET[:90]))))
        if random.random() < 0.1:
            conversation.lose(0, data)
        else:
            conversation.raw(0, data, pieces=random.randint(1, 20))
    frames = conversation.capture.frames
    again = [one for frame in frames for one in [frame] * random.choice((1, 1, 2))]
    for at in range(5, len(again) - 1, 7):
        again[at], again[at + 1] = again[at + 1], again[at]
    same([frame._replace(number=number) for number, frame in enumerate(again, 1)])


def test_cut_frames():
    conversation = Conversation().open()
    for number in range(5):
        conversation.frame(0, push(f"robot/{number}", body=put(SECRET)))
    same([frame._replace(data=frame.data[:96]) for frame in conversation.capture.frames])


def test_websockets():
    conversation = Conversation()
    for one, head in enumerate((REQUEST, RESPONSE)):
        conversation.raw(one, head.replace(b"Host: a", b"Host: robot.example"))
    plain = Conversation(udp=True).open()
    batches = [(0, frame.data[42:]) if frame.data[35] == 64 else (1, frame.data[42:]) for frame in plain.capture.frames]
    sides = side(0), side(1)
    for one, data in batches:
        conversation.raw(one, sides[one].send_data(data, fin=True))
    plain.frame(0, push("robot/arm", body=put(SECRET)))
    conversation.raw(0, sides[0].send_data(plain.capture.frames[-1].data[42:], fin=True), pieces=3)
    conversation.raw(0, sides[0].ping(b"secret ping"))
    frames = conversation.capture.frames
    new, _ = anonymized(frames)
    everything = b"".join(frame.data for frame in new)
    assert b"robot.example" not in everything
    assert b"Upgrade: WebSocket" in everything
    items, _ = same(frames)
    assert [len(payload) for payload in payloads(items)] == [len(SECRET)]


@pytest.mark.parametrize("seed", range(12))
def test_random_traffic(seed):
    same(random_conversation(seed).capture.frames)


def test_the_blocks_are_those_of_the_library():
    """What is written is what any reader of LZ4 takes."""
    conversation = Conversation().open(compression=True)
    conversation.frame(0, push("robot/arm", body=put(SECRET)), compress=True)
    new, _ = anonymized(conversation.capture.frames)
    block = new[-1].data[54 + 3 :]
    assert len(lz4.block.decompress(block, uncompressed_size=60000)) > len(SECRET)
