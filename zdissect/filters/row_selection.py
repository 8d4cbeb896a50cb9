"""Selects messages by their columns, and asks of each part of a filter as rarely as possible.

What all messages of a batch share is asked once, what those with a template share once for each template. Only the rest
needs the row of a message.
"""

from collections.abc import Sequence

from zdissect.dissection import Dissection
from zdissect.engine.templates import OPEN, PerTemplate
from zdissect.filters.on_rows import Row, RowCompiler, RowTest, columns_read
from zdissect.filters.typed_tree import AllOf, Tree
from zdissect.table import Table

SHARED = frozenset({
    "file", "frame_number", "ts_ns", "ts", "flow_id", "src_ip", "src_port", "dst_ip", "dst_port", "link", "initiator",
    "buffer", "schema_version",
})  # fmt: skip
"""Columns that rows have only from the item they are in, and alike, and..."""
PLACES = frozenset({"message_index", "message_number"})
"""... those that say where in it they are."""


class RowSelection:
    """A filter for messages.

    Args:
        tree: What it asks; columns hold all that it reads.
    """

    def __init__(self, tree: Tree) -> None:
        parts = tree.parts if isinstance(tree, AllOf) else (tree,)
        of_item = [part for part in parts if columns_read(part) <= SHARED]
        of_template = [part for part in parts if columns_read(part).isdisjoint(OPEN | SHARED | PLACES)]
        others = [part for part in parts if part not in of_item and part not in of_template]
        self._of_item, self._of_template, self._others = map(_test, (of_item, of_template, others))
        self._known = PerTemplate(self._of_template or _always)
        self._wholly = not columns_read(AllOf(tuple(others))).isdisjoint(SHARED | PLACES)
        """Whether the others need more than a message has of its own."""

    def select(self, item: Dissection) -> list[bool]:
        """Whether each message of a dissection is selected."""
        others, known = self._others, self._known
        where = Table.where(item) if self._of_item is not None or self._wholly else {}
        if self._of_item is not None and not self._of_item(where):
            return [False] * len(item.messages)
        out = []
        for number, message in enumerate(item.messages):
            template = message.template
            selected = known[template] if template is not None else known.make(message.row)
            if selected and others is not None:
                selected = others(Table.whole(item, number, where) if self._wholly else message.columns())
            out.append(selected)
        return out


def _test(parts: Sequence[Tree]) -> RowTest | None:
    """The closure of several parts, which must all hold; None if there are none."""
    return RowCompiler().test(AllOf(tuple(parts))) if parts else None


def _always(row: Row) -> bool:
    return True
