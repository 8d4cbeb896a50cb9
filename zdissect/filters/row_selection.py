"""Selects messages by their columns, and asks of each part of a filter as rarely as possible.

What all messages of a batch share is asked once, what those with a template share once for each template. Only the rest
needs the row of a message.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zdissect.dissection import Dissection
from zdissect.engine.templates import OPEN, PerTemplate
from zdissect.filters.on_rows import Row, RowCompiler, RowTest, columns_read
from zdissect.filters.typed_tree import AllOf, Tree
from zdissect.table import Table

if TYPE_CHECKING:
    from zdissect.vector.usual_batches import UsualBatches

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

    def select_usual(self, usual: "UsualBatches") -> list[bool]:
        """Whether each message of usual batches is selected."""
        others, (kinds, kind) = self._others, usual.kinds
        of_kind = [self._known[one.template] for one in kinds]
        out = list(map(of_kind.__getitem__, kind.tolist()))
        wheres: list[Row] = []
        batch: list[int] = usual.batch.tolist()
        if self._of_item is not None or self._wholly:
            ways = [Table.conversation(usual.item(way)) for way in range(len(usual.ways))]
            wheres = [
                Table.frame(frame) | ways[way] for frame, way in zip(usual.frames, usual.way.tolist(), strict=True)
            ]
        if self._of_item is not None:
            of_batch = list(map(self._of_item, wheres))
            out = [selected and of_batch[at] for selected, at in zip(out, batch, strict=True)]
        if others is None:
            return out
        left = [place for place, selected in enumerate(out) if selected]
        index, number = usual.numbers()
        for place, row in zip(left, usual.rows(left), strict=True):
            if self._wholly:
                row |= wheres[batch[place]] | {"message_index": index[place], "message_number": number[place]}
            out[place] = others(row)
        return out


def _test(parts: Sequence[Tree]) -> RowTest | None:
    """The closure of several parts, which must all hold; None if there are none."""
    return RowCompiler().test(AllOf(tuple(parts))) if parts else None


def _always(row: Row) -> bool:
    return True
