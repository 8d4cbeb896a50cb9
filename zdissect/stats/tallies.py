"""Messages with the same template, counted together: what a report says of them is found out once, for the first."""

from dataclasses import dataclass

from zdissect.engine.messages import Row
from zdissect.engine.templates import LENGTH, PAYLOAD, Cell
from zdissect.stats.keys import Key, Seen


@dataclass(slots=True)
class Tally:
    """Messages like one that was counted. They come from the same side of the same link: templates belong to one."""

    row: Row
    """The columns that they share."""
    key: Key | None
    """The key that they are sent to, and..."""
    seen: Seen
    """... how often and when it was seen on their link."""
    messages: int = 0
    size: int = 0
    payloads: int = 0
    """Bytes of their payloads."""

    def add(self, cell: Cell, now_ns: int) -> None:
        """Takes a message."""
        self.messages += 1
        self.size += cell[LENGTH]
        payload = cell[PAYLOAD]
        if payload is not None:
            self.payloads += len(payload)
        self.seen[2] = now_ns

    def settle(self) -> None:
        """Adds what was counted to the key."""
        if self.key is not None:
            self.key.count(self.row, self.messages, self.payloads)
            self.seen[0] += self.messages
