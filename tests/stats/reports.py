"""Reads a capture into a report, as the command does."""

from collections.abc import Iterable
from pathlib import Path

from tests.captures.expectations import frames_of
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.stats import Stats

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"
SHARED = ROOT.parent / "shared" / "captures"


def report(*paths: Path) -> dict:
    """The report of these files, as far as they can be read."""
    return report_of(frames_of(paths))


def report_of(frames: Iterable[Frame]) -> dict:
    """The report of these frames."""
    pipeline, stats = Pipeline(Options(history=True)), Stats()
    for frame in frames:
        stats.frame(frame)
        for item in pipeline.feed(frame):
            stats.feed(item)
    for item in pipeline.close():
        stats.feed(item)
    return stats.finish(pipeline)


def captures() -> list[Path]:
    """The samples and, where they are, the shared captures."""
    found = [*SAMPLES.iterdir(), *(SHARED.iterdir() if SHARED.is_dir() else ())]
    return sorted(path for path in found if path.name.endswith((".pcap", ".pcapng", ".pcap.gz")))
