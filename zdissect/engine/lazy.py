"""Messages whose rows were compiled: their tape is made only if somebody asks for it, to report a finding."""

from typing import Any

from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import LAYERS, Message, Row
from zdissect.engine.tape import Remark, Span, Tape
from zdissect.grammar.batch import BATCH
from zdissect.grammar.types import Message as Kind


class LazyTape(Tape):
    """The tape of a batch that has been read without one."""

    __slots__ = ("inputs", "made")

    def __init__(self, data: bytes, inputs: dict[str, Any]) -> None:
        self.data = data
        self.start = 0
        self.stop = len(data)
        self.remarks: list[Remark] = []
        self.inputs = inputs
        self.made: list[Span] | None = None

    @property
    def spans(self) -> list[Span]:  # type: ignore[override]
        """The spans, by the interpreter. It has no remarks of its own here: a batch with any isn't compiled."""
        if self.made is None:
            self.made = interpret(BATCH, self.data, **self.inputs).spans
        return self.made


class LazyMessage(Message):
    """A message of such a batch: the `number`-th."""

    __slots__ = ("number",)

    def __init__(self, tape: Tape, number: int, row: Row) -> None:
        self.tape = tape
        self.number = number
        self.row = row
        self.repeated = False

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
            if span[0].kind == "message" and isinstance(span[0].node, Kind) and span[0].node.layer in LAYERS
        ]


def lazy_messages(data: bytes, inputs: dict[str, Any], rows: list[Row]) -> tuple[Tape, list[Message]]:
    """The tape and the messages of a batch with these rows."""
    tape = LazyTape(data, inputs)
    return tape, [LazyMessage(tape, number, row) for number, row in enumerate(rows)]
