"""Messages that were read without a tape: row and tape are made only when needed."""

from zdissect.engine.compiler import COMPILED, locator
from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import LAYERS, DecodedMessage, Row
from zdissect.engine.tape import Remark, Span, Tape
from zdissect.engine.templates import LENGTH, OFFSET, Cell
from zdissect.grammar.batch import BATCH
from zdissect.grammar.types import Message

_NAMED = {one.name: one for one in COMPILED}


class LazyTape(Tape):
    """The tape of a batch that was read without one: FRAMEs and KEEP_ALIVEs only, without faults."""

    __slots__ = ("made", "prefix")

    def __init__(self, data: bytes, prefix: int) -> None:
        self.data = data
        self.start = 0
        self.stop = len(data)
        self.remarks: list[Remark] = []
        self.prefix = prefix
        self.made: list[Span] | None = None

    @property
    def spans(self) -> list[Span]:  # type: ignore[override]
        """The spans, from the interpreter. It makes no remarks here: a batch with any isn't read without a tape."""
        if self.made is None:
            self.made = interpret(BATCH, self.data, prefix=self.prefix).spans
        return self.made


class LazyMessage(DecodedMessage):
    """The `number`-th message of such a batch. Its row is made already, or stays in a cell until it is needed."""

    __slots__ = ("cell", "made", "number", "template")

    def __init__(self, tape: Tape, number: int, found: Cell | Row) -> None:
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
        """The place of a field, for a finding: no tape is needed for that."""
        start, data = self.offset, self.tape.data
        found: tuple[int, int] | None = None
        if path:
            found = locator(_NAMED[self.shared["message"]], path)(data, start, len(data))
        return found or (start, start + 1)

    @property
    def first(self) -> int:  # type: ignore[override]
        return self._places()[self.number]

    @property
    def stop(self) -> int:  # type: ignore[override]
        places = self._places()
        return places[self.number + 1] if self.number + 1 < len(places) else len(self.tape.spans)

    def _places(self) -> list[int]:
        """Indices of the spans of all messages."""
        return [
            index
            for index, span in enumerate(self.tape.spans)
            if span[0].kind == "message" and isinstance(span[0].node, Message) and span[0].node.layer in LAYERS
        ]


def lazy_messages(data: bytes, prefix: int, found: list[Cell | Row]) -> tuple[Tape, list[DecodedMessage]]:
    """The tape and the messages of a batch with a length prefix of `prefix` bytes, from their rows and cells."""
    tape = LazyTape(data, prefix)
    return tape, [LazyMessage(tape, number, one) for number, one in enumerate(found)]
