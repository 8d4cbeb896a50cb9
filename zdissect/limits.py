"""How much memory what a stranger sends may take: everything that waits, or is remembered, is counted in bytes.

Each kind has a limit for the whole capture, whoever it belongs to. Where it is exceeded, its largest owner gives up
what came first, so that a sender who floods harms itself before others. Sizes are estimates, of what Python takes.
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, fields
from typing import Generic, TypeVar

Owner = TypeVar("Owner", bound=Hashable)
MB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Most bytes of each kind."""

    connections: int = 128 * MB
    """TCP connections, and their segments that wait for others."""
    streams: int = 64 * MB
    """Bytes of streams that aren't known to be Zenoh yet, or are no whole batch or WebSocket message yet."""
    datagrams: int = 64 * MB
    """UDP conversations, and their datagrams that aren't known to be Zenoh yet."""
    packets: int = 16 * MB
    """IP packets of which fragments are missing."""
    fragments: int = 256 * MB
    """Messages of which FRAGMENTs are missing."""
    sessions: int = 256 * MB
    """What nodes declare and ask: key expressions, subscribers, interests, requests; members of multicast groups."""
    keys: int = 4 * MB
    """Long key expressions of the messages of one batch: a few bytes may stand for 64 kB that were declared."""


NAMES = tuple(field.name for field in fields(Limits))
"""The kinds of which memory is limited."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user knows better than the capture."""

    tcp_ports: frozenset[int] = frozenset()
    """TCP ports whose connections are Zenoh, whatever they look like."""
    udp_ports: frozenset[int] = frozenset()
    """The same for UDP."""
    history: bool = False
    """Keep the links that ended, for statistics."""
    limits: Limits = Limits()
    """How much memory what is kept may take."""


class Quota(Generic[Owner]):
    """What is kept of one kind, in bytes, by owner."""

    loses = "those that take most lose what waits, or what came first"
    """What becomes of those that exceed it."""

    def __init__(self, name: str, most: int, log: list[str] | None = None) -> None:
        self.name = name
        """The field of `Limits`."""
        self.most = most
        self.log = log
        """Takes the text of a finding when the limit is exceeded for the first time."""
        self.held = 0
        self.owners: dict[Owner, int] = {}

    def set(self, owner: Owner, size: int) -> None:
        """Notes how much an owner keeps."""
        self.held += size - self.owners.get(owner, 0)
        self.owners[owner] = size

    def add(self, owner: Owner, size: int) -> None:
        """Notes that an owner keeps more, or less."""
        self.set(owner, self.owners.get(owner, 0) + size)

    def drop(self, owner: Owner) -> None:
        """Notes that an owner is gone, with all that it kept."""
        self.held -= self.owners.pop(owner, 0)

    def excess(self) -> Iterator[Owner]:
        """The owners that must give something up, the largest first: none unless the limit is exceeded, else enough to
        bring it well below, so that sorting them costs little for each byte that comes.
        """
        if self.held <= self.most:
            return
        self.tell()
        enough = self.most - (self.most >> 3)
        for owner in sorted(self.owners, key=self.owners.__getitem__, reverse=True):
            if self.held <= enough:
                return
            if owner in self.owners:
                yield owner

    def tell(self) -> None:
        """Reports, once, that the limit was exceeded."""
        log, self.log = self.log, None
        if log is not None:
            limit = f"--limit {self.name}={size_text(self.most)}"
            log.append(f"more than {limit}: {self.loses}")


UNITS = "KMGT"


def size_text(size: int) -> str:
    """`64M`, `1G`, `1000`."""
    unit = ""
    for larger in UNITS:
        if size % 1024 or not size:
            break
        size, unit = size // 1024, larger
    return f"{size}{unit}"
