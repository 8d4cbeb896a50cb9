"""Messages of queries on their own, without what isn't needed to tell queries apart and to count them."""

from typing import NamedTuple

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.engine.tape import Buffer, Tape
from zdissect.flow.conversation import Flow
from zdissect.flow.framing import STREAM
from zdissect.records import Endpoint, Frame
from zdissect.stats.query_stats import COLUMNS, Unanswered

_BUFFER = Buffer("", b"")
_NOTHING = Tape(b"", 0, 0, [], [])


class QueryMessage(NamedTuple):
    """A REQUEST, or what answers one: what `Queries` takes, wherever it was dissected."""

    frame: Frame
    """Without its bytes."""
    ends: tuple[Endpoint, Endpoint]
    """Those of its conversation."""
    direction: int
    row: Row
    chosen: bool
    """Whether it is one of those that count."""

    @classmethod
    def of(cls, item: Dissection, row: Row, chosen: bool = True) -> "QueryMessage":
        """A message of a dissection."""
        known = {name: row[name] for name in COLUMNS if name in row}
        return cls(item.frame.bare(), item.flow.ends, item.direction, known, chosen)

    @property
    def item(self) -> Dissection:
        """Stands for the dissection that it was in."""
        return Dissection(self.frame, (), Flow("", "", self.ends), self.direction, _BUFFER, _NOTHING, STREAM)


class QueryMessages(Unanswered):
    """Keeps messages of queries for somebody else who counts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[QueryMessage] = []

    def feed(self, item: Dissection, row: Row) -> None:
        self.found.append(QueryMessage.of(item, row))
