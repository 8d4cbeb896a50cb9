"""Reads and writes the vector files; README.md says what a vector is.

`python tests/vectors/vectors.py FILE...` completes the vectors that have no fields yet, to be checked by hand.
"""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Tape
from zdissect.grammar.batch import BATCH, NETWORK_MESSAGE, SCOUTING_DATAGRAM
from zdissect.grammar.field import EXT_HEADER, Field
from zdissect.grammar.primitives import RENDERINGS
from zdissect.grammar.registry import MESSAGES
from zdissect.grammar.serial import SERIAL_FRAME
from zdissect.grammar.types import Bit, Message, Unit

HERE = Path(__file__).parent
ENTRIES: dict[str, tuple[Message | Unit, dict[str, int]]] = {
    "stream": (BATCH, {"prefix": 2}),
    "batch": (BATCH, {}),
    "cbatch": (BATCH, {"compression": 1}),
    "ll": (BATCH, {"prefix": 4, "low_latency": 1}),
    "scout": (SCOUTING_DATAGRAM, {}),
    "reassembled": (NETWORK_MESSAGE, {}),
    "serial": (SERIAL_FRAME, {"kind": 1}),
    "serial-old": (SERIAL_FRAME, {"kind": 0}),
    "TRANSPORT_OAM": (next(message for message in MESSAGES if message.path == "transport_oam"), {}),
    **{message.name: (message, {}) for message in MESSAGES if not message.path},
}
"""What the bytes of a vector can be: a unit of a link, or a single message by its name."""

_LINE = re.compile(r"(\d+\.\.\d+)\s+(\S+) = (.*)")
_INDENT = "    "


@dataclass(slots=True)
class Vector:
    """Bytes and everything that decoding must say of them."""

    file: str
    line: int
    name: str
    source: str = ""
    entry: str = ""
    hex: list[str] = field(default_factory=list)
    messages: str = ""
    fields: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    stated: bool = False
    """Whether it says what to expect; new ones don't yet."""

    @property
    def data(self) -> bytes:
        """Its bytes: what stands left of the comments."""
        return bytes.fromhex(" ".join(line.partition("|")[0] for line in self.hex))

    def decode(self) -> Tape:
        """What the interpreter makes of it."""
        entry, inputs = ENTRIES[self.entry]
        return interpret(entry, self.data, **inputs)


def load() -> list[Vector]:
    """All vectors, file by file."""
    return [vector for path in sorted(HERE.glob("*.txt")) for vector in parse(path)]


def parse(path: Path) -> Iterator[Vector]:
    """The vectors of one file. Raises ValueError, with file and line, for what it can't read."""
    vector: Vector | None = None
    part: list[str] = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        line = text.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("== "):
            if vector:
                yield vector
            vector, part = Vector(path.name, number, line[3:]), []
        elif vector is None:
            raise ValueError(f"{path}:{number}: a vector begins with '== NAME'")
        elif text[0].isspace():
            found = _LINE.fullmatch(line)
            part.append(f"{found[1]} {found[2]} = {found[3]}" if found else line)
        else:
            part = _keyword(vector, line, f"{path}:{number}")
    if vector:
        yield vector


def _keyword(vector: Vector, line: str, where: str) -> list[str]:
    """Takes a line that begins with a keyword; the list that the lines below it belong to."""
    word, _, rest = line.partition(" ")
    if word in ("source", "entry", "messages"):
        setattr(vector, word, rest.strip())
    elif word == "remark":
        vector.remarks.append(rest.strip())
    elif line == "no remarks":
        vector.stated = True
    elif line in ("hex", "fields"):
        vector.stated |= line == "fields"
        return vector.hex if line == "hex" else vector.fields
    else:
        raise ValueError(f"{where}: unknown keyword {word!r}")
    return []


def leaves(tape: Tape) -> list[str]:
    """A line for each span that owns bytes: position, field, value, bits, meaning."""
    out, around = [], ""
    for item, _, start, stop, value in tape.spans:
        if item.kind == "extension":
            around = item.path
        if item.leaf:
            of = f" of {around}" if item is EXT_HEADER else ""
            out.append(f"{start}..{stop} {item.path} = {_value(item, value)}{of}")
    return out


def messages(tape: Tape) -> str:
    """The names of the messages, in the order of the wire."""
    return " ".join(span[4] for span in tape.spans if span[0].kind == "message")


def remarks(tape: Tape) -> list[str]:
    """Code and place of each remark."""
    return [f"{code} {start}..{stop}" for code, start, stop, _ in tape.remarks]


def _value(item: Field, value: int | str | bytes) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=any("\udc80" <= char <= "\udcff" for char in value))
    if isinstance(value, bytes):
        text = value.hex() or "(empty)"
        return f"{text} ({RENDERINGS[item.render](value)})" if item.render in RENDERINGS else text
    text = f"0x{value:02x}" if item.kind in ("header", "bits") or item.render in ("hex", "ntp64") else str(value)
    shown = [_bit(bit.node, value) for bit in item.bits if isinstance(bit.node, Bit)]
    text += f" [{' '.join(filter(None, shown))}]" if item.bits else ""
    if item.enum:
        text += f" ({item.enum.names.get(value, '?')})"
    elif item.render in RENDERINGS and item.render != "hex":
        text += f" ({RENDERINGS[item.render](value)})"
    return text


def _bit(bit: Bit, value: int) -> str:
    """`M=1`, `whatami=2:client`; nothing for the id of a message and for reserved bits that are 0."""
    part = (value & bit.mask) >> bit.low
    if bit.name == "message_id" or (bit.reserved and not part):
        return ""
    return f"{bit.name}={part}" + (f":{bit.enum.names.get(part, '?')}" if bit.enum else "")


def statement(vector: Vector) -> str:
    """What the interpreter says of a vector, in the words of the file."""
    tape = vector.decode()
    lines = [f"messages {messages(tape)}".rstrip(), "fields"]
    for line in leaves(tape):
        place, _, rest = line.partition(" ")
        lines.append(f"{_INDENT}{place:<9} {rest}")
    lines += [f"remark {line}" for line in remarks(tape)] or ["no remarks"]
    return "\n".join(lines) + "\n"


def complete(path: Path) -> int:
    """Adds what decoding says to the vectors that don't say what to expect; how many that were."""
    lines = path.read_text().splitlines(keepends=True)
    new = [vector for vector in parse(path) if not vector.stated]
    for vector in reversed(new):
        end = vector.line
        while end < len(lines) and not lines[end].startswith(("==", "#")):
            end += 1
        while not lines[end - 1].strip():
            end -= 1
        lines.insert(end, statement(vector))
    path.write_text("".join(lines))
    return len(new)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {complete(Path(name))} completed; now check each line against the bytes")
