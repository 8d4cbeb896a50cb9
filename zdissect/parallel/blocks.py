"""What a group shows, on its way from its process to the one that writes: texts, and their places in the capture."""

from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from zdissect.dissection import Rank

BLOCK = 1 << 18
"""Bytes of text that are gathered in a block, and..."""
FRAMES = 1 << 14
"""... most frames that one covers: others may be written only when it is known that nothing comes before them."""
PASSAGE = 250
"""Bytes of memory that a passage takes besides its text."""
FOLLOWS = -1
"""A `lead`, see there."""


class Passage(NamedTuple):
    """What a frame brings to one group, under one rank."""

    place: int
    rank: Rank
    size: int
    """Bytes of the text."""
    lead: int = 0
    """So many bytes at its start aren't written if the passage before it in the output is the one before in its group;
    FOLLOWS: its text is only right if that is so."""
    told: tuple[Any, ...] = ()
    """What goes with it besides text."""


class Block(NamedTuple):
    """Passages in order, with their texts one after the other."""

    until: int
    """No later block of the group has a passage before this place."""
    passages: list[Passage]
    text: bytes | memoryview
    pairs: list[frozenset[str | None]]
    """The nodes of sessions that were met: no other group may have the same."""
    position: int
    """How much of the file was read."""
    result: Any = None
    """What is left to be said after the last block; None in all others."""


def send(connection: "Connection[Any, Any]", block: Block) -> None:
    """Sends a block; its text, which may be long, as it is."""
    connection.send(block._replace(text=b""))
    connection.send_bytes(block.text)


def receive(connection: "Connection[Any, Any]") -> Block:
    """The next block. Raises EOFError or OSError if none comes."""
    block: Block = connection.recv()
    return block._replace(text=memoryview(connection.recv_bytes()))


class BlockWriter:
    """Gathers passages into blocks.

    Args:
        send: Takes each block.
        pairs: The nodes of all sessions so far, in order: it is looked at when a block is sent.
    """

    def __init__(self, send: Callable[[Block], None], pairs: dict[frozenset[str | None], Any]) -> None:
        self.send, self.pairs = send, pairs
        self.passages: list[Passage] = []
        self.texts: list[bytes] = []
        self.size = 0
        self.sent = 0
        """The place at which was sent last."""
        self.named = 0
        """How many pairs of nodes have been sent."""

    def add(self, place: int, rank: Rank, text: bytes, lead: int, told: tuple[Any, ...]) -> None:
        """Takes a passage."""
        self.passages.append(Passage(place, rank, len(text), lead, told))
        self.texts.append(text)
        self.size += len(text) + PASSAGE

    def full(self, place: int) -> bool:
        """Whether it is time to send, as all until this place has come."""
        return self.size > BLOCK or place - self.sent >= FRAMES

    def flush(self, place: int, until: int, position: int, result: Any = None) -> None:
        """Sends what there is at a place; before `until` nothing else will come."""
        pairs = [*self.pairs][self.named :]
        self.named += len(pairs)
        self.send(Block(until, self.passages, b"".join(self.texts), pairs, position, result))
        self.passages, self.texts, self.size, self.sent = [], [], 0, place
