"""Families: messages that differ from one another only in what changes from message to message.

Most traffic is like that, and the fast ways of reading live by it; messages made at random are hardly ever alike. A
family is a seed: everything that its messages share is drawn from it, and what each has for itself (payload,
attachment, times, sequence numbers) from a source of its own.
"""

from typing import Any

from tests.generators import ChoiceSource, Entry, SeededChoices, ValueGenerator
from zdissect.grammar.columns import changes
from zdissect.grammar.registry import PlacedNode


class FamilyGenerator(ValueGenerator):
    """Makes one message of a family; nothing in its bytes is worth a finding."""

    def __init__(self, family: int, own: ChoiceSource, now: int | None = None) -> None:
        super().__init__(SeededChoices(family), clean=True)
        self.own = own
        self.now = now
        """NTP64 of most of its times, of which a few are some seconds older; None: any time."""

    def field(self, one: PlacedNode, seen: dict[str, int], out: dict[str, Any]) -> None:
        """The value of one place: its own if it changes, that of the family if it doesn't."""
        if not changes(one.field):
            super().field(one, seen, out)
            return
        shared, self.source = self.source, self.own
        super().field(one, seen, out)
        if one.field.render == "ntp64" and self.now is not None and (back := self.own.number(31)):
            out[one.node.name] = self.now - (back << 32 if back < 3 else 0)
        self.source = shared


def family_member(entry: Entry, family: int, own: ChoiceSource, now: int | None = None) -> dict[str, Any]:
    """The values of one message of a family."""
    return FamilyGenerator(family, own, now).entry(entry, {})
