"""Items that wait until it is known what becomes of the requests in them.

Most requests are answered within milliseconds: the items in between are few, and a second reading of the capture isn't
needed. Where an answer doesn't come for long, it is.
"""

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from zdissect.dissection import Dissection, InTurn, Item
from zdissect.records import Frame

from .answers_ahead import LaterAnswers

if TYPE_CHECKING:
    from zdissect.filters.ahead import Answers

Of = TypeVar("Of", bound=Item | InTurn[str])
"""Items, or texts instead of some."""

MOST_FRAMES = 10_000
"""So many frames, of those that show something, an item waits for at most."""
MOST_BYTES = 1 << 23
"""So many bytes wait at most: those of batches, and what is known of the messages in them."""
_MESSAGE_BYTES = 1000
"""What is known of a message takes about so much memory."""
_BATCH_BYTES = 1000
"""So does a batch of which nothing was made yet."""


class _Waiting(NamedTuple):
    """An item that waits."""

    item: Any
    asked: "list[Answers]"
    """What comes for the requests in it."""
    frame: int
    """The number of frames before it."""
    size: int


class WaitingItems:
    """Keeps items in their order until it is known what they ask for.

    Args:
        later: Is told what comes.
    """

    def __init__(self, later: LaterAnswers) -> None:
        self.later = later
        self.waiting: deque[_Waiting] = deque()
        self.frames = 0
        """Frames of items so far; a batch that was read together with others counts as one."""
        self.last: Frame | None = None
        self.size = 0
        """Bytes of all that wait."""

    def through(self, items: Iterable[Of]) -> Iterable[Of]:
        """Takes the next items; gives those that needn't wait any more."""
        if self.later.complete:
            return items
        waiting = self.waiting
        out: list[Of] = []
        for item in items:
            frame = None if isinstance(item, InTurn) else item.frame
            self.frames += frame is None or frame is not self.last
            self.last = frame
            asked = self.later.feed(item) if not isinstance(item, InTurn) else []
            if asked or waiting:
                waiting.append(_Waiting(item, asked, self.frames, _size(item)))
                self.size += waiting[-1].size
            else:
                out.append(item)
        while waiting and all(answers.final_in is not None for answers in waiting[0].asked):
            self.size -= waiting[0].size
            out.append(waiting.popleft().item)
        if waiting and (self.size > MOST_BYTES or self.frames - waiting[0].frame > MOST_FRAMES):
            self.later.read_all()
            out += self.rest()
        return out

    def rest(self) -> list[Any]:
        """All that still wait: nothing else comes, or all is known."""
        out = [one.item for one in self.waiting]
        self.waiting.clear()
        return out


def _size(item: Item | InTurn[str]) -> int:
    """About how many bytes of memory an item takes."""
    if isinstance(item, InTurn):
        return _BATCH_BYTES
    return len(item.buffer.data) + _MESSAGE_BYTES * len(item.messages) if isinstance(item, Dissection) else 0
