"""Batches that are read without a tape."""

from collections.abc import Iterator

import numpy as np

from tests.families import family_member
from tests.generators import SeededChoices
from tests.vector.walking import arena_of, prefixed
from zdissect.engine.encoder import encode
from zdissect.engine.lazy_messages import LazyMessage, LazyTape
from zdissect.grammar.batch import STREAM_PREFIX
from zdissect.grammar.network import PUSH
from zdissect.grammar.transport import FRAME
from zdissect.vector.open_columns import OpenColumns
from zdissect.vector.walk import Walker


def batches(seed: int) -> Iterator[bytes]:
    """Batches of families: FRAMEs with PUSHes that differ in what changes from message to message."""
    source = SeededChoices(seed)
    for turn in range(200):
        members = [family_member(PUSH, seed * 100 + turn % 20 + place, source) for place in range(turn % 4)]
        frame = family_member(FRAME, turn % 5, source) | {"messages": members}
        yield prefixed(b"".join(encode(FRAME, frame) for _ in range(1 + turn % 2)))


def without_tape(walker: Walker, data: bytes) -> tuple[LazyTape, list[LazyMessage]] | None:
    """The tape and the messages of a batch; None if it isn't read on arrays."""
    walked = walker.walk(*arena_of([data]))
    if not walked.plain.all():
        return None
    tape, cells = LazyTape(data, STREAM_PREFIX), OpenColumns(walked, np.arange(len(walked.batch))).cells()
    return tape, [LazyMessage(tape, number, cell) for number, cell in enumerate(cells)]
