"""What Spark's workers do, without Spark: a survey, frames to Arrow, and these to tables."""

from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

SAMPLES = Path(__file__).parents[2] / "samples"


def batches() -> list:
    from zdissect.export.inputs import find
    from zdissect.spark import frames, plan
    from zdissect.spark.ranges import survey

    planned = plan.captures(survey(source) for source in find(str(SAMPLES)))
    return [batch for task in plan.tasks(planned) for batch in frames.read(task, internal=True)]


def test_reading(benchmark):
    assert sum(batch.num_rows for batch in benchmark(batches)) > 1000


def test_decoding(benchmark):
    from zdissect.export.conversion_settings import Settings
    from zdissect.spark.worker import decoder

    given = batches()
    decode = decoder(Settings(batch_rows=4096))
    assert sum(batch.num_rows for batch in benchmark(lambda: list(decode(given)))) > 1000


def test_first_look(benchmark):
    """What comes before a large capture is split."""
    from zdissect.export.conversion_settings import Settings
    from zdissect.export.inputs import find
    from zdissect.spark import plan, split_captures
    from zdissect.spark.ranges import survey

    captures = plan.captures(survey(source) for source in find(str(SAMPLES)))
    assert any(benchmark(lambda: [split_captures.look(one, Settings(), 4) for one in captures]))
