"""Messages to Arrow: the rows of the table, whenever they are taken."""

import json
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from tests.captures.expectations import SAMPLES, frames_of
from tests.export.tables import held
from tests.in_blocks import dissections
from tests.random_traffic import random_conversation
from zdissect.dissection import Dissection
from zdissect.export.message_batches import MessageBatches
from zdissect.export.schema import schema
from zdissect.pipeline import dissect
from zdissect.records import Frame
from zdissect.table import Table, complete

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAMES = sorted(json.loads((SAMPLES / "expected.json").read_text()))


def dissected(frames: list[Frame]) -> list[Dissection]:
    return dissections(dissect(frames))


def taken(items: list[Dissection], *limits: int, payload: int | None = None) -> list[dict[str, object]]:
    messages = MessageBatches(*limits, payload=payload)
    out = [messages.take() for item in items if messages.feed(item)]
    return [row for batch in [*out, messages.take()] if batch is not None for row in batch.to_pylist()]


def plain(items: list[Dissection]) -> list[dict[str, object]]:
    """The rows as the table has them. Times come out of Arrow as numbers here."""
    table = Table()
    return [held(complete(row)) for item in items for row in table.rows(item)]


def numbers(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    out = []
    for row in rows:
        own = {
            name: (row[name] - EPOCH) // timedelta(microseconds=1)
            for name in ("ts", "timestamp")
            if row[name] is not None
        }
        out.append(row | own)
    return out


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_the_table(name: str) -> None:
    frames = list(frames_of([SAMPLES / name]))
    wanted = plain(dissected(frames))
    assert wanted
    for limits in ((8192,), (1,), (300, 400)):
        assert numbers(taken(dissected(frames), *limits)) == wanted


@pytest.mark.parametrize("block", range(3))
def test_rows_of_messages_that_are_alike(block: int) -> None:
    """However many make a batch."""
    for seed in range(100 + block * 6, 106 + block * 6):
        random, frames = Random(seed), random_conversation(seed).capture.frames
        items = dissected(frames)
        limits = random.choice(((8192,), (random.randint(1, 400), random.randint(1, 4000))))
        assert numbers(taken(items, *limits)) == plain(dissected(frames))


@pytest.mark.parametrize(("keep", "sizes"), [(None, {14, 15}), (2, {2}), (0, {0}), (-1, set())])
def test_payloads_are_cut(keep: int | None, sizes: set[int]) -> None:
    rows = [row for row in taken(dissected(list(frames_of([SAMPLES / "pubsub-tcp.pcap"]))), payload=keep)
            if row["body"] == "PUT"]  # fmt: skip
    assert {len(row["payload"]) for row in rows if row["payload"] is not None} == sizes
    assert {row["payload_len"] for row in rows} == {14, 15}


def test_a_batch_is_full_by_rows_or_by_bytes() -> None:
    item = next(item for item in dissected(list(frames_of([SAMPLES / "pubsub-tcp.pcap"]))) if item.messages)
    count, size = len(item.messages), len(item.buffer.data)
    assert MessageBatches(limit=count).feed(item)
    assert not MessageBatches(limit=count + 1).feed(item)
    assert MessageBatches(limit=1000, most=size).feed(item)
    assert not MessageBatches(limit=1000, most=size + 1).feed(item)


def test_no_messages_give_no_batch() -> None:
    assert MessageBatches().take() is None
    assert taken([]) == []
    assert MessageBatches().schema.equals(schema("messages"))
