"""A capture decoded in groups of whole sessions gives the rows of the whole."""

from functools import cache
from pathlib import Path
from random import Random

import pytest

from tests import packets
from tests.conversation import ACK, CLIENT, FIN, OTHER_PEER, PEER, ROUTER, Conversation
from tests.export.partitions import assert_same, damaged, decodings, looked_at, merged, numbered
from tests.export.tables import SAMPLES, frames
from tests.messages import push
from tests.multicast_group import MulticastGroup
from tests.packets import CaptureBuilder, Parties
from zdissect.flow import connection_table
from zdissect.limits import Limits, Quota
from zdissect.parallel.split import shared_out, worth
from zdissect.records import Frame

PATHS = sorted(SAMPLES.glob("*.pcap*"))
FIRST, SECOND = Parties(ports=(40001, 7447)), Parties(ports=(40002, 7447))


@cache
def sample(path: Path) -> list[Frame]:
    return frames(path)


def some_samples(random: Random, most: int) -> list[list[Frame]]:
    return [sample(path) for path in random.choices(PATHS, k=random.randint(2, most))]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_samples(path):
    assert_same(sample(path))


@pytest.mark.parametrize("seed", range(8))
def test_merged_samples(seed):
    """Several sessions in one file, TCP and UDP, some with the same ports or ZenohIDs."""
    random = Random(seed)
    split = assert_same(merged(some_samples(random, 5), random), random.choice((2, 3, 50)))
    assert len(split.sizes) > 1


