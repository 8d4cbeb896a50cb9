"""Walking on arrays: a batch is declined, or its rows are those of the interpreter.

A walker that declines everything is never wrong, so each test counts what was really read.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.families import family_member
from tests.generators import SeededChoices, ValueGenerator, mutate
from tests.vector.walking import prefixed, seen
from zdissect.capture import open_capture
from zdissect.dissection import Dissection
from zdissect.engine import vle
from zdissect.engine.encoder import encode
from zdissect.flow.framing import STREAM
from zdissect.grammar.network import PUSH, REQUEST, RESPONSE, RESPONSE_FINAL
from zdissect.grammar.transport import FRAME
from zdissect.grammar.types import Message
from zdissect.pipeline import dissect
from zdissect.vector.shapes import Shape
from zdissect.vector.walk import Walker
from zdissect.vector.words import integers, shortest, words_of

SAMPLES = Path(__file__).parents[2] / "samples"
QUERIES = (REQUEST, RESPONSE, RESPONSE_FINAL)


@cache
def batches_of(name: str) -> list[bytes]:
    """All batches of a sample that came on plain streams."""
    with open_capture(str(SAMPLES / name)) as capture:
        items = [item for item in dissect(capture) if isinstance(item, Dissection)]
    return [item.buffer.data for item in items if item.framing == STREAM and item.buffer.data and not item.missing]


def frame(source: SeededChoices, *some: tuple[Message, int]) -> bytes:
    """A batch of a FRAME, with a message of each of these families."""
    values = family_member(FRAME, source.number(20), source)
    return encode(FRAME, values | {"messages": [family_member(message, family, source) for message, family in some]})


def traffic(seed: int, count: int, messages: tuple[Message, ...], families: int = 30, most: int = 3) -> list[bytes]:
    """BlockBatches with up to `most` messages of some families in each FRAME, some with two FRAMEs."""
    source = SeededChoices(seed)
    out = []
    for _ in range(count):
        content = b""
        for _ in range(1 + (source.number(9) == 9)):
            some = [
                (messages[source.number(len(messages) - 1)], seed * families + source.number(families - 1))
                for _ in range(source.number(most))
            ]
            content += frame(source, *some)
        out.append(prefixed(content))
    return out


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.pcap*")), ids=lambda path: path.name)
def test_captures(path: Path) -> None:
    """All at once, and one after the other: what is read doesn't depend on what is read together."""
    batches = batches_of(path.name)
    together = seen(Walker(), batches)
    walker = Walker()
    alone = [seen(walker, [batch]).plain[0] for batch in batches]
    assert alone == together.plain == together.readable


@pytest.mark.parametrize("block", range(3))
def test_datagrams(block: int) -> None:
    """Batches without a length prefix."""
    one = seen(Walker(), [batch[STREAM.prefix :] for batch in traffic(block, 150, (PUSH, *QUERIES))], prefix=0)
    assert not one.missed
    assert sum(one.plain) > 70


@pytest.mark.parametrize("messages", [(PUSH,), QUERIES, (PUSH, *QUERIES)], ids=["push", "queries", "mixed"])
@pytest.mark.parametrize("block", range(3))
def test_messages_that_are_nearly_alike(block: int, messages: tuple[Message, ...]) -> None:
    """Families of messages, as traffic consists of them; the second time nothing new has to be learned."""
    walker = Walker()
    for _ in range(3):
        one = seen(walker, traffic(block, 150, messages))
        assert not one.missed
        assert sum(one.plain) > 70  # as many as the generator makes readable
    count, read = len(walker.templates), len(walker.learned.read)
    seen(walker, traffic(block, 150, messages))
    assert (len(walker.templates), len(walker.learned.read)) == (count, read)


@pytest.mark.parametrize("block", range(3))
def test_long_frames(block: int) -> None:
    """What follows the first messages is found by guesses, also where payloads look like messages."""
    walker = Walker()
    one = seen(walker, traffic(block, 60, (PUSH,), families=3, most=60))
    assert not one.missed
    assert sum(one.plain) > 15
    like = encode(PUSH, {"message": "PUSH", "N": 1, "M": 0, "scope": 0, "suffix": "a/b",
                         "body": {"message": "PUT", "payload": b"x"}})  # fmt: skip
    values = {"message": "PUSH", "N": 1, "M": 0, "scope": 0, "suffix": "a/b"}
    bodies = [{"message": "PUT", "payload": like * number + like[:number]} for number in range(9)]
    some = [values | {"body": body} for body in bodies]
    batch = prefixed(encode(FRAME, {"message": "FRAME", "R": 1, "sn": 7, "messages": some * 3}))
    assert seen(walker, [batch] * 30).plain == [True] * 30
    assert len(seen(Walker(), [batch]).walked.batch) == 28


