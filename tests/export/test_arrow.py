"""Rows to Arrow."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from zdissect.export.arrow import CHUNK, Batches, array, timestamps
from zdissect.export.schema import schema
from zdissect.grammar.columns import timestamp_us

EXTENSION = {"id": 1, "encoding": "Z64", "mandatory": True, "name": None, "length": 1, "value": b"\x05"}


def _batch(*rows):
    batches = Batches("messages")
    batches.add(rows)
    return batches.take()


def _column(name, *values):
    return _batch(*({name: value} for value in values)).column(name).to_pylist()


def test_what_a_row_does_not_have_is_null():
    batch = _batch({"sn": 1}, {"message": "PUSH"})
    assert batch.schema.equals(schema("messages"))
    assert batch.to_pylist() == [
        dict.fromkeys(schema("messages").names) | {"sn": 1},
        dict.fromkeys(schema("messages").names) | {"message": "PUSH"},
    ]


def test_nothing_gives_no_batch():
    assert Batches("messages").take() is None


def test_numbers_of_64_bits_keep_their_bits():
    assert _column("sn", (1 << 64) - 1, 1 << 63, (1 << 63) - 1, 0) == [-1, -1 << 63, (1 << 63) - 1, 0]
    assert _column("lease_ms", ((1 << 64) - 1) * 1000, 1000) == [-1, 1000]


def test_numbers_that_do_not_fit_are_null():
    assert _column("ts_ns", 1 << 63, (1 << 63) - 1, -1 << 63, (-1 << 63) - 1) == [None, (1 << 63) - 1, -1 << 63, None]
    assert _column("src_port", 1 << 31, 7447) == [None, 7447]


def test_times_that_nobody_can_show_are_null():
    years = _column("ts", 253_402_300_799_999_999, 253_402_300_800_000_000, -62_135_596_800_000_001, 0, None)
    assert [year and year.year for year in years] == [9999, None, None, 1970, None]
    assert _column("ts", 1 << 70, 0)[0] is None


def test_text_that_is_not_utf8_is_escaped():
    assert _column("key_suffix", b"a\xff\xc3".decode(errors="surrogateescape"), "é") == ["a\\xff\\xc3", "é"]


def test_lists():
    assert _column("fragments", None, [1, 2], []) == [None, [1, 2], []]
    assert _column("extensions", [EXTENSION, EXTENSION | {"id": 2}], None, []) == [
        [EXTENSION, EXTENSION | {"id": 2}], None, [],
    ]  # fmt: skip


@given(
    st.lists(
        st.fixed_dictionaries(
            {"message": st.sampled_from(["PUSH", "FRAME"])},
            optional={
                "sn": st.integers(0, 1 << 32),
                "express": st.booleans(),
                "payload": st.binary(max_size=3),
                "locators": st.lists(st.text(max_size=3), max_size=2),
                "extensions": st.lists(st.just(EXTENSION), max_size=2),
            },
        ),
        max_size=20,
    ),
    st.integers(1, 30),
)
@settings(max_examples=50)
def test_batches_hold_all_rows_in_order(some, times):
    """However often rows are turned, and whenever a column is seen for the first time."""
    batches = Batches("messages", limit=100)
    out = []
    for _ in range(times):
        if batches.add(some):
            out += [batches.take()]
    assert batches.total == len(some) * times
    out += [batch for batch in [batches.take()] if batch is not None]
    got = [row for batch in out for row in batch.to_pylist()]
    plain = pa.Table.from_pylist(some * times, schema=schema("messages")).to_pylist()
    assert got == plain


def test_a_batch_is_full_by_rows():
    batches = Batches("messages", limit=CHUNK + 1)
    assert not batches.add([{"sn": 1}] * CHUNK)
    assert batches.add([{"sn": 1}] * CHUNK)
    batches.take()
    assert not batches.add([{"sn": 1}])


@given(st.lists(st.none() | st.integers(0, (1 << 64) - 1), max_size=30))
def test_timestamps_are_those_of_rows(stamps):
    wanted = [None if stamp is None else timestamp_us(stamp) for stamp in stamps]
    assert timestamps(array(stamps, pa.int64())).cast(pa.int64()).to_pylist() == wanted
