"""Design section 7, invariant 2: bytes made to be expensive cost no more than their length."""

from collections.abc import Callable

import pytest

from tests.engine.tapes import check
from tests.generators import Entry, SeededChoices
from tests.line_counts import executed_lines
from zdissect.engine import composites, interpreter, lengths, weighing
from zdissect.engine.composites import MOST_SPANS
from zdissect.engine.interpreter import interpret
from zdissect.engine.vle import encode
from zdissect.grammar.batch import BATCH, SCOUTING_DATAGRAM
from zdissect.grammar.field import UNDECODED
from zdissect.grammar.network import OAM, PUSH
from zdissect.grammar.structures import DEFAULT_BATCH_SIZE
from zdissect.grammar.transport import FRAME, INIT

HUGE = encode(2**64 - 1)
INIT_HEAD = bytes.fromhex("81 09 02 aa")


def zbuf(head: int, body: bytes) -> bytes:
    return bytes((head,)) + encode(len(body)) + body


ADVERSARIES: dict[str, tuple[Entry, Callable[[int], bytes]]] = {
    "huge count of nodes": (OAM, lambda n: zbuf(0x5F, b"")[:1] + b"\1" + encode(n) + HUGE + bytes(n)),
    "huge counts in nodes": (OAM, lambda n: b"\x5f\1" + encode(n) + HUGE + (b"\4\0\0" + HUGE) * (n // 12)),
    "huge count of slices": (PUSH, lambda n: b"\x1d\0\x81\x12" + HUGE + bytes(n)),
    "many extensions": (FRAME, lambda n: b"\x85\0" + b"\x89" * n),
    "many mandatory extensions": (FRAME, lambda n: b"\x85\0" + b"\x9d" * n),
    "many empty bodies": (PUSH, lambda n: b"\x9d\0" + b"\xcf\0" * (n // 2)),
    "auth chains": (INIT, lambda n: INIT_HEAD + zbuf(0xC3, b"\x81" * (n // 2)) + b"\x89" * (n // 2)),
    "many auth chains": (INIT, lambda n: INIT_HEAD + zbuf(0xC3, b"\xc1\x04" + bytes(4)) * (n // 8)),
    "regions in regions too long": (INIT, lambda n: INIT_HEAD + (b"\xc3" + HUGE[:4] + b"\0") * (n // 6)),
    "errors in many regions": (PUSH, lambda n: b"\x9d\0" + b"\xc2\2\xff\xff" * (n // 4)),
    "lengths in doubt": (BATCH, lambda n: b"\5\0" + bytes.fromhex("9d 00 42 00 01 01 bb 02") * (n // 8)),
    "lengths in doubt, twice": (PUSH, lambda n: b"\x9d\0" + bytes.fromhex("c2 00 01 01 bb") * (n // 5)),
    "forged lengths": (BATCH, lambda n: b"\5\0" + bytes.fromhex("9d 00 42 02 01 7f 02") * (n // 7)),
    "forged lengths of frames": (BATCH, lambda n: bytes.fromhex("05 00 9d 00 42 02 01 7f 02") * (n // 9)),
    "stacks without end": (BATCH, lambda n: b"\5\0" + bytes.fromhex("9d 00 47 04 01 ff ff 03 02") * (n // 9)),
    "empty frames": (BATCH, lambda n: b"\5\0" * (n // 2)),
    "many messages": (BATCH, lambda n: b"\5\0" + b"\x1d\0\2" * (n // 3)),
    "keep alives": (BATCH, lambda n: b"\4" * n),
    "all ones": (BATCH, lambda n: b"\xff" * n),
    "all zeros": (BATCH, lambda n: bytes(n)),
    "overlong integers": (BATCH, lambda n: (b"\5" + b"\x80" * 8 + b"\0") * (n // 10)),
    "locators without length": (SCOUTING_DATAGRAM, lambda n: b"\x22\x09\0\1" + HUGE + bytes(n)),
    "random": (BATCH, lambda n: b"\5\0" + SeededChoices(3).bytes(n)),
}


def operations(entry: Entry, data: bytes) -> int:
    """Lines of the interpreter that run."""
    return executed_lines(lambda: interpret(entry, data), interpreter, lengths, composites, weighing)


@pytest.mark.parametrize("name", ADVERSARIES)
def test_adversary(name: str) -> None:
    entry, make = ADVERSARIES[name]
    data = make(20_000)
    tape = interpret(entry, data)
    check(tape)
    assert len(tape.spans) <= 4 * len(data) + 10
    assert len(tape.remarks) <= 2 * len(data) + 10


@pytest.mark.parametrize("name", ADVERSARIES)
def test_no_batch_of_the_usual_size_is_too_much(name: str) -> None:
    entry, make = ADVERSARIES[name]
    assert "limit" not in {code for code, *_ in interpret(entry, make(DEFAULT_BATCH_SIZE)[:DEFAULT_BATCH_SIZE]).remarks}


@pytest.mark.parametrize("name", ["huge count of slices", "many extensions", "auth chains", "keep alives"])
def test_a_larger_unit_has_a_bound(name: str) -> None:
    """A message of WebSocket, or one that was reassembled, has any size: what it may hold hasn't."""
    entry, make = ADVERSARIES[name]
    data = make(3 * DEFAULT_BATCH_SIZE)
    tape = interpret(entry, data)
    check(tape)
    assert MOST_SPANS < len(tape.spans) <= MOST_SPANS + 100
    assert 1 <= [code for code, *_ in tape.remarks].count("limit") <= 2
    assert sum(stop - start for field, _, start, stop, _ in tape.spans if field is UNDECODED) > DEFAULT_BATCH_SIZE // 2
    assert len(interpret(entry, make(4 * DEFAULT_BATCH_SIZE)).spans) == len(tape.spans)


@pytest.mark.parametrize("name", ADVERSARIES)
def test_twice_the_bytes_take_twice_the_steps(name: str) -> None:
    entry, make = ADVERSARIES[name]
    once, twice = operations(entry, make(1_000)), operations(entry, make(2_000))
    assert twice <= 2.2 * once + 200
    assert once <= 200 * 1_000


def test_remarks_stay_short() -> None:
    """No remark quotes bytes without bound."""
    for entry, make in ADVERSARIES.values():
        assert all(len(text) < 200 for _, _, _, text in interpret(entry, make(2_000)).remarks)
