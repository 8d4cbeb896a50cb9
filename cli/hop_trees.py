"""What trees of queries and of samples have in common: lines with frame, time and branches, and the names of nodes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from zdissect.output.style import Style
from zdissect.output.text import safe

from .list_cells import Entry
from .stats_cells import short_zid
from .stats_units import duration

MOST_DEEP = 64
"""Hops of which one passes on another that a tree shows; --json has all."""


class HopTrees(ABC):
    """Writes rows of a listing as trees.

    Args:
        clock: What writes times.
    """

    def __init__(self, clock: Callable[[int], str], style: Style) -> None:
        self.clock = clock
        self.style = style

    @abstractmethod
    def lines(self, row: Entry) -> Iterator[str]:
        """The lines of a row."""

    def line(self, frame: int | None, after_ns: int, lead: str, text: str) -> str:
        """A line of a tree."""
        style = self.style
        after = f"+{duration(after_ns / 1e9)}"
        shown = "" if frame is None else frame
        return f"{shown:>6}  {style.dim}{after:>11} {lead}{style.end} {text}"

    def node(self, hop: Entry, end: str) -> str:
        """One end of a hop."""
        return f"{hop[f'{end}_role'] or ''} {self.name(hop[end])}".strip()

    def too_deep(self, lead: str) -> Iterator[str]:
        """The line in place of what is below too many others; none where it isn't."""
        if len(lead) >= 3 * MOST_DEEP:
            yield f"{'':20} {self.style.dim}{lead}... --json has the hops below{self.style.end}"

    def name(self, node: str) -> str:
        """A node's ZenohID, short, or its address."""
        return safe(node) if ":" in node else short_zid(safe(node), narrow=True)

    def where(self, hop: Entry, more: str = "") -> str:
        """The session of a hop, and what else places it."""
        session = "" if hop["session"] is None else f"session {hop['session']} "
        return f"{self.style.dim}{session}{more}{self.style.end}"
