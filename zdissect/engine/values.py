"""A tape as plain nested values: the input of the encoder, and the form used in tests and samples.

    {"message": "PUSH", "Z": 1, "N": 1, "M": 0, "scope": 1, "suffix": "/a",
     "extensions": [{"ext": "qos", "value": 13}, {"ext": 9, "enc": 2, "mandatory": 0, "value": b"abc"}],
     "body": {"message": "PUT", "Z": 0, "E": 1, "T": 0, "encoding": {"value": 10}, "payload": b"hi"}}

Names are those of the grammar:

- A message or a unit is a dict; `message` (or `unit`) is its name. Its flags and the bit fields of its bytes are
  entries of their own. Reserved bits appear only if they are set.
- A chain is the list `extensions`, in the order of the wire. `ext` is the name of an extension that is known for the
  message, or the id of any other, which also has `enc`, `mandatory`, and `value` unless it is a Unit.
- A group with a name is a dict; a repeat is a list of dicts, or of plain values if a turn has a single field.
- A choice is a message, or a list of messages where there may be many.
- Lengths and counts in front of something are left out, as they follow from it. `length` appears where the declared
  length isn't the actual one.
"""

from typing import Any

from zdissect.engine.inference import single
from zdissect.engine.tape import Span, Tape
from zdissect.grammar.field import EXT_HEADER, EXT_LENGTH, EXT_NUMBER, EXT_UNKNOWN, EXT_VALUE, Field
from zdissect.grammar.registry import PlacedNode, place
from zdissect.grammar.types import Bit, Bits, Choice, Extension, Extensions, Group, Message, Repeat, Unit

Values = dict[str, Any]


def values(tape: Tape) -> Values:
    """The values of a tape. Where decoding failed, the values read before that are there and the rest is missing."""
    reader = _Reader(tape.spans)
    if not tape.spans or not isinstance(node := tape.spans[0][0].node, Message | Unit):
        return {}
    if isinstance(node, Message):
        return reader.message(node)
    reader.at = 1
    out: Values = {"unit": node.name}
    reader.places(place(node).inside, 1, out)
    return out


class _Reader:
    """Walks spans and grammar together. The spans say what was present, so no condition is evaluated again."""

    def __init__(self, spans: list[Span]) -> None:
        self.spans = spans
        self.at = 0

    def next(self, depth: int) -> Field | None:
        """The field of the next span, if it is at this depth."""
        if self.at < len(self.spans):
            field, level, *_ = self.spans[self.at]
            if level == depth:
                return field
        return None

    def take(self) -> Any:
        """The value of the next span; moves past it."""
        self.at += 1
        return self.spans[self.at - 1][4]

    def leave(self, depth: int) -> None:
        """Skips the rest of a deeper level: bytes that couldn't be decoded."""
        while self.at < len(self.spans) and self.spans[self.at][1] > depth:
            self.at += 1

    def message(self, message: Message) -> Values:
        """The message whose span is next."""
        placed = place(message)
        depth = self.spans[self.at][1]
        self.at += 1
        out: Values = {"message": message.name}
        if placed.header is not None and self.next(depth + 1) is placed.header:
            _spread(self.take(), message.flags, out)
        self.places(placed.inside, depth + 1, out)
        self.leave(depth)
        return out

    def places(self, places: tuple[PlacedNode, ...], depth: int, out: Values) -> None:
        for placed in places:
            self.place(placed, depth, out)

    def place(self, placed: PlacedNode, depth: int, out: Values) -> None:
        """Adds the value of a place, if the next spans have any."""
        node = placed.node
        if isinstance(node, Extensions):
            known = {inside.field: inside for inside in placed.inside}
            chain = []
            while (field := self.next(depth)) and (field in known or field is EXT_UNKNOWN):
                chain.append(self.extension(known.get(field), depth))
            if chain:
                out["extensions"] = chain
        elif isinstance(node, Choice):
            self.choice(node, depth, out)
        elif isinstance(node, Group):
            self.group(placed, node, depth, out)
        elif isinstance(node, Repeat):
            self.repeat(placed, node, depth, out)
        elif self.next(depth) is placed.field:
            value = self.take()
            if isinstance(node, Bits):
                _spread(value, node.bits, out)
            else:
                out[node.name] = value

    def extension(self, placed: PlacedNode | None, depth: int) -> Values:
        """One extension; `placed` is its place if it is known."""
        stop = self.spans[self.at][3]
        self.at += 1
        header = self.take() if self.next(depth + 1) is EXT_HEADER else 0
        if placed is None:
            out: Values = {"ext": header & 15, "enc": header >> 5 & 3, "mandatory": header >> 4 & 1}
            if self.next(depth + 1) in (EXT_VALUE, EXT_NUMBER):
                out["value"] = self.take()
        else:
            assert isinstance(placed.node, Extension)
            out = {"ext": placed.node.name}
            if self.next(depth + 1) is EXT_LENGTH:
                self.length(stop, out)
            self.places(placed.inside, depth + 1, out)
        self.leave(depth)
        return out

    def length(self, stop: int, out: Values) -> None:
        """Keeps a declared length if it differs from that of the content up to `stop`."""
        after = self.spans[self.at][3]
        declared = self.take()
        if declared != stop - after:
            out["length"] = declared

    def choice(self, node: Choice, depth: int, out: Values) -> None:
        chosen = []
        while (field := self.next(depth)) and field.node in node.messages:
            assert isinstance(field.node, Message)
            chosen.append(self.message(field.node))
            if not node.many:
                break
        if node.many and chosen:
            # a place with other messages may have the same name and begin with the same ones
            out.setdefault(node.name, []).extend(chosen)
        elif chosen:
            out[node.name] = chosen[0]

    def group(self, placed: PlacedNode, node: Group, depth: int, out: Values) -> None:
        if not node.name or node.size:
            self.places(placed.inside, depth, out)
        elif self.next(depth) is placed.field:
            stop = self.spans[self.at][3]
            self.at += 1
            inner: Values = {}
            if placed.count and self.next(depth + 1) is placed.count.field:
                self.length(stop, inner)
            self.places(placed.inside, depth + 1, inner)
            self.leave(depth)
            out[node.name] = inner

    def repeat(self, placed: PlacedNode, node: Repeat, depth: int, out: Values) -> None:
        if placed.count and self.next(depth) is placed.count.field:
            self.at += 1
            out[node.name] = []
        if self.next(depth) is not placed.field:
            return
        self.at += 1
        items = out[node.name] = []
        while (field := self.next(depth + 1)) is not None:
            inner: Values = {}
            before = self.at
            if field is placed.item:
                self.at += 1
                self.places(placed.inside, depth + 2, inner)
                self.leave(depth + 1)
                items.append(inner)
            else:
                self.places(placed.inside, depth + 1, inner)
                items.extend(inner.values() if single(placed) else [inner])
            if self.at == before:
                break
        self.leave(depth)


def _spread(value: int, bits: tuple[Bit, ...], out: Values) -> None:
    """The bit fields of a byte; reserved ones only if they are set."""
    for bit in bits:
        part = (value & bit.mask) >> bit.low
        if part or not bit.reserved:
            out[bit.name] = part
