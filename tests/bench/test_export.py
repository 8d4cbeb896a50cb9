"""How fast frames become tables, and tables Parquet. Run with `pytest tests/bench`."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from zdissect.capture import open_capture
from zdissect.dissection import Dissection
from zdissect.export.arrow import Batches
from zdissect.export.decoding import Settings, decode_sessions
from zdissect.export.files import Source, Work
from zdissect.export.work import convert
from zdissect.pipeline import Pipeline
from zdissect.table import Table

SAMPLE = Path("samples/query-router.pcap")
TIMES = 20
"""How often its rows, or its file, are taken."""


@pytest.fixture(scope="module")
def rows() -> list[dict[str, object]]:
    """Some thousand rows of messages."""
    pipeline, table = Pipeline(Settings().options()), Table()
    with open_capture(str(SAMPLE)) as capture:
        items = [item for frame in capture for item in pipeline.feed(frame)]
    return [row for item in items if isinstance(item, Dissection) for row in table.rows(item)] * TIMES


@pytest.fixture(scope="module")
def batch(rows: list[dict[str, object]]) -> pa.RecordBatch:
    """These rows in Arrow."""
    batches = Batches("messages")
    batches.add(rows)
    made = batches.take()
    assert made is not None
    return made


def test_rows_to_arrow(benchmark: BenchmarkFixture, rows: list[dict[str, object]]) -> None:
    """Dicts to a batch, some hundred at a time as decoding gives them."""

    def run() -> int:
        batches = Batches("messages")
        for start in range(0, len(rows), 100):
            batches.add(rows[start : start + 100])
        made = batches.take()
        assert made is not None
        return int(made.num_rows)

    assert benchmark(run) == len(rows)


def test_arrow_to_parquet(benchmark: BenchmarkFixture, batch: pa.RecordBatch, tmp_path: Path) -> None:
    """What pyarrow alone needs, from a table in memory: the least that is possible."""
    table = pa.Table.from_batches([batch])
    benchmark(pq.write_table, table, tmp_path / "messages.parquet", compression="zstd")


def test_frames_to_tables(benchmark: BenchmarkFixture) -> None:
    """Frames to batches of all tables, nothing written."""
    with open_capture(str(SAMPLE)) as capture:
        frames = list(capture)
    tables = benchmark(lambda: dict(decode_sessions(frames)))
    assert tables["messages"].num_rows == 310


def test_captures_to_parquet(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """Everything that a process does: files in, files out."""
    works = [Work(((Source(f"{number}.pcap", str(SAMPLE), 0),),)) for number in range(TIMES)]
    done = benchmark.pedantic(convert, (works, str(tmp_path), Settings()), rounds=3, warmup_rounds=1)
    assert done.rows["messages"] == 310 * TIMES
