"""Walks batches on arrays and compares what comes of it with the interpreter's rows."""

from itertools import islice
from typing import NamedTuple

import numpy as np

from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import Row, messages
from zdissect.grammar.batch import BATCH, STREAM_PREFIX
from zdissect.vector.arrays import PADDING, Bytes, Ints, Walked
from zdissect.vector.lockstep import READ
from zdissect.vector.open_columns import OpenColumns
from zdissect.vector.walk import Walker

_NAMES = {message.name for message in READ}


class Seen(NamedTuple):
    """What became of some batches."""

    plain: list[bool]
    """For each, whether it was read on arrays; if so, its rows were right."""
    readable: list[bool]
    """Whether it holds nothing but messages that are read on arrays, without any remark: see `is_usual`."""
    walked: Walked

    @property
    def missed(self) -> int:
        """How many of the readable ones weren't read."""
        return sum(readable and not plain for plain, readable in zip(self.plain, self.readable, strict=True))


def prefixed(content: bytes) -> bytes:
    """A batch as on a stream."""
    return len(content).to_bytes(STREAM_PREFIX, "little") + content


def arena_of(batches: list[bytes], prefix: int = STREAM_PREFIX) -> tuple[Bytes, Ints, Ints, Ints]:
    """An arena with these batches; the size of the length prefix of each, and where each begins and ends."""
    sizes = np.array([len(one) for one in batches], dtype=np.int64)
    stop = np.cumsum(sizes)
    arena = np.frombuffer(b"".join(batches) + bytes(PADDING), dtype=np.uint8)
    return arena, np.full(len(batches), prefix), stop - sizes, stop


def rows_of(walked: Walked) -> list[list[Row]]:
    """The rows of each batch, from templates and cells."""
    edges = np.searchsorted(walked.batch, np.arange(len(walked.origin) + 1))
    cells = OpenColumns(walked, np.arange(len(walked.batch))).cells()
    return [[cell[0].complete(cell) for cell in islice(cells, count)] for count in np.diff(edges).tolist()]


def is_usual(row: Row) -> bool:
    """Whether a message is of those that are read on arrays: without shared memory, and nothing is there twice."""
    names = [one["name"] for one in row.get("extensions", ())]
    twice = len(set(names)) < len(names) or {"attachment", "pico_attachment"} <= set(names)
    return row["message"] in _NAMES and not twice and not {"shm", "body_shm"} & set(names)


def seen(walker: Walker, batches: list[bytes], prefix: int = STREAM_PREFIX) -> Seen:
    """Walks batches; each must be declined, or give the interpreter's rows."""
    walked = walker.walk(*arena_of(batches, prefix))
    readable = []
    for data, plain, rows in zip(batches, walked.plain.tolist(), rows_of(walked), strict=True):
        tape = interpret(BATCH, data, prefix=prefix)
        wanted = [message.row for message in messages(tape)]
        readable.append(not tape.remarks and all(is_usual(row) for row in wanted))
        if plain:
            assert rows == wanted, data.hex()
            assert not tape.remarks, f"what is a finding isn't plain: {data.hex()}"
        else:
            assert not rows, "no message is of a batch that was declined"
    return Seen(walked.plain.tolist(), readable, walked)
