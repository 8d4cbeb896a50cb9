"""Frames fed in small blocks and one by one, for comparing the items."""

from collections.abc import Iterable, Iterator
from itertools import chain
from random import Random

import pytest

from tests.conversation import Conversation
from tests.messages import push, put, request, response, response_final
from tests.packets import SECOND
from zdissect import fed as ahead
from zdissect.dissection import InTurn, Item
from zdissect.fed import fed_as
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.vector import dissections, frame_blocks
from zdissect.vector.runs import UsualRun


class Blocks:
    """Makes blocks small, and counts the batches that come from runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.usual = 0
        take = dissections.BlockItems.run

        def run(items: dissections.BlockItems, run: UsualRun) -> None:
            self.usual += len(run.batches)
            take(items, run)

        monkeypatch.setattr(dissections.BlockItems, "run", run)
        monkeypatch.setattr(ahead, "WORTH_FRAMES", 1)

    def cut(self, size: int) -> None:
        """Says how many frames the first blocks have."""
        self.monkeypatch.setattr(frame_blocks, "LEAST_FRAMES", size)
        self.monkeypatch.setattr(frame_blocks, "MOST_FRAMES", 3 * size)
        self.monkeypatch.setattr(frame_blocks, "_PIECE", max(1, size // 2))

    def items(
        self, some: list[Frame], size: int, show: dissections.Show[str] | None = None
    ) -> list[Item | InTurn[str]]:
        """All items, fed in blocks; `show` as in `fed`."""
        self.cut(size)
        pipeline = Pipeline(Options())
        return [*chain.from_iterable(items for _, items in fed_as(pipeline, some, show)), *pipeline.close()]


def each(pipeline: Pipeline, some: Iterable[Frame]) -> Iterator[tuple[Frame, list[Item]]]:
    """Feeds frames one by one."""
    for frame in some:
        yield frame, pipeline.feed(frame)


def usual_frames() -> list[Frame]:
    """Messages with and without times, payloads and attachments, KEEP_ALIVEs, and requests between them."""
    made, attached = Conversation().open(), Random(3)
    for number in range(400):
        bodies = [put(attached.randbytes(number % 9)), put(extensions=[{"ext": "attachment", "value": b"%d" % number}])]
        bodies.append(put(timestamp={"time": (made.capture.now_ns // SECOND << 32), "id": b"\x01"}, T=1))
        made.frame(number % 2, *(push(key, body=body) for key, body in zip("abc", bodies, strict=True)))
        if not number % 10:
            made.keep_alive(1)
            made.frame(0, request(number)).frame(1, response(number), response_final(number))
    for _ in range(40):  # what is usual, in runs too short to be any
        made.frame(0, push("a", body=put(timestamp={"time": 1 << 32, "id": b"\x01"}, T=1)))
        made.keep_alive(1).keep_alive(0)
    return made.capture.frames
