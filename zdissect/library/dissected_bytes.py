"""Bytes of unknown origin as messages: `zdissect hex` for programs."""

from collections.abc import Sequence
from typing import overload

from zdissect.library.dissected_message import DissectedMessage
from zdissect.output.style import COLOUR, PLAIN
from zdissect.output.tree import TreeWriter
from zdissect.paste import PasteError, parse_paste
from zdissect.readings import Reading, read_as, readings
from zdissect.readings.found_messages import decoded_messages


class DissectedBytes(Sequence[DissectedMessage]):
    """The messages in some bytes: a sequence in the order of the wire. A FRAME comes before the messages in it."""

    def __init__(self, reading: Reading) -> None:
        self._messages = [DissectedMessage(one) for unit in reading.units for one in decoded_messages(unit)]
        self._units = reading.units
        self.kind = reading.name
        """The kind that the bytes were read as: a name for `--as`, such as `stream`, `datagram`, `network`, `put`."""
        self.title = reading.title
        """The same for people."""
        self.why = reading.why
        """The evidence for and against that, for people."""
        self.complete = reading.complete
        """Whether the bytes decode to their end without an error."""

    @overload
    def __getitem__(self, index: int) -> DissectedMessage: ...

    @overload
    def __getitem__(self, index: slice) -> list[DissectedMessage]: ...

    def __getitem__(self, index: int | slice) -> DissectedMessage | list[DissectedMessage]:
        return self._messages[index]

    def __len__(self) -> int:
        return len(self._messages)

    def __repr__(self) -> str:
        return f"<{self.kind}: {' '.join(map(repr, self))}>"

    def tree(self, *, limit: int = 96, color: bool = False) -> str:
        """The annotated tree of all bytes, as `zdissect hex` prints it.

        Args:
            limit: Most bytes of a payload that are shown.
        """
        writer = TreeWriter(COLOUR if color else PLAIN, limit=limit)
        return "\n".join(line for unit in self._units for line in writer.lines(unit.tape))


def dissect(data: bytes | bytearray | memoryview | str, kind: str = "") -> DissectedBytes:
    """Dissects bytes on their own: without a session, a key that was declared earlier has only its id.

    Args:
        data: The bytes, or a text to read them from as `zdissect hex` does.
        kind: What the bytes are: a name that `zdissect hex --as` takes. By default the best reading is chosen.

    Raises:
        UnknownName: No reading has the name `kind` (a ValueError).
        PasteError: The text holds no bytes, or several separate pieces (a ValueError).
    """
    given = _bytes_of(data) if isinstance(data, str) else bytes(data)
    return DissectedBytes(read_as(given, kind) if kind else readings(given)[0])


def _bytes_of(text: str) -> bytes:
    """The single piece of bytes in a text."""
    pieces = parse_paste(text)
    if len(pieces) > 1:
        places = ", ".join(piece.where for piece in pieces)
        raise PasteError(f"the text holds {len(pieces)} runs of bytes ({places}); give them one by one", 1, 1, "")
    return pieces[0].data
