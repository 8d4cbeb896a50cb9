"""Messages that were read without a tape: row and tape are made only when needed."""

from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import LAYERS, DecodedMessage, Row
from zdissect.engine.tape import Remark, Span, Tape
from zdissect.engine.templates import LENGTH, OFFSET, Cell
from zdissect.grammar.batch import BATCH
from zdissect.grammar.registry import MESSAGES
from zdissect.grammar.types import Message

_NAMED = {one.name: one for one in MESSAGES if one.layer in LAYERS}


class LazyTape(Tape):
    """The tape of a batch that was read without one: FRAMEs and KEEP_ALIVEs only, without faults."""

    __slots__ = ("made", "places", "prefix")

    def __init__(self, data: bytes, prefix: int) -> None:
        self.data = data
        self.start = 0
        self.stop = len(data)
        self.remarks: list[Remark] = []
        self.prefix = prefix
        self.made: list[Span] | None = None
        self.places: list[int] = []
        """Indices of the spans of all messages, and that of the end; empty until one is asked for."""

    @property
    def spans(self) -> list[Span]:  # type: ignore[override]
        """The spans, from the interpreter. It makes no remarks here: a batch with any isn't read without a tape."""
        if self.made is None:
            self.made = interpret(BATCH, self.data, prefix=self.prefix).spans
        return self.made

    def place_of(self, number: int) -> int:
        """The index of the span of a message; for the number of all messages, that of the end."""
        if not self.places:
            self.places = [index for index, span in enumerate(self.spans) if _begins_message(span)]
            self.places.append(len(self.spans))
        return self.places[number]


def _begins_message(span: Span) -> bool:
    field = span[0]
    return field.kind == "message" and isinstance(field.node, Message) and field.node.layer in LAYERS


class LazyMessage(DecodedMessage):
    """The `number`-th message of such a batch. Its row is made already, or stays in a cell until it is needed."""

    __slots__ = ("cell", "made", "number", "template")

    tape: LazyTape

    def __init__(self, tape: LazyTape, number: int, found: Cell | Row) -> None:
        self.tape = tape
        self.number = number
        self.made: Row | None = None
        if isinstance(found, tuple):
            self.template = found[0]
            self.cell = found
        else:
            self.template = None
            self.made = found

    @property
    def row(self) -> Row:  # type: ignore[override]
        """Its row. Callers may change it, so once it is made it takes the place of the cell."""
        if self.made is None:
            self.made = self.template.complete(self.cell)
            self.template = None
        return self.made

    @property
    def offset(self) -> int:
        """Where it begins; its row isn't needed for that."""
        start: int = self.cell[OFFSET] if self.made is None else self.made["offset"]
        return start

    @property
    def length(self) -> int:
        """How many bytes it has; its row isn't needed for that."""
        size: int = self.cell[LENGTH] if self.made is None else self.made["length"]
        return size

    def place(self, path: str) -> tuple[int, int]:
        """The place of a field, for a finding: only the message itself is read again."""
        start = self.offset
        if self.shared["layer"] != "network":  # its length is that of all messages in it
            return super().place(path) if path else (start, start + 1)
        path = f"zenoh.{path}"
        stop = start + self.length
        spans = own_spans(self.shared["message"], self.tape.data, (start, stop), stop)
        return next(((span[2], span[3]) for span in spans if span[0].path == path), (start, start + 1))

    @property
    def first(self) -> int:  # type: ignore[override]
        return self.tape.place_of(self.number)

    @property
    def stop(self) -> int:  # type: ignore[override]
        return self.tape.place_of(self.number + 1)


def own_spans(name: str, data: bytes, place: tuple[int, int], after: int) -> list[Span]:
    """The spans of a message of such a batch, without those of messages inside it: only its own bytes are read again.

    Args:
        name: Which message it is.
        data: Bytes around it.
        place: Where it begins, and where it ends with the messages inside it.
        after: Where the next message begins.
    """
    begin, end = place
    (field, depth, start, _, value), *rest = interpret(_NAMED[name], data, begin, min(after, end)).spans
    return [(field, depth, start, end, value), *rest]
