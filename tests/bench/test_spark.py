"""What Spark's workers do besides what processes do, without Spark: how frames are brought to many groups."""

from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

SAMPLES = Path(__file__).parents[2] / "samples"


def captures() -> list:
    from zdissect.export.inputs import find, plan

    return plan(find(str(SAMPLES)))


def test_first_look(benchmark):
    """What comes before a large capture is split."""
    from zdissect.export.conversion_settings import Settings
    from zdissect.export.work import look

    assert any(benchmark(lambda: [look(one, Settings(), 4).split for one in captures()]))


def test_reading(benchmark):
    """A survey, and frames to Arrow, with the notes for groups."""
    from zdissect.export.conversion_settings import Settings
    from zdissect.export.work import look
    from zdissect.spark import frames, plan, split_captures
    from zdissect.spark.ranges import survey

    splits = [(one, look(one, Settings(), 4).split) for one in captures()]

    def read() -> int:
        rows = 0
        for one, split in splits:
            placed = plan.placed(one, map(survey, one.inputs))
            for task in plan.tasks([placed]):
                rows += sum(batch.num_rows for batch in frames.read(task, True, split_captures.load(split)))
        return rows

    assert benchmark(read) > 1000