@pytest.mark.parametrize("block", range(6))
def test_frames_at_random_and_their_mutations(block: int) -> None:
    """Anything that the grammar allows, and bytes changed, cut or put in."""
    walker, batches = Walker(), []
    for seed in range(block * 60, block * 60 + 60):
        maker = ValueGenerator(SeededChoices(seed), clean=seed % 4 > 0)
        content = b"".join(encode(FRAME, maker.entry(FRAME, {})) for _ in range(1 + seed % 3))
        source = SeededChoices(seed)
        batches += [prefixed(content), *(prefixed(mutate(source, content)) for _ in range(4))]
    one = seen(walker, batches)
    assert not one.missed
    assert any(one.plain)


@pytest.mark.parametrize("block", range(2))
def test_each_byte_changed(block: int) -> None:
    """Next to templates that are known: one bit of a byte at a time, and a batch cut at any byte."""
    walker, source = Walker(), SeededChoices(block)
    whole = traffic(block, 60, (PUSH, *QUERIES))
    seen(walker, whole)
    changed, cut = [], []
    for batch in whole[:25]:
        content = batch[2:]
        for at in range(len(content)):
            flipped = content[at] ^ 1 << source.number(7)
            changed.append(prefixed(content[:at] + bytes((flipped,)) + content[at + 1 :]))
            cut.append(prefixed(content[:at]))
    for one in (seen(walker, changed), seen(walker, cut)):
        assert not one.missed
        assert any(one.plain)


@pytest.mark.parametrize("name", ["query-router.pcap", "pubsub-tcp.pcap", "pico-clients.pcap"])
def test_mutated_captures(name: str) -> None:
    batches = [prefixed(mutate(SeededChoices(seed), batch[2:])) for batch in batches_of(name) for seed in range(12)]
    assert any(seen(Walker(), batches).plain)