def few(monkeypatch, most):
    """Lets no more connections be kept. What is said of that depends on all of a capture, which then isn't split."""
    monkeypatch.setattr(Quota, "tell", lambda quota: None)
    monkeypatch.setattr(connection_table, "CONNECTION_BYTES", Limits().connections // most + 1)


@pytest.mark.parametrize("seed", range(25))
def test_damaged_samples(seed, monkeypatch):
    """What others do to a connection matters: time passes, and there are so many that some are forgotten."""
    random = Random(seed)
    few(monkeypatch, random.choice((10, 100)))
    chosen = [damaged(some, random) for some in some_samples(random, 3)]
    split = assert_same(merged(chosen, random))
    if seed == 0:
        assert split.moments


def test_what_is_told_matters():
    """A client comes back from another port: in a new session, as time has shown what its FIN waits for to be lost."""
    capture = CaptureBuilder()
    left, back = (Conversation(capture, (CLIENT, ROUTER), parties) for parties in (FIRST, SECOND))
    other = Conversation(capture, (PEER, OTHER_PEER), Parties(ports=(40003, 7447))).open()
    left.open().lose(0, bytes(50)).segment(0, b"", FIN | ACK)
    other.wait(1).keep_alive(0).wait(1).keep_alive(1)
    back.open().frame(0, push())
    split = assert_same(capture.frames)
    told, untold = (decodings(capture.frames, one)[1] for one in (split, split._replace(moments=[])))
    assert told != untold


def test_connections_are_forgotten_in_time(monkeypatch):
    """A late segment of a connection opens a new one once the old one is forgotten, on account of others."""
    capture = CaptureBuilder()
    first = Conversation(capture, parties=FIRST).open().frame(0, push())
    few(monkeypatch, 10)
    for number in range(20):
        Conversation(capture, parties=Parties(ports=(41000 + number, 7447)), nodes=(PEER, ROUTER)).open()
    first.frame(0, push()).frame(0, push())
    split = assert_same(capture.frames)
    assert any(moment.drop for _, moment in split.moments)


def test_ports_in_use_again(monkeypatch):
    """Connections on the same ports stay together, and all keep the numbers of the whole."""
    capture = CaptureBuilder()
    for number in range(3):
        monkeypatch.setattr(packets, "FIRST_SEQ", (1000 + number * 2**20, 5000 + number * 2**20))
        for parties, nodes in ((FIRST, (CLIENT, ROUTER)), (SECOND, (PEER, OTHER_PEER))):
            conversation = Conversation(capture, nodes, parties).open().frame(0, push())
            if number == 1:
                conversation.hang_up()
    split = assert_same(capture.frames)
    assert split.numbers == [[0, 2, 4], [1, 3, 5]]


def test_links_of_one_session():
    """Two links with the same ZenohIDs, interleaved, beside another session."""
    capture = CaptureBuilder()
    one, other = (Conversation(capture, (CLIENT, ROUTER), parties).open(multilink=True) for parties in (FIRST, SECOND))
    alone = Conversation(capture, (PEER, OTHER_PEER), Parties(ports=(40003, 7447))).open()
    for _ in range(3):
        for conversation in (one, alone, other):
            conversation.frame(0, push())
    assert assert_same(capture.frames).numbers == [[0, 1], [2]]


def test_a_session_over_tcp_and_udp():
    """All UDP is in group 0, and so is what has its ZenohIDs."""
    capture = CaptureBuilder()
    Conversation(capture, (CLIENT, ROUTER), Parties(ports=(40001, 7447)), udp=True).open()
    Conversation(capture, (ROUTER, CLIENT), SECOND).open().frame(0, push())
    Conversation(capture, (PEER, OTHER_PEER), Parties(ports=(40003, 7447))).open().frame(0, push())
    assert assert_same(capture.frames).numbers == [[0], [1]]


def fragmented(frame: Frame) -> list[Frame]:
    """The IP packet of an Ethernet frame in two pieces."""
    data = frame.data
    body, cut = data[34:], 24
    out = []
    for place, part in ((0, body[:cut]), (cut, body[cut:])):
        flags = (0x2000 if not place else 0) | place // 8
        header = data[14:16] + (20 + len(part)).to_bytes(2) + frame.number.to_bytes(2) + flags.to_bytes(2) + data[22:34]
        packet = data[:14] + header + part
        out.append(frame._replace(data=packet, wire_len=len(packet)))
    return out


def test_ip_fragments():
    """A connection of which a segment came in pieces goes to group 0 as a whole."""
    capture = CaptureBuilder()
    pieces = Conversation(capture, parties=FIRST).open().frame(0, push())
    whole = Conversation(capture, (PEER, OTHER_PEER), SECOND).open()
    pieces.frame(0, push())
    whole.frame(0, push())
    cut = capture.frames[-2]
    some = numbered(one for frame in capture.frames for one in (fragmented(frame) if frame is cut else [frame]))
    assert len(some) == len(capture.frames) + 1
    assert assert_same(some).numbers == [[0], [1]]


def test_a_join_in_a_tcp_stream():
    """Nobody sends one, but garbage may look so: it has nothing to do with others that were sent to the same place."""
    capture = CaptureBuilder()
    for number, parties in enumerate((FIRST, SECOND)):
        join = MulticastGroup().join(number, lease=10 + number).capture.frames[0].data[42:]
        Conversation(capture, (CLIENT, ROUTER) if number else (PEER, OTHER_PEER), parties).open().raw(0, stream(join))
    MulticastGroup(capture).join(1)
    assert len(assert_same(capture.frames).sizes) > 1


def stream(batch: bytes) -> bytes:
    return len(batch).to_bytes(2, "little") + batch


# --- what a first look can't see is noticed


def unsound(some: list[Frame]) -> bool:
    found, _ = decodings(some, looked_at(some, 8))
    pairs = [tuple(pair) for decoding in found for pair in decoding.pairs()]
    return len(pairs) != len({*pairs}) or not all(decoding.group.sound() for decoding in found)


@pytest.mark.parametrize("late", [False, True])
def test_ends_that_name_themselves_late(late):
    """An INIT behind other batches: two links of a session are in two groups."""
    capture = CaptureBuilder()
    one, other = (Conversation(capture, (CLIENT, ROUTER), parties) for parties in (FIRST, SECOND))
    for conversation in (one, other):
        if late and conversation is other:
            conversation.keep_alive(0).keep_alive(1).keep_alive(0).keep_alive(1)
        conversation.open(multilink=True).frame(0, push())
    assert unsound(capture.frames) is late


# --- sharing out


@pytest.mark.parametrize("most", [1, 2, 3, 9])
def test_shared_out(most):
    roots, sizes = [0, 1, 1, 3, 0, 5, 6], [1, 20, 20, 30, 1, 35, 5]
    groups, loads = shared_out(roots, sizes, most)
    assert groups[0] == 0
    assert groups[1] == groups[2]
    assert groups[4] == 0
    assert sum(loads) == sum(sizes)
    assert len(loads) == min(most, 5)
    assert {*groups} == {*range(len(loads))}
    assert max(loads) <= max(40, sum(sizes) / most + 20)


@pytest.mark.parametrize(
    ("sizes", "partitions", "split_bytes", "chosen"),
    [([50, 10, 10], 2, 20, [0]), ([50, 10, 10], 1, 20, []), ([50, 10, 10], 2, 60, []), ([30, 30], 2, 20, []),
     ([5, 0], 1, 0, [0, 1]), ([], 2, 20, [])],
)  # fmt: skip
def test_what_is_worth_splitting(sizes, partitions, split_bytes, chosen):
    assert worth(sizes, partitions, split_bytes) == chosen
