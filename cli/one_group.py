"""One process of `zdissect FILE` by all cores: shows what is in one group, and sends it to the process that writes."""

import sys
from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from zdissect.dissection import Dissection, InTurn, Item, Rank
from zdissect.parallel.blocks import FOLLOWS, BlockWriter, send
from zdissect.parallel.group_frames import SessionGroup
from zdissect.records import Frame
from zdissect.session.endings import REFUSED
from zdissect.session.occurrences import Occurrences
from zdissect.stats.query_messages import QueryMessage, QueryMessages

from .answers_ahead import LaterAnswers
from .captures import Captures

if TYPE_CHECKING:
    from zdissect.filters import LookAhead

    from .run import Run


OPEN = "utf-8", "surrogatepass"
"""The encoding of texts that leave something open, and what is done with lone surrogates."""


class Told(NamedTuple):
    """What must be known of a place to sum up at the end: messages of queries, and connections that were refused."""

    queries: list[QueryMessage]
    refused: Occurrences


def work(run: "Run", group: SessionGroup, sending: "Connection[Any, Any]") -> None:
    """What the process of a group does."""
    _Worker(run, group, sending).run()


class _Held(NamedTuple):
    """So many items that came together at a place, some of which may still wait for what comes later."""

    place: int
    rank: Rank
    items: int
    told: tuple[Told, ...]


class _Worker:
    """Shows what is in a group."""

    def __init__(self, run: "Run", group: SessionGroup, sending: "Connection[Any, Any]") -> None:
        self.do, self.group = run, group
        self.captures = run.captures = Captures(cast(Captures, run.captures).files, group.split.last.place)
        self.pipeline = group.pipeline(run.pipeline.options)
        self.writer = BlockWriter(partial(send, sending), self.pipeline.sessions.pairs)
        for known in (run.form.ahead, run.form.values and run.form.values.ahead):
            if isinstance(known, LaterAnswers):
                known.read = self.read_ahead
        run.queries = self.queries = QueryMessages()
        self.held: deque[_Held] = deque()
        self.ready: deque[Item | InTurn[str]] = deque()
        """Items that needn't wait, but others that came with them do."""
        self.refused = Occurrences()
        """Connections that were refused, since it was told last."""
        self.encoding = sys.stdout.encoding, sys.stdout.errors or "strict"
        if run.form.filling() is not None:
            self.encoding = OPEN
        run.form.resume()

    def run(self) -> None:
        """Dissects the group."""
        writer, held = self.writer, self.held
        frames = cast(Iterable[Frame], self.do.frames())  # time never passes without one
        place = 0
        for place, ranked in self.group.dissected_as(frames, self.pipeline, self.do.texts):
            for rank, items in ranked:
                if items:
                    self.take(place, rank, items)
            if writer.full(place):
                writer.flush(place, held[0].place if held else place + 1, self.captures.position)
        if self.do.waiting is not None:
            self.show(self.do.waiting.rest())
        writer.flush(place, place + 1, self.captures.position, self.do.totals(self.pipeline))

    def take(self, place: int, rank: Rank, items: Sequence[Item | InTurn[str]]) -> None:
        """Takes the items that come together at a place."""
        for item in items:
            if isinstance(item, InTurn):
                continue
            if place <= self.group.split.last.place:
                self.queries.take(item)
            for _ in range(refusals(item)):
                self.refused.add(item.frame)
        self.held.append(_Held(place, rank, len(items), self.told()))
        self.show(items if self.do.waiting is None else self.do.waiting.through(items))

    def show(self, items: Iterable[Item | InTurn[str]]) -> None:
        """Shows items that needn't wait any more, in their order, and those together that came together."""
        self.ready += items
        while self.held and len(self.ready) >= self.held[0].items:
            held = self.held.popleft()
            text, lead = self.text([self.ready.popleft() for _ in range(held.items)])
            if text or held.told:
                self.writer.add(held.place, held.rank, text.encode(*self.encoding), lead, held.told)

    def text(self, items: list[Item | InTurn[str]]) -> tuple[str, int]:
        """(text of the items, its `Passage.lead`)."""
        texts: list[str] = []
        lead = 0
        for item in items:
            text = self.do.shown(item)
            head = self.do.form.left_out() if text and not texts else ""
            if text and head:
                lead = FOLLOWS if self.do.pattern else len(head.encode(*self.encoding))
                texts += [text] if self.do.pattern else [head, text]
            elif text:
                texts.append(text)
        return "".join(texts), lead

    def read_ahead(self, ahead: "LookAhead") -> None:
        """Reads what becomes of the requests of the group."""
        for item in self.group.items(Captures(self.captures.files, self.captures.limit), self.do.pipeline.options):
            ahead.feed(item)

    def told(self) -> tuple[Told, ...]:
        """What has to be told since the last time."""
        refused, queries = self.refused, self.queries.found
        if not refused.count and not queries:
            return ()
        self.refused, self.queries.found = Occurrences(), []
        return (Told(queries, refused),)


def refusals(item: Item) -> int:
    """How often an item says that a connection was refused."""
    if isinstance(item, Dissection):
        return sum(code == REFUSED for code, *_ in item.tape.remarks) if item.tape.remarks else 0
    return int(item.code == REFUSED)