def test_keys_with_the_same_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash only finds candidates: all words of a key decide."""
    monkeypatch.setattr(Shape, "hash", lambda self, key: np.full(key.shape[1], 5, dtype=np.uint64))
    walker = Walker()
    for _ in range(3):
        assert not seen(walker, traffic(1, 150, (PUSH,))).missed


def test_keys_that_differ_in_length_only() -> None:
    """Words are filled up with zeros, which must not be taken for zeros of the wire."""
    values = {"message": "PUSH", "N": 1, "M": 0, "scope": 0, "body": {"message": "PUT", "payload": b"x"}}
    suffixes = ["a" + "\0" * number for number in range(30)] + ["a" * number for number in range(1, 300)]
    pushes = [encode(PUSH, values | {"suffix": suffix}) for suffix in suffixes]
    batches = [prefixed(encode(FRAME, {"message": "FRAME", "R": 1, "sn": 1}) + one) for one in pushes]
    walker = Walker()
    for _ in range(2):
        assert all(seen(walker, batches * 2).plain)
    assert len(walker.templates) == len(set(suffixes)) + 1


def test_request_ids_share_templates() -> None:
    head = encode(FRAME, {"message": "FRAME", "R": 1, "sn": 1})
    finals = [encode(RESPONSE_FINAL, {"message": "RESPONSE_FINAL", "request_id": n << n % 24}) for n in range(500)]
    walker = Walker()
    assert all(seen(walker, [prefixed(head + one) for one in finals]).plain)
    assert len(walker.templates) == 2


def test_a_suffix_that_is_not_text() -> None:
    """It is a finding, also behind the same message with text."""
    good = bytes.fromhex("25 01 3d 00 04 61626364 01 01 78")
    bad = good.replace(b"abcd", b"ab\xc3\x28")
    assert seen(Walker(), [prefixed(good), prefixed(bad), prefixed(good)] * 10).plain == [True, False, True] * 10


@pytest.mark.parametrize("longest", [1, 2, 4])
def test_integers_in_more_bytes_than_they_need(longest: int) -> None:
    """They are findings, whether two bytes are looked at, as all are short, or more: sequence numbers here, and the
    length of a suffix."""
    numbers = [n % (1 << 7 * longest) for n in (0, 5, 100, 300, 20_000, 3_000_000)]
    forms = [vle.encode(number) for number in numbers]
    longer = [form[:-1] + bytes((form[-1] | 128, 0)) for form in forms if len(form) < longest] or [b"\x85\x00"]
    push = bytes.fromhex("3d 00 04 61626364 01 01 78")
    good = [prefixed(b"\x25" + form + push) for form in forms]
    bad = [prefixed(b"\x25" + form + push) for form in longer]
    bad.append(prefixed(b"\x25\x01" + push.replace(b"\x04", b"\x84\x00")))
    found = seen(Walker(), [*good, *bad] * 3)
    assert found.plain == ([True] * len(good) + [False] * len(bad)) * 3


def test_templates_are_forgotten() -> None:
    walker = Walker()
    values = {"message": "PUSH", "N": 1, "M": 0, "scope": 0, "body": {"message": "PUT", "payload": b"x"}}
    for block in range(2):
        numbers = range(block * 5000, block * 5000 + 5000)
        some = [encode(PUSH, values | {"suffix": f"key/{number}"}) for number in numbers]
        head = encode(FRAME, {"message": "FRAME", "R": 1, "sn": 1})
        assert not walker.full
        assert all(seen(walker, [prefixed(head + one) for one in some]).plain)
        assert walker.full
        assert len(walker.learned.read) == 2, "the interpreter reads one PUSH, whatever its suffix"
        walker.forget()
        assert not walker.templates


@pytest.mark.parametrize("count", [0, 1, 2, 13])
def test_few_batches(count: int) -> None:
    one = seen(Walker(), [prefixed(b""), *traffic(3, 12, (PUSH,))][:count])
    assert one.plain == one.readable


def test_a_length_prefix_that_is_not_the_length() -> None:
    data = traffic(0, 1, (PUSH,))[0]
    assert seen(Walker(), [data[:1] + bytes((data[1] ^ 1,)) + data[2:]]).plain == [False]


def test_integers() -> None:
    """Of all sizes, in any form, at any place."""
    values = [1 << top | (1 << low) - 1 & (1 << top) - 1 for top in range(64) for low in range(0, 64, 5)] + [0]
    forms = [vle.encode(value) for value in values]
    longer = [form[:-1] + bytes((form[-1] | 128, *[128] * extra, 0)) for form in forms for extra in (0, 3)
              if len(form) + extra < 8]  # fmt: skip
    data = b"".join(forms + longer) + bytes(16)
    arena = np.frombuffer(data, dtype=np.uint8)
    sizes = np.array([len(form) for form in forms + longer])
    value, size = integers(arena, words_of(arena), np.cumsum(sizes) - sizes)
    assert size.tolist() == sizes.tolist()
    assert value.tolist()[: len(values)] == values
    assert shortest(value, size).tolist() == [True] * len(forms) + [False] * len(longer)


def test_what_is_made_to_differ_is_still_read() -> None:
    """Messages with numbers that never come again, many in a FRAME: guesses look behind the numbers."""
    source = SeededChoices(4)
    body = {"message": "REPLY", "body": {"message": "PUT", "payload": b"x"}}
    values = {"message": "RESPONSE", "N": 1, "M": 0, "suffix": "a/b", "body": body}
    some = [values | {"request_id": source.number(1 << 32 - 1), "scope": source.number(65535)} for _ in range(400)]
    batches = [
        prefixed(encode(FRAME, {"message": "FRAME", "R": 1, "sn": 1, "messages": some[at : at + 100]}))
        for at in range(0, 400, 100)
    ]
    assert all(seen(Walker(), batches).plain)


def test_what_never_ends_is_declined() -> None:
    """A FRAME in which each message begins in a new way, and a chain of extensions as long as the batch."""
    head = encode(FRAME, {"message": "FRAME", "R": 1, "sn": 1})
    bodies = [{"message": "PUT", "payload": b""}, {"message": "DEL"}]
    many = [
        encode(PUSH, {"message": "PUSH", "N": 1, "M": 0, "scope": 0, "suffix": chr(65 + number) * number,
                      "body": bodies[number % 2]})
        for number in range(1, 60)
    ]  # fmt: skip
    assert seen(Walker(), [prefixed(head + b"".join(many) + b"\x1a\1" * 9)]).plain == [True]
    chain = head + bytes.fromhex("9d 00") + bytes.fromhex("a1 0d") * 200 + bytes.fromhex("21 0d 01 01 78")
    assert seen(Walker(), [prefixed(chain)] * 20).plain == [False] * 20
    frames = prefixed(head * 100)
    assert seen(Walker(), [frames, prefixed(head * 20)]).plain == [False, True]


@pytest.mark.parametrize("first", [0, 3])
def test_query_bodies_some_of_which_are_empty(first: int) -> None:
    """What has no bytes still lies between the bytes around it."""
    head = encode(FRAME, {"message": "FRAME", "R": 1, "sn": 1})
    sizes = [first, *range(40), *range(40)]
    bodies = [{"ext": "body", "encoding": {"value": 4}, "payload": b"z" * size} for size in sizes]
    queries = [{"message": "QUERY", "extensions": [body, {"ext": "attachment", "value": b"q"}]} for body in bodies]
    some = [{"message": "REQUEST", "request_id": 5, "scope": 1, "M": 1, "body": query} for query in queries]
    walker = Walker()
    for few in ([first], range(len(some)), range(len(some) - 1, -1, -1)):
        assert all(seen(walker, [prefixed(head + encode(REQUEST, some[number])) for number in few]).plain)
    assert len(walker.templates) == 2


def test_messages_outside_of_a_frame_are_declined() -> None:
    """Also behind a KEEP_ALIVE, which ends the FRAME before it."""
    push = bytes.fromhex("1d 01 01 01 78")
    frame = bytes.fromhex("25 01")
    contents = [push, b"\4" + push, frame + push + b"\4" + push, frame + push + b"\4" + frame + push]
    walker = Walker()
    for _ in range(2):
        assert seen(walker, [prefixed(content) for content in contents] * 10).plain == [False, False, False, True] * 10
