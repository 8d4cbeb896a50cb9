"""What groups show, put together in the order of the capture, as their processes send it.

A passage is given when no group can have one before it any more. What comes too early is kept, up to a limit; then the
process that sends it has to wait, until the others have come so far.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from zdissect.dissection import Rank
from zdissect.parallel.blocks import FOLLOWS, PASSAGE, Block, Passage, receive
from zdissect.parallel.group_frames import UnsoundSplit

MOST_KEPT = 128 << 20
"""Bytes of memory that all blocks may take which can't be passed on yet."""
_EVERY_S = 0.25
_BEFORE = (-1, -1)
"""A rank before all others."""

Place = tuple[int, Rank]


class Source:
    """The blocks that one process has sent, and that weren't passed on yet."""

    def __init__(self, connection: "Connection[Any, Any]") -> None:
        self.connection = connection
        self.blocks: deque[Block] = deque()
        """Those that have passages left."""
        self.passage = self.start = 0
        """Number of the next passage in the first of them, and where its text starts."""
        self.size = 0
        """Bytes of memory that they take."""
        self.until = 0
        self.position = 0
        self.result: Any = None

    def take(self, block: Block) -> None:
        """Takes the next block."""
        if block.passages:
            self.blocks.append(block)
            self.size += _memory(block)
        self.until, self.position, self.result = block.until, block.position, block.result

    @property
    def ended(self) -> bool:
        """Whether no block is to come."""
        return self.result is not None

    @property
    def next(self) -> Place:
        """Where the next passage is, or may be if it hasn't come yet."""
        return self.blocks[0].passages[self.passage][:2] if self.blocks else (self.until, _BEFORE)

    def pop(self) -> tuple[Passage, bytes | memoryview]:
        """The next passage, and its text."""
        block = self.blocks[0]
        passage, start = block.passages[self.passage], self.start
        self.passage += 1
        self.start += passage.size
        if self.passage == len(block.passages):
            self.blocks.popleft()
            self.passage = self.start = 0
            self.size -= _memory(block)
        return passage, block.text[start : start + passage.size]


class Merger:
    """Puts the passages of several processes together."""

    def __init__(self, connections: "list[Connection[Any, Any]]", most: int = MOST_KEPT) -> None:
        self.sources = [Source(connection) for connection in connections]
        self.most = most // len(connections)
        """Bytes of memory that the blocks of one process may take."""
        self.owners: dict[frozenset[str | None], Source] = {}
        """Where the sessions of each pair of nodes are."""
        self.last: Source | None = None

    def passages(self, progress: Callable[[int, int], None]) -> Iterator[tuple[bytes | memoryview, tuple[Any, ...]]]:
        """(text, what goes with it) of all passages in order. Raises UnsoundSplit where it can't go on; what it gave
        before is right.

        Args:
            progress: Told now and then how many bytes of the file, and frames, have been read by all.
        """
        waiting = [(source.next, number) for number, source in enumerate(self.sources)]
        while waiting:
            _, number = heapq.heappop(waiting)
            source = self.sources[number]
            limit = waiting[0][0] if waiting else _END
            if not source.blocks and not source.ended:
                self.receive(source, progress)
            while source.blocks and source.next < limit:
                yield self.given(source)
            if source.blocks and source.next == limit:
                raise UnsoundSplit("two groups show something, and it isn't known which comes first")
            if source.blocks or not source.ended:
                heapq.heappush(waiting, (source.next, number))

    def given(self, source: Source) -> tuple[bytes | memoryview, tuple[Any, ...]]:
        """The next passage of a process."""
        passage, text = source.pop()
        if passage.lead == FOLLOWS:
            if source is not self.last:
                raise UnsoundSplit("a text that another one came before")
        elif passage.lead and source is self.last:
            text = text[passage.lead :]
        if passage.size:
            self.last = source
        return text, passage.told

    def receive(self, needed: Source, progress: Callable[[int, int], None]) -> None:
        """Waits for the next block of a process, and takes those of others, if they don't take too much memory."""
        before = needed.until
        while needed.until == before and not needed.ended:
            open_ = {one.connection: one for one in self.sources if not one.ended}
            taken = [connection for connection, one in open_.items() if one is needed or one.size < self.most]
            for connection in wait(taken, _EVERY_S):
                self.take(open_[connection])  # type: ignore[index]
            last = min(self.sources, key=lambda source: source.until)
            progress(last.position, last.until)

    def take(self, source: Source) -> None:
        """Takes a block."""
        try:
            block = receive(source.connection)
        except (EOFError, OSError) as problem:
            raise UnsoundSplit("a process died") from problem
        for pair in block.pairs:
            if self.owners.setdefault(pair, source) is not source:
                raise UnsoundSplit("two groups have a session of the same nodes")
        source.take(block)


def _memory(block: Block) -> int:
    return len(block.text) + PASSAGE * len(block.passages)


_END: Place = (1 << 62, _BEFORE)
"""After all passages."""
