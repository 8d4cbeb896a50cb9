"""The course of a link through a block: runs of usual messages, and the events between them.

Messages are usual if the rules of `session` have nothing to say about them: ones like them were checked before, since
when the session has learned nothing new, and their numbers and times follow those before. A run of them is taken at
once. All others are events, which go through the rules one by one; after each, what is usual is looked at again.
"""

from bisect import bisect_left, bisect_right

import numpy as np

from zdissect.engine.lazy_messages import LazyMessage
from zdissect.session.liveness import late_ms
from zdissect.session.model import Link
from zdissect.session.overdue import matters
from zdissect.session.sequence import NONE, Space
from zdissect.session.usual_messages import Learned
from zdissect.vector.arrays import Ints
from zdissect.vector.open_columns import OpenColumns
from zdissect.vector.runs import Around, UsualRun
from zdissect.vector.samples import Samples

_WINDOWS = (32, 512)
"""Batches that are looked at first, to find an event that is near."""


class Course:
    """The batches of a link in a block.

    Args:
        own: Its batches.
        ways: Indices of its ways, by direction; -1 for a direction without any.
    """

    def __init__(self, around: Around, link: Link, own: Ints, ways: tuple[int, int]) -> None:
        self.around, self.link, self.session = around, link, link.session
        self.batches, self.walked, self.facts = around.batches, around.walked, around.facts
        self.own, self.ways = own, ways
        self.usual = around.sessions.usual(link, 0), around.sessions.usual(link, 1)
        self.at = 0
        """The batch that comes next, counted in `own`."""
        self.facts_hold = True
        """Whether the facts of the block still hold; else all batches are events."""
        self.terms = self._terms()
        facts = self.facts
        self._places_of(own)
        self.pairs = facts.kinds.pair[self.messages]
        self.frames: list[int] = self.batches.frame[own].tolist()
        """The frame of each batch, ascending."""
        self.now_ns = facts.now_ns[own]
        self.latest_ns = int(self.now_ns.max())
        self.static: list[int] = [*np.flatnonzero(facts.event[own]).tolist(), len(own)]
        """Batches that can't be usual, whatever is known; and the number of batches."""
        self.by_way: list[list[int]] = [np.flatnonzero(self.batches.way[own] == way).tolist() for way in ways]
        self.channels = self._channels()
        self.ruled: list[int] = np.flatnonzero(facts.ruled[self.pairs]).tolist()
        """Messages that go through the rules one by one..."""
        self.cells = [*OpenColumns(self.walked, self.messages[self.ruled]).cells()]
        """... and these as cells."""
        many = len(facts.kinds.way)
        self.learned: list[Learned | None] = [None] * many
        self.row = np.full(many, -1)
        """The index of the row of each pair."""
        self.known = facts.ruled.copy()
        self.samples = Samples(self.pairs, self.walked.stamped[self.messages], self.walked.stamp[self.messages], many)
        self.own_pairs: list[int] = np.unique(self.pairs[~facts.ruled[self.pairs]]).tolist()
        self.epochs: tuple[int, int] = (-1, -1)
        self.refresh(self.own_pairs)
        self.stop = self.event()
        """The next event."""

    def _places_of(self, own: Ints) -> None:
        """Finds the messages of the batches."""
        count = self.facts.messages[own]
        ends = np.cumsum(count)
        self.first = ends - count
        """The first message of each batch, counted in `messages`."""
        self.begins: list[int] = self.first.tolist()
        self.ends: list[int] = ends.tolist()
        self.messages = np.repeat(self.facts.first[own] - self.first, count) + np.arange(int(ends[-1]))

    @property
    def over(self) -> bool:
        """Whether all of its batches have been taken."""
        return self.at >= len(self.own)

    def _terms(self) -> tuple[object, ...]:
        """What the facts of the block depend on: they don't hold any more if a handshake changes it."""
        return self.link.session, self.link.handshake.agreed, *(end.lease_ms for end in self.link.handshake.ends)

    def _channels(self) -> list[tuple[int, Space, list[int]]]:
        """(direction, space, places of its messages) of each of its channels."""
        channel = self.facts.channel[self.messages]
        out = []
        for number in np.unique(channel[channel >= 0]).tolist():
            way, space = self.facts.spaces[number]
            out.append((self.ways.index(way), space, np.flatnonzero(channel == number).tolist()))
        return out

    def refresh(self, pairs: list[int]) -> None:
        """Looks up what is known of some pairs; of all, if the session has learned something new."""
        for usual in self.usual:
            usual.refresh()
        epochs = self.usual[0].epoch, self.usual[1].epoch
        if epochs != self.epochs:
            self.epochs, pairs = epochs, self.own_pairs
        kinds, templates, ruled = self.facts.kinds, self.walked.templates, self.facts.ruled
        for pair in pairs:
            if ruled[pair]:
                continue
            found = self.usual[self.ways.index(kinds.way[pair])].known.get(templates[kinds.template[pair]])
            self.known[pair] = found is not None
            if found is not None and found is not self.learned[pair]:
                self.learned[pair] = found
                self.row[pair] = self.around.rows.of(found.template)
                self.samples.learn(pair, found.sample)

    def event(self) -> int:
        """The next batch that isn't usual; the number of batches if there is none."""
        at, total = self.at, len(self.own)
        if at >= total or not self.facts_hold or self.session.shared:
            return at
        stop = self.static[bisect_left(self.static, at)]
        for look in (self._timely, self._numbered, self._known):
            if stop > at:
                stop = look(at, stop)
        return stop

    def _timely(self, at: int, stop: int) -> int:
        """The first batch that comes when something is overdue, or whose sender's silence must be looked at."""
        awaited = self.session.awaited
        if awaited.due_ns <= self.latest_ns:
            awaited.skip(matters)
        due_ns = awaited.due_ns
        if due_ns <= self.latest_ns:
            late = self.now_ns[at:stop] >= due_ns
            if late.any():
                stop = at + int(late.argmax())
        for direction, places in enumerate(self.by_way):
            first = bisect_left(places, at)
            lease_ms = self.link.handshake.ends[direction].lease_ms
            if lease_ms and first < len(places) and places[first] < stop:
                pulse, place = self.link.pulses[direction], places[first]
                unwatched = not (pulse.watched or self.link.over)
                silent_ms = pulse.silent_ms(int(self.now_ns[place]))
                if unwatched or pulse.overdue or silent_ms > late_ms(lease_ms):
                    stop = place
        return stop

    def _numbered(self, at: int, stop: int) -> int:
        """The first batch whose number isn't the one that is expected in its channel."""
        for direction, space, places in self.channels:
            first = bisect_left(places, self.begins[at])
            if first < len(places):
                sn = int(self.walked.sn[self.messages[places[first]]])
                if not self.usual[direction].expects(space, sn):
                    stop = min(stop, bisect_right(self.ends, places[first]))
        return stop

    def _known(self, at: int, stop: int) -> int:
        """The first batch with a message of which nothing is known, or that is older than the one before it."""
        for size in (*_WINDOWS, stop - at):
            end = most = min(at + size, stop)
            begin, after = self.begins[at], self.ends[end - 1]
            known = self.known[self.pairs[begin:after]]
            if not known.all():
                end = bisect_right(self.ends, begin + int(known.argmin()))
            if end > at:
                old = self.samples.old(begin, self.ends[end - 1], self.session.timestamps)
                end = end if old < 0 else bisect_right(self.ends, old)
            if end < most:
                return end
        return stop

    def settle(self, stop: int) -> None:
        """Takes the batches before `stop`, runs and events."""
        while self.at < min(stop, len(self.own)):
            if self.at < self.stop and self._run(self.at, min(self.stop, stop)):
                continue
            batch = int(self.own[self.at])
            self.at += 1
            self.around.event(self.link, batch)
            if self._terms() != self.terms:
                self.facts_hold = False
            first = int(self.facts.first[batch])
            self.refresh(self.facts.kinds.pair[first : first + int(self.facts.messages[batch])].tolist())
            self.stop = self.event()

    def _run(self, at: int, stop: int) -> bool:
        """Takes batches that are usual; returns whether it took all, and not only those before something is due."""
        rows = self.row[self.pairs[self.begins[at] : self.ends[stop - 1]]]
        end, remarked = self._rule(at, stop, rows)
        self.at = end
        own, begin, after = self.own[at:end], self.begins[at], self.ends[end - 1]
        count = self.facts.messages[own]
        number = self._count(at, end, count)
        for _, space, places in self.channels:
            last = bisect_left(places, after) - 1
            if last >= 0 and places[last] >= begin:
                self.session.channels[space].take(int(self.walked.sn[self.messages[places[last]]]), NONE)
        self.samples.take(begin, after, self.session.timestamps)
        place = self._places(own, count)
        self._pass(at, own, (rows[: after - begin], place, number), remarked)
        for batch, messages in remarked.items():
            first = int(place[batch - at]), int(number[batch - at])
            self.around.remarked(int(self.own[batch]), messages, self.row, first)
        return end == stop

    def _pass(
        self, at: int, own: Ints, columns: tuple[Ints, Ints, Ints], without: dict[int, list[LazyMessage]]
    ) -> None:
        """Passes on a run, without some batches."""
        rows, place, number = columns
        count, begin = self.facts.messages[own], self.begins[at]
        inside = np.arange(len(rows)) - np.repeat(self.first[at : at + len(own)] - begin, count)
        arrays = (
            self.messages[begin : begin + len(rows)],
            rows,
            np.repeat(place, count) + inside,
            np.repeat(number, count) + inside,
        )
        if without:
            usual = np.ones(len(own), np.bool_)
            usual[[batch - at for batch in without]] = False
            each = np.repeat(usual, count)
            own, arrays = own[usual], (arrays[0][each], arrays[1][each], arrays[2][each], arrays[3][each])
        if len(own):
            self.around.sink.run(UsualRun(self.link, own, *arrays))

    def _rule(self, at: int, stop: int, rows: Ints) -> tuple[int, dict[int, list[LazyMessage]]]:
        """Takes the messages of a run that go through the rules, and enters their rows. Returns where the run ends, if
        something is due before its end, and the messages of batches in which something was found."""
        sessions, session, begin = self.around.sessions, self.session, self.begins[at]
        place, due_ns = bisect_left(self.ruled, begin), session.awaited.due_ns
        remarked: dict[int, list[LazyMessage]] = {}
        batch = -1
        while place < len(self.ruled) and self.ruled[place] < self.ends[stop - 1]:
            ruled, cell = self.ruled[place], self.cells[place]
            place += 1
            if batch < 0 or ruled >= self.ends[batch]:
                batch = bisect_right(self.ends, ruled)
                messages, tape = list[LazyMessage](), self.around.tape(int(self.own[batch]))
                sessions.memory.keys.begin()
                frame = self.around.frames[self.frames[batch]]
                direction = self.ways.index(self.batches.way[self.own[batch]])
            message = LazyMessage(tape, ruled - self.begins[batch], cell)
            messages.append(message)
            sessions.network(self.link, message, direction, frame)
            rows[ruled - begin] = self.around.rows.add(message)
            if message.tape.remarks:
                remarked[batch] = messages
            if session.awaited.due_ns < session.listed_ns:
                sessions.overdue.list(session)
            if session.awaited.due_ns < due_ns:
                due_ns = session.awaited.due_ns
                late = self.now_ns[batch + 1 : self.stop] >= due_ns
                if late.any():
                    self.stop = batch + 1 + int(late.argmax())
                    stop = min(stop, self.stop)
        return stop, remarked

    def _count(self, at: int, stop: int, count: Ints) -> Ints:
        """Counts messages of both directions; returns the number of the first one of each batch."""
        number = np.zeros(stop - at, np.int64)
        for direction, places in enumerate(self.by_way):
            first, after = bisect_left(places, at), bisect_left(places, stop)
            if first < after:
                mine = np.array(places[first:after]) - at
                sums = np.cumsum(count[mine])
                sent = self.link.flow.sent
                number[mine] = sent[direction] + sums - count[mine]
                sent[direction] += int(sums[-1])
                self.link.messages[direction] += int(sums[-1])
                pulse = self.link.pulses[direction]
                pulse.last_ns, pulse.overdue = int(self.now_ns[places[after - 1]]), False
        return number

    def _places(self, own: Ints, count: Ints) -> Ints:
        """The number, in its frame, of the first message of each batch."""
        flow, frames, frame = self.link.flow, self.around.frames, self.batches.frame[own]
        before = np.cumsum(count) - count
        news = np.concatenate(([True], frame[1:] != frame[:-1]))
        starts = np.flatnonzero(news)
        out: Ints = before - before[starts][np.cumsum(news) - 1]
        sums = np.add.reduceat(count, starts).tolist()
        out[: starts[1] if len(starts) > 1 else None] += flow.place(frames[int(frame[0])], sums[0])
        if len(starts) > 1:
            flow.place(frames[int(frame[-1])], sums[-1])
        return out
