"""The UDP datagrams of a block that simply continue a session: what `flow.datagrams` does for those, on arrays.

A conversation is plain up to its first datagram that may open a session or be a copy, or whose headers aren't plain.
This one, and all after it in the block, are left to the scalar way.
"""

from typing import NamedTuple

import numpy as np

from zdissect.engine.tape import Buffer
from zdissect.flow.captured_twice import MOST_RECENT, WINDOW_NS, Key
from zdissect.flow.datagram_conversation import CONVERSATION_BYTES, OPENING, WAITING_BYTES, DatagramConversation
from zdissect.flow.datagrams import buffer_of
from zdissect.flow.framing import DATAGRAM
from zdissect.flow.verdict import Verdict
from zdissect.grammar.flags import ID_BITS
from zdissect.pipeline import Pipeline
from zdissect.records import Datagram
from zdissect.vector.arrays import Bools, DatagramWay, FrameBlock, Ints
from zdissect.vector.block_headers import Headers, endpoints
from zdissect.vector.segments import OddPackets

_RECENT_NS = 2 * WINDOW_NS
"""Time before the end of the plain datagrams in which those were sent to which copies may follow..."""
_MOST_REMEMBERED = MOST_RECENT // 2
"""... and most of these; if there are more, no datagram of the block is plain. So many of the last ones are remembered
in any case: where captures were put together, time may go back."""
_OPENS: Bools = np.isin(np.arange(256) & ID_BITS, OPENING)
"""Whether a datagram with this first byte may open a session."""


class PlainDatagrams(NamedTuple):
    """Plain datagrams, an entry each, in the order of the capture."""

    entry: Ints
    """Index in `Headers.datagrams`."""
    frame: Ints
    """Index in the block."""
    way: Ints
    """Index in `BlockDatagrams.ways`."""
    start: Ints
    """Where the payload is in `Headers.data`."""
    stop: Ints

    def only(self, which: Bools) -> "PlainDatagrams":
        """Some of them."""
        return PlainDatagrams(*(column[which] for column in self))


