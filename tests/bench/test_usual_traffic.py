"""What usual traffic costs beyond decoding it, as ratios within one run. Run with `pytest tests/bench`."""

from collections.abc import Callable, Iterable
from time import process_time

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.conversation import Conversation
from tests.messages import push, put
from tests.packets import SECOND
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.stats import Stats

START_NS = 1_700_000_000 * SECOND
FRAMES = 600
RUNS = 3


def traffic(late_s: int) -> list[Frame]:
    """FRAMEs of four samples each, by a sender whose clock is late."""
    conversation = Conversation().open()
    for number in range(FRAMES):
        time = (START_NS // SECOND - late_s << 32) + number * 1000
        body = put(T=1, timestamp={"time": time, "id": b"\x01\xaa"})
        conversation.frame(0, *[push(0, f"demo/{key}", body=body) for key in range(4)])
    return conversation.capture.frames


def dissected(frames: Iterable[Frame]) -> int:
    """Only dissects; how many findings there are."""
    pipeline = Pipeline(Options())
    return sum(len(item.tape.remarks) for frame in frames for item in pipeline.feed(frame))


def counted(frames: Iterable[Frame]) -> int:
    """Also makes statistics."""
    pipeline, stats = Pipeline(Options()), Stats()
    for frame in frames:
        stats.frame(frame)
        for item in pipeline.feed(frame):
            stats.feed(item)
    return sum(one["count"] for one in stats.finish(pipeline)["messages"])


def shown(frames: Iterable[Frame], display: DisplayOptions) -> int:
    """Also makes text; how many characters."""
    pipeline, form = Pipeline(Options()), make_form(display)
    return sum(len(form.show(item)) for frame in frames for item in pipeline.feed(frame))


def ratio(first: Callable[[], int], second: Callable[[], int]) -> float:
    """How many times the second takes the time of the first: the least of some runs, which take turns."""
    times: tuple[list[float], list[float]] = [], []
    for _ in range(RUNS):
        for run, took in zip((first, second), times, strict=True):
            began = process_time()
            assert run() >= 0
            took.append(process_time() - began)
    return min(times[1]) / min(times[0])


def test_a_finding_on_each_sample() -> None:
    """1.9; with a tape for the place of each it was 3.7."""
    right, wrong = traffic(0), traffic(7300)
    assert (dissected(right), dissected(wrong)) == (0, 4 * FRAMES)
    assert ratio(lambda: dissected(right), lambda: dissected(wrong)) < 2.8


def test_statistics() -> None:
    """1.4; with a row for each message it was 1.85."""
    frames = traffic(0)
    assert counted(frames) > 5 * FRAMES
    assert ratio(lambda: dissected(frames), lambda: counted(frames)) < 1.7


FIELDS = ("frame_number,ts,key_expr,payload_len,encoding,sn",)
FORMS = {
    "line": (DisplayOptions("line", color="never"), 1.9),
    "long": (DisplayOptions("line", color="never", long=True), 1.8),
    "fields": (DisplayOptions("fields", names=FIELDS), 2.1),
    "csv": (DisplayOptions("csv"), 2.8),
    "tree": (DisplayOptions("tree"), 3.2),
}
"""Forms of output, and how many times the time of dissecting they may take."""


@pytest.mark.parametrize(("display", "most"), FORMS.values(), ids=FORMS)
def test_lines(display: DisplayOptions, most: float) -> None:
    """1.6, 1.4, 1.45, 2.2 and 2.6; with a row (a tree: a tape) for each message it was 2.25, 2.2, 2.9, 3.2 and 5.2."""
    frames = traffic(0)
    assert shown(frames, display) > 100 * FRAMES
    assert ratio(lambda: dissected(frames), lambda: shown(frames, display)) < most
