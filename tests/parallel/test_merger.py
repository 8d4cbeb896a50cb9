"""What several processes send is put in order, in little memory."""

import threading
import time
from multiprocessing import Pipe

import pytest

from zdissect.parallel.blocks import FOLLOWS, PASSAGE, Block, Passage, send
from zdissect.parallel.group_frames import UnsoundSplit
from zdissect.parallel.merger import Merger

LOOK, OWN = (1, 3), (2, 0)


def block(until, *passages, pairs=(), result=None):
    """A block of (place, rank, text, lead)."""
    made = [Passage(place, rank, len(text), lead) for place, rank, text, lead in passages]
    return Block(
        until, made, b"".join(text for _, _, text, _ in passages), [frozenset(pair) for pair in pairs], 0, result
    )


def merged(*sent, most=1 << 20):
    """The texts that come out when each process has sent its blocks."""
    ends = [Pipe(duplex=False) for _ in sent]
    for (_, sending), blocks in zip(ends, sent, strict=True):
        for one in blocks:
            send(sending, one)
        sending.close()
    merger = Merger([receiving for receiving, _ in ends], most)
    try:
        return [text for text, _ in merger.passages(lambda *_: None)]
    finally:
        for receiving, _ in ends:
            receiving.close()


def test_order():
    """By place, then by rank; a block may be empty, and the last one says that nothing follows."""
    one = [block(3, (1, OWN, b"a", 0)), block(5), block(9, (6, OWN, b"d", 0), (8, OWN, b"f", 0), result=1)]
    other = [block(4, (2, OWN, b"b", 0)), block(9, (6, LOOK, b"c", 0), (7, OWN, b"e", 0), result=1)]
    assert merged(one, other) == merged(other, one) == [b"a", b"b", b"c", b"d", b"e", b"f"]
    assert merged(one) == [b"a", b"d", b"f"]


def test_what_has_no_order():
    one = [block(3, (1, OWN, b"a", 0)), block(9, (5, OWN, b"b", 0), result=1)]
    with pytest.raises(UnsoundSplit, match="isn't known which comes first"):
        merged(one, one)


def test_a_head_that_another_text_has_made_necessary():
    """It is left out where the text before is that of the same conversation."""
    one = [block(9, (1, OWN, b"(a)b", 0), (3, OWN, b"(a)c", 3), (5, OWN, b"(a)d", 3), result=1)]
    other = [block(9, (4, OWN, b"(e)f", 0), result=1)]
    assert merged(one, other) == [b"(a)b", b"c", b"(e)f", b"(a)d"]


def test_a_text_that_must_follow():
    one = [block(9, (1, OWN, b"a", 0), (3, OWN, b"b", FOLLOWS), result=1)]
    assert merged(one, [block(9, (4, OWN, b"c", 0), result=1)]) == [b"a", b"b", b"c"]
    with pytest.raises(UnsoundSplit, match="another one came before"):
        merged(one, [block(9, (2, OWN, b"c", 0), result=1)])


def test_two_groups_with_the_same_nodes():
    one = [block(3, (1, OWN, b"a", 0), pairs=["xy"]), block(9, result=1)]
    with pytest.raises(UnsoundSplit, match="same nodes"):
        merged(one, [block(3, (2, OWN, b"b", 0), pairs=["yx"]), block(9, result=1)])
    assert merged(one, [block(9, (2, OWN, b"b", 0), pairs=["xz"], result=1)]) == [b"a", b"b"]


def test_a_process_that_died():
    with pytest.raises(UnsoundSplit, match="died"):
        merged([block(3, (1, OWN, b"a", 0))], [block(9, (2, OWN, b"b", 0), result=1)])


def test_memory():
    """A process whose texts can't be written yet has to wait, as soon as they take too much memory."""
    (early, send_early), (late, send_late) = Pipe(duplex=False), Pipe(duplex=False)
    size, count, most = 100_000, 200, 1 << 20
    sent = []

    def send_early_ones() -> None:
        for place in range(1, count + 1):
            send(send_early, block(place + 1, (place + count, OWN, bytes(size), 0), result=place == count or None))
            sent.append(place)

    sender = threading.Thread(target=send_early_ones)
    sender.start()
    merger = Merger([early, late], 2 * most)
    texts = merger.passages(lambda *_: None)

    def send_nothing() -> None:
        for place in range(2, count):
            send(send_late, block(place))
            time.sleep(0.002)

    sends_nothing = threading.Thread(target=send_nothing)
    sends_nothing.start()
    sends_nothing.join()
    send(send_late, block(count + 1, (count, OWN, b"late", 0)))
    assert next(texts)[0] == b"late"
    assert merger.sources[0].size <= most + size + PASSAGE
    assert len(sent) <= most // size + 3
    send(send_late, block(3 * count, result=1))
    assert sum(len(text) for text, _ in texts) == size * count
    sender.join()
    for connection in (early, late, send_early, send_late):
        connection.close()