class BlockDatagrams:
    """The datagrams of a block whose conversations begin it in a plain state.

    Args:
        pipeline: Its state, before the block.
        block: The frames.
        headers: Their headers.
        odd: Those that aren't plain.
    """

    def __init__(self, pipeline: Pipeline, block: FrameBlock, headers: Headers, odd: OddPackets) -> None:
        self.datagrams, self.block, self.headers = pipeline.datagrams, block, headers
        self.ways: list[DatagramWay] = []
        """Both directions of each: number 2 n is direction 0 of the n-th conversation."""
        self.numbers: dict[DatagramConversation, int] = {}
        """By conversation: its number."""
        taken = self._known()
        self.stop = np.full(len(self.numbers), len(block.frames))
        """By conversation: the frame from which on it isn't plain."""
        left = ~self._continues(taken) | self._repeated(taken)
        np.minimum.at(self.stop, taken.way[left] >> 1, taken.frame[left])
        for frame, packet in odd if self.numbers else ():
            conversation = self.datagrams.existing(packet.src, packet.dst) if isinstance(packet, Datagram) else None
            if conversation in self.numbers:
                number = self.numbers[conversation]
                self.stop[number] = min(self.stop[number], frame)
        self.taken = taken.only(taken.frame < self.stop[taken.way >> 1])
        recent = self._recent()
        if self._crowded() or np.count_nonzero(recent) > _MOST_REMEMBERED:
            self.taken = taken.only(np.zeros(len(taken.way), np.bool_))
            recent = recent[:0]
        recent[-_MOST_REMEMBERED:] = True
        self.remembered: list[int] = np.flatnonzero(recent).tolist()
        """The indices of those that are remembered."""

    def go_on(self) -> int:
        """Takes conversations past the plain datagrams; returns how many bytes these have."""
        taken, frames, many = self.taken, self.block.frames, len(self.numbers)
        last = np.full(many, -1)
        last[taken.way >> 1] = taken.frame  # of several, the last one stays
        size = np.bincount(taken.way >> 1, taken.stop - taken.start, many).astype(np.int64)
        for conversation, frame, own in zip(self.numbers, last.tolist(), size.tolist(), strict=True):
            if frame >= 0:
                conversation.heard_ns = frames[frame].now_ns
                conversation.flow.size += own
        for index in self.remembered:
            datagram, found = self.datagram(index), self.headers.datagrams
            header = slice(int(self.headers.start[taken.frame[index]]), int(found.packet[taken.entry[index]]))
            self.datagrams.copies.remember(self._key(taken, index), datagram, self.headers.data[header])
        return int(size.sum())

    def datagram(self, index: int) -> Datagram:
        """One of those taken, as the decoder gives it."""
        taken, place = self.taken, int(self.taken.frame[index])
        frame, (src, dst, _, payload) = self.block.frames[place], self._key(taken, index)
        offset = int(taken.start[index] - self.headers.start[place])
        return Datagram(frame, src, dst, payload, 0, offset, (frame.number,))

    def buffer(self, start: int) -> tuple[Buffer, tuple[int, ...]]:
        """The datagram at a place, as the pipeline gives it to the dissector, and the number of its frame."""
        datagram = self.datagram(int(np.searchsorted(self.taken.start, start)))
        return buffer_of(datagram), datagram.frames

    def rest(self, way: int, start: int) -> list[tuple[int, Datagram]]:
        """(index of the frame, datagram) of those of a way that are at a place or behind it."""
        which = np.flatnonzero((self.taken.way == way) & (self.taken.start >= start)).tolist()
        return [(int(self.taken.frame[index]), self.datagram(index)) for index in which]

    def offsets(self, start: Ints) -> Ints:
        """Where datagrams, given by their places, begin in their frames."""
        out: Ints = start - self.headers.start[self.taken.frame[np.searchsorted(self.taken.start, start)]]
        return out

    def _known(self) -> PlainDatagrams:
        """The datagrams of conversations in a plain state."""
        found, ways = self.headers.datagrams, dict[bytes, int]()
        for ends in found.ends:
            if ends not in ways:
                ways[ends] = self._way(ends)
        way = np.fromiter(map(ways.__getitem__, found.ends), np.int64, len(found.ends))
        known = np.flatnonzero(way >= 0)
        entry = known[np.argsort(found.frame[known], kind="stable")]
        return PlainDatagrams(entry, found.frame[entry], way[entry], found.start[entry], found.stop[entry])

    def _way(self, ends: bytes) -> int:
        """The number of the way from one end to another; -1 if its conversation isn't plain."""
        src, dst = endpoints(ends)
        conversation = self.datagrams.existing(src, dst)
        if conversation is None or conversation.flow.verdict is not Verdict.ZENOH:
            return -1
        if conversation.waiting or conversation.flow.replaces or not conversation.beyond:
            return -1
        if conversation not in self.numbers:
            self.numbers[conversation] = len(self.numbers)
            self.ways += [DatagramWay(conversation, direction) for direction in (0, 1)]
        return 2 * self.numbers[conversation] + int(src != conversation.flow.ends[0])

    def _continues(self, taken: PlainDatagrams) -> Bools:
        """Whether each datagram certainly continues a session, as `DatagramConversation.plain` knows it."""
        framed = np.array([way.conversation.framings[way.direction] == DATAGRAM for way in self.ways], np.bool_)
        opens = _OPENS[self.headers.bytes[taken.start]]
        out: Bools = framed[taken.way] & (taken.stop > taken.start) & ~opens
        return out

    def _repeated(self, taken: PlainDatagrams) -> Bools:
        """Whether each datagram may be a copy of one before it."""
        out, copies, data = np.zeros(len(taken.way), np.bool_), self.datagrams.copies, self.headers.data
        now_ns, number = self.block.now_ns[taken.frame], self.headers.datagrams.number[taken.entry]
        for index in np.flatnonzero(now_ns <= copies.latest_ns + WINDOW_NS).tolist():
            out[index] = copies.may_know(self._key(taken, index), int(now_ns[index]))
        places = zip(taken.start.tolist(), taken.stop.tolist(), strict=True)
        content = np.array([hash(data[start:stop]) for start, stop in places], np.int64)
        order = np.lexsort((now_ns, content, number, taken.way))
        before, after = order[:-1], order[1:]
        same = now_ns[after] - now_ns[before] <= WINDOW_NS
        for column in (taken.way, number, content):
            same &= column[after] == column[before]
        out[np.maximum(before, after)[same]] = True
        return out

    def _key(self, taken: PlainDatagrams, index: int) -> Key:
        """What a datagram has in common with copies of it."""
        found, place = self.headers.datagrams, int(taken.entry[index])
        payload = self.headers.data[int(taken.start[index]) : int(taken.stop[index])]
        return (*endpoints(found.ends[place]), int(found.number[place]), payload)

    def _recent(self) -> Bools:
        """Which of those taken were sent shortly before what isn't plain, or before the end."""
        taken, now_ns = self.taken, self.block.now_ns
        if not len(taken.way):
            return np.zeros(0, np.bool_)
        ends = now_ns[np.minimum(self.stop, len(now_ns) - 1)][taken.way >> 1]
        recent: Bools = now_ns[taken.frame] >= ends - _RECENT_NS
        return recent

    def _crowded(self) -> bool:
        """Whether conversations may have to make room for others in this block."""
        store, others = self.datagrams.store, len(self.block.frames) - len(self.taken.way)
        return store.held + others * (CONVERSATION_BYTES + WAITING_BYTES) + len(self.headers.data) > store.most
