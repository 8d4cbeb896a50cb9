"""Tables of declared key expressions: what each id stands for (notes 1.6 and 6.2).

`network_layer.resolve` resolves wire expressions with them.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

ID_BYTES = 250
"""Memory that an id takes besides its key."""


class Declared(NamedTuple):
    """A key expression that an id stands for."""

    key: str | None
    """Its text; None if it couldn't be resolved itself."""
    frame: int
    """Number of the frame that declared it."""
    alive: bool = True


@dataclass(slots=True)
class KeyTable:
    """The ids that one side declared. Freed ids keep their text, to explain late uses."""

    ids: dict[int, Declared] = field(default_factory=dict)
    size: int = 0
    """The memory that they take."""

    def declare(self, ident: int, key: str | None, frame: int) -> str | None:
        """Maps an id to a key; returns the key that it stood for until now, if that was a different one."""
        old = self.ids.get(ident)
        if old is not None and old.alive and old.key != key and old.key is not None and key is not None:
            return old.key
        self.size += _memory_of(key) - (_memory_of(old.key) if old is not None else 0)
        self.ids[ident] = Declared(key, frame)
        return None

    def shrink(self) -> None:
        """Forgets the older half of the ids, because all together take too much memory."""
        for ident in list(self.ids)[: (len(self.ids) + 1) // 2]:
            self.size -= _memory_of(self.ids.pop(ident).key)

    def undeclare(self, ident: int) -> Declared | None:
        """Frees an id; returns what it stood for, None if nothing."""
        old = self.ids.get(ident)
        if old is None or not old.alive:
            return None
        self.ids[ident] = old._replace(alive=False)
        return old

    def get(self, ident: int) -> Declared | None:
        """What an id stands for, or stood for last."""
        return self.ids.get(ident)


def _memory_of(key: str | None) -> int:
    """Memory that an id with its key takes."""
    return ID_BYTES + len(key or "")
