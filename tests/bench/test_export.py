"""How fast frames become tables, and tables Parquet. Run with `pytest tests/bench`."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from zdissect.capture import open_capture
from zdissect.dissection import Dissection
from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import decode_sessions
from zdissect.export.inputs import InputFile, Work
from zdissect.export.message_batches import MessageBatches
from zdissect.export.work import convert
from zdissect.pipeline import Pipeline

SAMPLE = Path("samples/query-router.pcap")
TIMES = 20
"""How often its rows, or its file, are taken."""


@pytest.fixture(scope="module")
def items() -> list[Dissection]:
    """Dissections with some thousand messages."""
    pipeline = Pipeline(Settings().options())
    with open_capture(str(SAMPLE)) as capture:
        found = [item for frame in capture for item in pipeline.feed(frame)]
    return [item for item in found if isinstance(item, Dissection)] * TIMES


def to_arrow(items: list[Dissection]) -> pa.RecordBatch:
    """Their rows in Arrow."""
    batches = MessageBatches()
    for item in items:
        batches.feed(item)
    made = batches.take()
    assert made is not None
    return made


def test_rows_to_arrow(benchmark: BenchmarkFixture, items: list[Dissection]) -> None:
    """Messages to a batch, dissection by dissection as decoding gives them."""
    assert benchmark(to_arrow, items).num_rows == 310 * TIMES


def test_arrow_to_parquet(benchmark: BenchmarkFixture, items: list[Dissection], tmp_path: Path) -> None:
    """What pyarrow alone needs, from a table in memory: the least that is possible."""
    table = pa.Table.from_batches([to_arrow(items)])
    benchmark(pq.write_table, table, tmp_path / "messages.parquet", compression="zstd")


def test_frames_to_tables(benchmark: BenchmarkFixture) -> None:
    """Frames to batches of all tables, nothing written."""
    with open_capture(str(SAMPLE)) as capture:
        frames = list(capture)
    tables = benchmark(lambda: dict(decode_sessions(frames)))
    assert tables["messages"].num_rows == 310


def test_captures_to_parquet(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """Everything that a process does: files in, files out."""
    works = [Work(((InputFile(f"{number}.pcap", str(SAMPLE), 0),),)) for number in range(TIMES)]
    places = iter(range(100))
    convert_again = lambda: convert(works, str(tmp_path / str(next(places))), Settings())  # noqa: E731
    done = benchmark.pedantic(convert_again, rounds=3, warmup_rounds=1)
    assert done.rows["messages"] == 310 * TIMES
