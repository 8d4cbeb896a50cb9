"""The engine rule: a compiled function gives the interpreter's rows, or declines."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.generators import SeededChoices, ValueGenerator, mutate
from tests.strategies import encoded
from zdissect.capture import open_capture
from zdissect.engine import compiler, vle
from zdissect.engine.encoder import encode
from zdissect.engine.interpreter import interpret
from zdissect.engine.lazy_messages import lazy_messages
from zdissect.engine.messages import Row, messages
from zdissect.grammar.batch import BATCH
from zdissect.grammar.network import DECLARE
from zdissect.grammar.transport import FRAME
from zdissect.pipeline import Options, dissect

SAMPLES = Path(__file__).parents[2] / "samples"
READER = compiler.CompiledReader()
PUSH = bytes.fromhex("25b1b1a70f 7d02042f722f62 e1 b0b6b8d1dafffb846b 09a8a7a6a5a4a3a2a1a0 0907 4303617474 0474657874")


def batch_rows(data: bytes, prefix: int = 0) -> list[Row] | None:
    """The compiled rows of a batch; None if it is declined."""
    cells = READER.batch(data, prefix)
    if cells is None:
        return None
    return [one[0].complete(one) if isinstance(one, tuple) else one for one in cells]


def same(data: bytes, prefix: int = 0) -> bool:
    """Whether the compiled rows are the interpreter's; True also where it declines. Says if it did not decline."""
    rows = batch_rows(data, prefix)
    if rows is None:
        return False
    tape = interpret(BATCH, data, prefix=prefix)
    assert rows == [message.row for message in messages(tape)]
    assert not tape.remarks, "what is a finding isn't plain"
    return True


@given(encoded())
def test_generated(one) -> None:
    if one.entry is BATCH and not one.inputs.get("compression") and not one.inputs.get("low_latency"):
        same(one.data, one.inputs.get("prefix", 0))


def seeded(seed: int, clean: bool) -> bytes:
    """A batch with a FRAME of a few messages."""
    maker = ValueGenerator(SeededChoices(seed), clean)
    return b"".join(encode(FRAME, maker.entry(FRAME, {})) for _ in range(1 + seed % 3))


@pytest.mark.parametrize("block", range(20))
def test_frames_and_their_mutations(block: int) -> None:
    """Thousands of FRAMEs, whole and with bytes changed, cut or put in."""
    plain = 0
    for seed in range(block * 60, block * 60 + 60):
        data = seeded(seed, clean=seed % 4 > 0)
        plain += same(data)
        source = SeededChoices(seed)
        for _ in range(5):
            data = mutate(source, data)
            same(data)
    assert plain, "it must not decline everything"


@pytest.mark.parametrize(
    "data",
    [
        # a schema that runs past its extension, an extension without the encoding that it must have
        "25a2ebc151 bc0a01022f78 a10d268827 a303 c31409157574662d387175657279207061796c6f6164 45107175657279",
        "25a2ebc151 bc0a01022f78 a10d268827 a303 c300 4501 71",
    ],
)
def test_what_runs_past_its_region_is_declined(data: str) -> None:
    assert not same(bytes.fromhex(data))


@pytest.mark.parametrize("name", ["query-router.pcap", "pubsub-tcp.pcap", "pico-clients.pcap"])
def test_mutated_captures(name: str) -> None:
    """Plain batches with a few bytes changed: the nearest to what is compiled, and so the hardest."""
    with open_capture(str(SAMPLES / name)) as capture:
        batches = {item.buffer.data[2:] for item in dissect(capture) if hasattr(item, "buffer")}
    plain = sum(same(mutate(SeededChoices(seed), data)) for data in sorted(batches) for seed in range(12))
    assert plain


@given(st.binary(max_size=60))
def test_any_bytes(noise: bytes) -> None:
    same(noise)
    same(PUSH[:5] + noise)


@given(st.integers(7, 63), st.integers(0, 63), st.sampled_from((16, 32, 64)), st.integers(0, 8), st.binary(max_size=3))
def test_integers_of_two_bytes_or_more(top: int, low: int, width: int, padding: int, behind: bytes) -> None:
    """In their shortest form and within their width they are read; in any other, or cut off, they are left."""
    value = 1 << top | (1 << low) - 1 & (1 << top) - 1
    data = vle.encode(value)
    longer = padding and len(data) + padding <= 9
    if longer:
        data = data[:-1] + bytes((data[-1] | 128,)) + b"\x80" * (padding - 1) + b"\0"
    limit = (1 << width) - 1
    if longer or value > limit:
        with pytest.raises(compiler.Decline):
            compiler.long_vle(data + behind, 0, len(data + behind), limit)
    else:
        assert compiler.long_vle(data + behind, 0, len(data + behind), limit) == (value, len(data))
    with pytest.raises(compiler.Decline):
        compiler.long_vle(data, 0, len(data) - 1, limit)


def test_a_message_cut_at_any_byte_is_declined() -> None:
    data = bytes.fromhex("25b1b1a70f 5d 01 01 08 6d696464") + bytes(4)
    assert same(data)
    # behind the FRAME's own fields an empty FRAME is whole; any more and a message is cut
    assert [size for size in range(1, len(data)) if same(data[:size])] == [5]


@pytest.mark.parametrize("name", sorted(json.loads((SAMPLES / "expected.json").read_text())))
def test_captures(name: str) -> None:
    """Rows and findings of real captures don't depend on how they are read."""
    assert rows_of(name, Options(rows=True)) == rows_of(name, Options())


def rows_of(name: str, options: Options) -> list[Row]:
    with open_capture(str(SAMPLES / name)) as capture:
        items = dissect(capture, options)
        return [message.row for item in items for message in getattr(item, "messages", [])]


def test_what_traffic_consists_of_is_not_declined() -> None:
    rows = rows_of("declared-keys-router.pcap", Options(rows=True))
    pushes = [row for row in rows if row["message"] == "PUSH"]
    assert len(pushes) > 5
    with open_capture(str(SAMPLES / "declared-keys-router.pcap")) as capture:
        lazy = [
            item
            for item in dissect(capture, Options(rows=True))
            if type(getattr(item, "tape", None)).__name__ == "LazyTape"
        ]
    assert sum(len(item.messages) for item in lazy) > len(pushes)


def test_a_message_read_without_a_tape_gets_one_when_it_is_asked_for() -> None:
    data = bytes.fromhex("25b1b1a70f 5d 01 01 02 6d69 5d 03 01 01 7a")
    cells = compiler.CompiledReader().batch(data)
    assert cells is not None
    tape, (frame, first, second) = lazy_messages(data, 0, cells)
    assert first.value("put.payload") == b"mi"
    assert second.value("put.payload") == b"z"
    assert frame.value("frame.sn") == 32102577
    second.remark("unknown-scope", "not declared", "push.scope")
    assert tape.remarks == [("unknown-scope", 12, 13, "not declared")]


def test_the_source_is_readable_and_shown() -> None:
    source = compiler.source_of("push")
    assert source.startswith("def skim_push(data, pos, stop):\n")
    assert "def read_push(data, pos, stop):\n" in source
    assert "row['key_suffix'] = value" in source
    with pytest.raises(KeyError):
        compiler.source_of("declare")
    assert DECLARE not in compiler.COMPILED


def test_a_traceback_shows_generated_lines() -> None:
    import linecache

    compiler.function(compiler.PUSH)
    assert linecache.getline("<zdissect PUSH>", 1) == "def read_push(data, pos, stop):\n"
