"""Captures without an end: what hasn't been heard of for long is forgotten, so that days of them fit into memory.

A file is dissected as a whole, however long it is, and nothing of it is forgotten that might still matter. A live
capture may go on for months, in which every process and every query of a name server has ports of its own.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from zdissect.dissection import ITSELF, Item, RankedPart
from zdissect.flow.datagram_conversation import DatagramConversation
from zdissect.flow.verdict import Verdict
from zdissect.pipeline import Pipeline
from zdissect.records import Frame

SWEEP_NS = 60 * 10**9
"""Capture time from one look to the next."""
MOST_IDLE = 5
"""Looks at which a conversation of datagrams has brought nothing new before it is forgotten."""
MOST_IDLE_ZENOH = 60
"""The same for Zenoh, whose state is worth more."""
IDLE_NS = 3600 * 10**9
"""A TCP connection that was silent for so long is forgotten, as is a member of a group that hasn't joined."""


class Dissecting(Protocol):
    """What frames are fed to: a pipeline, or what is wrapped around one."""

    def ranked(self, frame: Frame) -> Iterator[RankedPart]:
        """What a frame completes, in parts."""

    def passed(self, ts_ns: int) -> list[Item]:
        """What is overdue when time has passed without a frame."""

    def close(self) -> list[Item]:
        """What is left at the end."""

    def endings(self) -> Iterator[RankedPart]:
        """The same, in parts."""


class Endless:
    """A pipeline that forgets.

    Args:
        source: What frames are fed to.
        pipeline: The pipeline in it, whose state is swept.
        forget: What else forgets what is over, and gives what is to be said of that.
    """

    def __init__(self, source: Dissecting, pipeline: Pipeline, forget: Callable[[], list[Item]] = list) -> None:
        self.source, self.pipeline, self.forget = source, pipeline, forget
        self.next_ns = 0
        """When it is looked for what may be forgotten."""
        self.idle: dict[str, tuple[int, int]] = {}
        """By conversation of datagrams: its bytes at the last look, and how many looks have found no more."""

    def ranked(self, frame: Frame) -> Iterator[RankedPart]:
        """What a frame completes, in parts."""
        yield from self.source.ranked(frame)
        yield ITSELF, self.swept()

    def passed(self, ts_ns: int) -> list[Item]:
        """What is overdue when time has passed without a frame."""
        return self.source.passed(ts_ns)

    def close(self) -> list[Item]:
        """What is left at the end."""
        return self.source.close()

    def endings(self) -> Iterator[RankedPart]:
        """The same, in parts."""
        return self.source.endings()

    def swept(self) -> list[Item]:
        """Forgets what may be forgotten, if it is time to look."""
        last = self.pipeline.last
        return self.sweep(last.now_ns) if last is not None and last.now_ns >= self.next_ns else []

    def sweep(self, now_ns: int) -> list[Item]:
        """Forgets what has been idle for long; what is left of it."""
        self.next_ns = now_ns + SWEEP_NS
        before_ns = now_ns - IDLE_NS
        waited = self.pipeline.waited(self.pipeline.streams.forget(now_ns, before_ns), now_ns)
        out = [item for _, items in waited for item in items]
        out += self.datagrams()
        datagrams, sessions = self.pipeline.datagrams, self.pipeline.sessions
        asking, scouting = sessions.forget(now_ns, before_ns), datagrams.scouting
        scouting.scouts = {one: None for one in scouting.scouts if one in asking}
        for group in datagrams.groups.keys() - sessions.groups.members.keys():
            del datagrams.groups[group]
        return [*out, *self.forget()]

    def datagrams(self) -> list[Item]:
        """Forgets conversations of datagrams that are over, or have brought nothing new for a while.

        Returns what waited in them for so long that it is now decided, as it would be at the end.
        """
        datagrams = self.pipeline.datagrams
        self.pipeline.ended(datagrams.past)
        datagrams.past.clear()
        before, self.idle = self.idle, {}
        gone: list[DatagramConversation] = []
        for conversation in datagrams.conversations.values():
            flow = conversation.flow
            size, looks = before.get(flow.id, (-1, 0))
            looks = looks + 1 if size == flow.size else 0
            waits = conversation.expected and conversation.waiting
            most = MOST_IDLE_ZENOH if waits or flow.verdict is Verdict.ZENOH else MOST_IDLE
            if looks < most:
                self.idle[flow.id] = flow.size, looks
            else:
                gone.append(conversation)
        return [*self.pipeline.silent(gone)]
