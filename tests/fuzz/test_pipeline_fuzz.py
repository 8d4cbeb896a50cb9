"""The pipeline takes anything: no exception, sound tapes, bounded memory, linear time.

`ZDISSECT_FUZZ=50000 pytest tests/fuzz` looks longer than the few hundred cases of an ordinary run.
"""

import os
import time
import tracemalloc
from collections.abc import Callable, Iterable
from random import Random

import pytest

from tests.conversation import Conversation
from tests.engine.tapes import check
from tests.fuzz.damage import NAMES, capture, damaged, damaged_conversation, datagrams, noise
from tests.in_blocks import in_blocks
from tests.messages import push, put
from tests.packets import Parties
from tests.random_traffic import random_conversation
from zdissect.dissection import Dissection, Item, findings
from zdissect.grammar.rules import RULES
from zdissect.pipeline import Pipeline, dissect
from zdissect.records import Frame
from zdissect.table import Table

CASES = int(os.environ.get("ZDISSECT_FUZZ", "400"))


def sound(frames: list[Frame]) -> None:
    """Dissects frames, and looks at all that comes of it."""
    table = Table()
    for item in dissect(frames):
        for finding in findings(item):
            assert finding.rule is RULES[finding.rule.code]
            assert 0 <= finding.start <= finding.stop
        if isinstance(item, Dissection):
            check(item.tape)
            for row in table.rows(item):
                assert row["length"] > 0 or not item.buffer.data


@pytest.mark.parametrize("make", [damaged_conversation, datagrams, noise])
def test_anything_that_is_said(make: Callable[[int], list[Frame]]) -> None:
    for seed in range(CASES // 4):
        sound(make(seed))


def test_captures_with_damage() -> None:
    for seed in range(CASES // 8):
        sound(damaged(capture(NAMES[seed % len(NAMES)]), Random(seed)))


def said(items: Iterable[Item]) -> list[object]:
    """All that is known of frames: rows, findings and skipped bytes."""
    out: list[object] = []
    for item in items:
        out += [(one.rule.code, one.message, one.start, one.stop) for one in findings(item)]
        out += [message.row for message in getattr(item, "messages", [])]
    return out


@pytest.mark.parametrize(
    "make",
    [
        damaged_conversation,
        lambda seed: damaged(capture(NAMES[seed % len(NAMES)]), Random(seed)),
        lambda seed: damaged(random_conversation(seed, turns=20).capture.frames, Random(seed)),
    ],
    ids=["any messages", "captures", "conversations"],
)
def test_blocks_say_the_same(make: Callable[[int], list[Frame]]) -> None:
    """Rows by templates, and what the session finds out once for all of them."""
    read = 0
    for seed in range(CASES // 8):
        frames = make(seed)
        wanted = said(dissect(frames))
        assert said(in_blocks(frames, 1 + seed % 9)) == wanted
        read += bool(wanted)
    assert read > CASES // 16


def long(frames: int) -> list[Frame]:
    """A session that goes on and on, with requests that nobody answers and fragments without an end."""
    conversation = Conversation().open()
    for number in range(frames):
        if number % 3 == 0:
            conversation.frame(0, push("demo/x", body=put(bytes(400))))
        elif number % 3 == 1:
            conversation.fragment(1, bytes(400), first=True)
        else:
            conversation.keep_alive(0)
    return conversation.capture.frames


def test_memory_doesnt_grow_with_the_capture() -> None:
    frames = long(1500)
    pipeline = Pipeline()
    tracemalloc.start()
    try:
        sizes = []
        for number, frame in enumerate(frames):
            pipeline.feed(frame)
            if number in (800, 1490):
                sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert sizes[1] - sizes[0] < 100_000, sizes


STREAMS = {
    "zeros": lambda size: bytes(size),
    "noise": lambda size: Random(1).randbytes(size),
    "numbers": lambda size: b"\x06\x00\x00\x00" * (size // 4),
    "keep-alives": lambda size: b"\x01\x00\x04" * (size // 3),
    "fragments": lambda size: b"\x06\x00\x26\x01\x00\x00\x00\x00" * (size // 8),
    "text": lambda size: b"foo.bar:1|c\n" * (size // 12),
}


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("port", [7447, 9000])
def test_time_is_linear_in_streams_of_nonsense(name: str, port: int) -> None:
    def seconds(size: int) -> float:
        conversation = Conversation(parties=Parties(ports=(40000, port)), connect=False)
        data = STREAMS[name](size)
        for at in range(0, len(data), 1448):
            conversation.raw(0, data[at : at + 1448])
        started = time.process_time()
        for _ in dissect(conversation.capture.frames):
            pass
        return time.process_time() - started

    small, large = seconds(50_000), seconds(200_000)
    assert large < 10 * small + 0.5
