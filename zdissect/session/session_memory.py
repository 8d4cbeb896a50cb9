"""The memory that sessions take, all together: what they remember, and messages of which fragments are missing."""

from zdissect.dissection import Dissection, Notice
from zdissect.engine.messages import Row
from zdissect.limits import Limits, Quota
from zdissect.session.model import Session


class BatchKeys(Quota[None]):
    """The long keys of the messages of one batch."""

    loses = "further long keys of the same batch stay as they were sent, by the id that was declared"

    left_out = 0
    """How many keys were taken from messages."""

    def begin(self) -> None:
        """The next batch begins."""
        self.held = 0

    def feed(self, row: Row) -> None:
        """Takes a message with a long key; takes the key from it if there are too many."""
        size = len(row["key_expr"])
        if self.held + size > self.most and row.get("key_scope") != 0:
            self.tell()
            self.left_out += 1
            del row["key_expr"]
        else:
            self.held += size


class SessionMemory:
    """Counts what sessions keep; where it is too much, the largest gives something up."""

    def __init__(self, limits: Limits) -> None:
        self.reached: list[str] = []
        """Texts about limits that were reached, until they are told."""
        self.tables: Quota[Session] = Quota("sessions", limits.sessions, self.reached)
        self.fragments: Quota[Session] = Quota("fragments", limits.fragments, self.reached)
        self.keys = BatchKeys("keys", limits.keys, self.reached)

    def count(self, session: Session, item: Dissection) -> list[Notice]:
        """Counts a session, which an item may have changed; what is to be said of limits that were reached."""
        self.tables.set(session, session.size)
        for largest in self.tables.excess():
            largest.shrink()
            self.tables.set(largest, largest.size)
        if session.pieces or session in self.fragments.owners:
            self.fragments.set(session, session.pieces)
            for largest in self.fragments.excess():
                while largest.pieces and self.fragments.held > self.fragments.most >> 1:
                    largest.drop_fragments()
                    self.fragments.set(largest, largest.pieces)
        if not self.reached:
            return []
        texts, self.reached[:] = [*self.reached], []
        return [Notice(item.frame, item.flow, item.direction, text, "limit") for text in texts]

    def drop(self, session: Session) -> None:
        """Forgets a session that no link carries any more."""
        if not session.links:
            self.tables.drop(session)
            self.fragments.drop(session)
