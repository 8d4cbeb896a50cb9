"""The course of a link through a block: runs of usual messages, and the events between them.

Messages are usual if the rules of `session` have nothing to say about them: ones like them were checked before, since
when the session has learned nothing new, and their numbers and times follow those before. A run of them is taken at
once. All others are events, which go through the rules one by one; after each, what is usual is looked at again.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zdissect.engine.templates import Template
from zdissect.records import Frame
from zdissect.session.liveness import late_ms
from zdissect.session.model import Link
from zdissect.session.sequence import NONE, Channel, Space
from zdissect.session.usual_messages import Learned, UsualMessages
from zdissect.vector.arrays import Batches, Ints, Stamps, Walked
from zdissect.vector.facts import Facts

_FEW = 8
"""Batches between two events that aren't worth a run: they are treated as events."""
_WINDOWS = (32, 512)
"""Batches that are looked at first, to find an event that is near."""


class Run(NamedTuple):
    """Usual messages of one link, in order."""

    link: Link
    batches: Ints
    messages: Ints
    """Their indices in `Walked`."""
    templates: Ints
    """Their templates, with the columns that the session adds: indices in the order of `Course.rows`."""
    place: Ints
    """`message_index` and..."""
    number: Ints
    """... `message_number` of each."""


class Course:
    """The batches of a link in a block.

    Args:
        usual: What is known of the usual messages of each direction.
        own: Its batches.
        ways: Indices of its ways, by direction; -1 for a direction without any.
        rows: The templates of usual messages so far; it is added to.
        passed: Takes the runs.
    """

    def __init__(
        self, link: Link, usual: tuple[UsualMessages, UsualMessages], frames: list[Frame], batches: Batches,
        walked: Walked, facts: Facts, own: Ints, ways: tuple[int, int], rows: dict[Template, int],
        passed: Callable[["Run"], None],
    ) -> None:  # fmt: skip
        self.link, self.session, self.usual = link, link.session, usual
        self.frames, self.batches, self.walked, self.facts = frames, batches, walked, facts
        self.own, self.ways, self.rows, self.passed = own, ways, rows, passed
        self.at = 0
        """The batch that comes next, counted in `own`."""
        self.stop = 0
        """The next event."""
        self.single = 0
        """Batches before this one are treated as events."""
        self.version = 0
        count = facts.messages[own]
        ends = np.cumsum(count)
        self.first = ends - count
        """The first message of each batch, counted in `messages`."""
        self.begins: list[int] = self.first.tolist()
        self.ends: list[int] = ends.tolist()
        self.messages = np.repeat(facts.first[own] - self.first, count) + np.arange(int(ends[-1]))
        self.pairs = facts.kinds.pair[self.messages]
        self.now_ns = facts.now_ns[own]
        self.static: list[int] = [*np.flatnonzero(facts.event[own]).tolist(), len(own)]
        """Batches that can't be usual, whatever is known; and the number of batches."""
        self.by_way: list[list[int]] = [np.flatnonzero(batches.way[own] == way).tolist() for way in ways]
        self.channels = self._channels()
        self.stamped = walked.stamped[self.messages]
        many = len(facts.kinds.way)
        self.learned: list[Learned | None] = [None] * many
        self.row = np.full(many, -1)
        """The index in `rows` of the template of each pair."""
        self.known = np.zeros(many, bool)
        self.sample = np.full(many, -1)
        self.samples: dict[tuple[str, str], int] = {}
        self.names: list[tuple[str, str]] = []
        """Key and clock of each sample."""
        self.own_pairs = np.unique(self.pairs).tolist()
        self.epochs: tuple[int, int] = (-1, -1)
        self.refresh(self.own_pairs)

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
        kinds, templates = self.facts.kinds, self.facts.templates
        for pair in pairs:
            way = int(kinds.way[pair])
            found = self.usual[self.ways.index(way)].known.get(templates[kinds.template[pair]])
            self.known[pair] = found is not None
            if found is not None and found is not self.learned[pair]:
                self.learned[pair] = found
                self.row[pair] = self.rows.setdefault(found.template, len(self.rows))
                self.sample[pair] = -1 if found.sample is None else self._sample(found.sample)

    def _sample(self, sample: tuple[str, str]) -> int:
        """The number of a sample."""
        number = self.samples.setdefault(sample, len(self.names))
        if number == len(self.names):
            self.names.append(sample)
        return number

    def event(self) -> int:
        """The next batch that isn't usual; the number of batches if there is none."""
        at, total = self.at, len(self.own)
        if at >= total or at < self.single or self.session.shared:
            return at
        stop = self.static[bisect_left(self.static, at)]
        for look in (self._timely, self._numbered, self._known):
            if stop > at:
                stop = look(at, stop)
        if stop < total and stop - at < _FEW:
            self.single = stop + 1
            return at
        return stop

    def _timely(self, at: int, stop: int) -> int:
        """The first batch that comes when something is overdue, or whose sender's silence must be looked at."""
        due_ns = self.session.awaited.due_ns
        if due_ns != np.inf:
            late = self.now_ns[at:stop] >= due_ns
            if late.any():
                stop = at + int(late.argmax())
        for direction, places in enumerate(self.by_way):
            first = bisect_left(places, at)
            lease_ms = self.link.handshake.ends[direction].lease_ms
            if lease_ms and first < len(places) and places[first] < stop:
                pulse, place = self.link.pulses[direction], places[first]
                silent_ms = (int(self.now_ns[place]) - pulse.last_ns) // 1_000_000
                unwatched = not (pulse.watched or self.link.over)
                if unwatched or pulse.overdue or silent_ms > late_ms(lease_ms):
                    stop = place
        return stop

    def _numbered(self, at: int, stop: int) -> int:
        """The first batch whose number isn't the one that is expected in its channel."""
        for direction, space, places in self.channels:
            first = bisect_left(places, self.begins[at])
            if first < len(places) and not self._next(direction, space, places[first]):
                stop = min(stop, bisect_right(self.ends, places[first]))
        return stop

    def _next(self, direction: int, space: Space, place: int) -> bool:
        """Whether a message has the number that comes next, and no fragments wait."""
        channel: Channel | None = self.session.channels.get(space)
        sn = int(self.walked.sn[self.messages[place]])
        if channel is None or channel.expected != sn or channel.gaps != self.link.gaps[direction]:
            return False
        chain = self.session.chains.get(space)
        return not (channel.astray or (chain is not None and (chain.open or chain.broken)))

    def _known(self, at: int, stop: int) -> int:
        """The first batch with a message of which nothing is known, or that is older than the one before it."""
        for size in (*_WINDOWS, stop - at):
            end = most = min(at + size, stop)
            begin, after = self.begins[at], self.ends[end - 1]
            known = self.known[self.pairs[begin:after]]
            if not known.all():
                end = bisect_right(self.ends, begin + int(known.argmin()))
            if end > at:
                end = self._ordered(at, end)
            if end < most:
                return end
        return stop

    def _samples(self, at: int, stop: int) -> tuple[Ints, Ints, Stamps]:
        """(places, numbers of samples, timestamps) of the samples in some batches, by sample."""
        begin, after = self.begins[at], self.ends[stop - 1]
        places = begin + np.flatnonzero(self.stamped[begin:after])
        samples = self.sample[self.pairs[places]]
        if (samples < 0).any():
            places, samples = places[samples >= 0], samples[samples >= 0]
        order = np.argsort(samples, kind="stable")
        places, samples = places[order], samples[order]
        return places, samples, self.walked.stamp[self.messages[places]]

    def _ordered(self, at: int, stop: int) -> int:
        """The first batch with a sample that is older than the one before it."""
        places, samples, stamps = self._samples(at, stop)
        if not len(places):
            return stop
        old = np.zeros(len(places), bool)
        same = samples[1:] == samples[:-1]
        old[1:] = same & (stamps[1:] < stamps[:-1])
        firsts = np.flatnonzero(np.concatenate(([True], ~same)))
        newest = self.session.timestamps.newest
        for first, sample in zip(firsts.tolist(), samples[firsts].tolist(), strict=True):
            if int(stamps[first]) < newest.get(self.names[sample], 0):
                old[first] = True
        if not old.any():
            return stop
        return bisect_right(self.ends, int(places[old].min()))

    def settle(self, stop: int) -> None:
        """Takes the batches before `stop`, which are usual."""
        at = self.at
        if stop <= at:
            return
        self.at = stop
        own, link = self.own[at:stop], self.link
        count = self.facts.messages[own]
        number = self._count(at, stop, count)
        begin, after = self.begins[at], self.ends[stop - 1]
        for _, space, places in self.channels:
            last = bisect_left(places, after) - 1
            if last >= 0 and places[last] >= begin:
                self.session.channels[space].take(int(self.walked.sn[self.messages[places[last]]]), NONE)
        self._newest(at, stop)
        inside = np.arange(after - begin) - np.repeat(self.first[at:stop] - begin, count)
        index = np.repeat(self._indices(own, count), count) + inside
        templates = self.row[self.pairs[begin:after]]
        number = np.repeat(number, count) + inside
        self.passed(Run(link, own, self.messages[begin:after], templates, index, number))

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

    def _indices(self, own: Ints, count: Ints) -> Ints:
        """The number, in its frame, of the first message of each batch."""
        flow, frame = self.link.flow, self.batches.frame[own]
        before = np.cumsum(count) - count
        news = np.concatenate(([True], frame[1:] != frame[:-1]))
        starts = np.flatnonzero(news)
        out: Ints = before - before[starts][np.cumsum(news) - 1]
        source, number = self.frames[int(frame[0])][:2]
        if flow.numbered == (source, number):  # an event came before, in the same frame
            out[: starts[1] if len(starts) > 1 else None] += flow.index
        flow.numbered = source, self.frames[int(frame[-1])].number
        flow.index = int(out[-1] + count[-1])
        return out

    def _newest(self, at: int, stop: int) -> None:
        """Remembers the newest samples."""
        _, samples, stamps = self._samples(at, stop)
        if len(samples):
            lasts = np.flatnonzero(np.concatenate((samples[1:] != samples[:-1], [True])))
            timestamps = self.session.timestamps
            for sample, stamp in zip(samples[lasts].tolist(), stamps[lasts].tolist(), strict=True):
                timestamps.take(self.names[sample], stamp)
