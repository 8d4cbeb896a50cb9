"""A message for other programs: its fields by name, its row, its tree."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from zdissect.dissection import Dissection
from zdissect.engine.messages import DecodedMessage, Row
from zdissect.engine.tape import Tape
from zdissect.engine.values import values
from zdissect.grammar.columns import NAMES
from zdissect.grammar.registry import fields
from zdissect.grammar.types import Bit, Message
from zdissect.output.nested import Node, nodes
from zdissect.output.style import COLOUR, PLAIN
from zdissect.output.tree import TreeWriter

_COLUMNS = frozenset(NAMES)


class DissectedMessage:
    """One message.

    `message[name]` is a value: of a column of the message table (`key_expr`, `sn`; docs/tables.md), or else of a field
    (`zenoh.push.scope`, or `push.scope` for short; docs/fields.md): an integer, a str, bytes, or None for a group or an
    extension, which has no value of its own.

    The fields of a FRAME don't include those of the messages in it, which are messages of their own. Sub-messages (PUT,
    D_SUBSCRIBER) are part of their network message.
    """

    __slots__ = ("_decoded", "item")

    def __init__(self, decoded: DecodedMessage, item: Dissection | None = None) -> None:
        self._decoded = decoded
        self.item = item
        """The batch or datagram of a capture that it is in, with its frame and flow; None for bytes alone."""

    def __repr__(self) -> str:
        names = (self.name or "undecoded", self.row.get("body"), self.row.get("reply_body"), self.row.get("key_expr"))
        return f"<{' '.join(name for name in names if name)}>"

    @property
    def row(self) -> Row:
        """Its columns that have a value, as in `-T jsonl`, with bytes as bytes and times as integers."""
        return self._decoded.row

    @property
    def name(self) -> str | None:
        """Its name: `PUSH`, `INIT_SYN`; None if its bytes don't tell."""
        name: str | None = self.row["message"]
        return name

    @property
    def kind(self) -> str:
        """The name of its layout for `dissect` and `encode`: `push`, `init`, `transport_oam`; "" if it has none."""
        node = self._decoded.tape.spans[self._decoded.first][0].node
        return (node.path or node.name).lower() if isinstance(node, Message) else ""

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What is wrong with it: `severity`, `code`, `offset` and `message` of each (`zdissect explain CODE`)."""
        return list(self.row.get("findings", ()))

    @property
    def data(self) -> bytes:
        """Its bytes; those of a FRAME with the messages in it."""
        return self._decoded.data

    @property
    def values(self) -> dict[str, Any]:
        """Its values as nested dicts by the names of the grammar, as `encode` takes them; a FRAME's with its messages.

        Where decoding failed, the values read before that are there and the rest is missing.
        """
        return values(self._part(whole=True)) if self.kind else {}

    def fields(self) -> Iterator[tuple[str, Any]]:
        """(name, value) of all its fields in the order of the wire; bit fields come after what holds them."""
        for field, _, _, _, value in self._decoded.spans():
            yield field.path, value
            for bit in field.bits:
                assert isinstance(bit.node, Bit)
                yield bit.path, bit.node.of(value)

    def all(self, name: str) -> list[Any]:
        """All values of a field, in the order of the wire; empty if it isn't present.

        Raises:
            KeyError: No field and no column has this name.
        """
        if name in _COLUMNS:
            value = self.row.get(name)
            return [] if value is None else [value]
        path = name if name in fields() else f"zenoh.{name}"
        field = fields().get(path)
        if field is None:
            near = get_close_matches(name, [*fields(), *NAMES], 1)
            raise KeyError(
                f"no field and no column is called {name!r}" + (f"; did you mean {near[0]}?" if near else "")
            )
        if field.kind == "derived":
            return self.all(field.column) if field.column in _COLUMNS else []
        return [value for known, value in self.fields() if known == path]

    def get(self, name: str, default: Any = None) -> Any:
        """The first value of a field, or the value of a column; `default` if it isn't present, or has no value."""
        found = self.all(name)
        return default if not found or found[0] is None else found[0]

    def __contains__(self, name: str) -> bool:
        return bool(self.all(name))

    def __getitem__(self, name: str) -> Any:
        found = self.all(name)
        if not found:
            raise KeyError(f"{name} isn't there in this {self.name}")
        return found[0]

    def tree(self, *, limit: int = 96, color: bool = False) -> str:
        """Its annotated tree, as `-T tree` prints it; offsets count from its first byte.

        Args:
            limit: Most bytes of a payload that are shown.
        """
        part = self._part(whole=False)
        known = DecodedMessage(part, 0, self.row)
        return "\n".join(TreeWriter(COLOUR if color else PLAIN, limit=limit).lines(part, [known]))

    def nodes(self) -> list[Node]:
        """Its fields as nested nodes, with ranges in bits that count from its first bit."""
        part = self._part(whole=False)
        return nodes(part, [DecodedMessage(part, 0, self.row)])

    def _part(self, whole: bool) -> Tape:
        """Its part of the tape; `whole`: with the messages in it."""
        tape, first = self._decoded.tape, self._decoded.first
        spans = tape.spans
        _, depth, start, stop, _ = spans[first]
        last = first + 1
        while last < len(spans) and spans[last][1] > depth and (whole or last < self._decoded.stop):
            last += 1
        mine = [(field, level - depth, begin, end, value) for field, level, begin, end, value in spans[first:last]]
        end = stop if whole else mine[-1][3]
        remarks = [remark for remark in tape.remarks if start <= remark[1] < end or remark[1] == end == stop]
        return Tape(tape.data, start, stop, mine, remarks)
