"""Writes a message's program out as Python that only tells it from others: the skimming form of codegen.py.

Most messages differ from one before them in a few values: the sequence number, the time, the payload. A skimming
function walks a message, takes these values, and returns the bytes around them as a key. Messages with the same key
are the same in everything else, so what was found out about one holds for all (see templates.py).

The key is unambiguous: the bytes that decide what comes next are always part of it.
"""

from collections.abc import Iterator
from typing import Any

from zdissect.engine import program as ops
from zdissect.engine.codegen import CodeWriter
from zdissect.engine.program import ExtensionProgram, ProgramTable, Step, message_program
from zdissect.grammar.columns import CARRIED, changes
from zdissect.grammar.field import Field
from zdissect.grammar.types import Fixed, Message

_CUT = "key += data[mark:pos]"


def changing_extension(program: ExtensionProgram) -> bool:
    """Whether an extension has a leaf whose value changes from message to message."""
    return any(changes(step[4]) for step in program.steps)


def changing_extensions(message: Message) -> frozenset[str]:
    """Names of such extensions of a message and its bodies."""
    return frozenset(_names(message_program(message).steps))


def _names(steps: tuple[Step, ...]) -> Iterator[str]:
    for op, _, _, _, _, first, *_ in steps:
        if op == ops.EXTENSIONS:
            for program in first.values():
                if changing_extension(program):
                    yield program.field.name.removeprefix("ext_")
        elif op == ops.CHOICE:
            for message in first.messages.values():
                if message.layer == "data":
                    yield from _names(message_program(message).steps)


class Skimmer(CodeWriter):
    """Writes one function: (bytes, start, stop) to (key, position after it, the values of `CARRIED`..., bodies).

    `bodies` are those of the extensions with changing values, in order. The function of a FRAME skims its own fields
    but not the messages in it, and returns (key, position, sequence number).
    """

    def write(self) -> str:
        """The source of the function."""
        message = self.program.message
        self.put(f"def skim_{message.name.lower()}(data, pos, stop):", 0)
        self.put(f'"""Tells one {message.name} from another: what it carries, and the bytes around that."""')
        names = ("sn",) if message.layer == "transport" else (*CARRIED, "bodies")
        self.put(f"{' = '.join(names[:-1] if len(names) > 1 else names)} = None")
        if len(names) > 1:
            self.put("bodies = ()")
        self.put("key = b''")
        self.put("mark = pos")
        self.message(self.program, "h")
        self.decline("pos > stop")
        self.put("if mark < pos:")
        self.put(_CUT, self.depth + 1)
        self.put(f"return key, pos, {', '.join(names)}")
        return "\n".join(self.lines) + "\n"

    def column(self, field: Field, expression: str) -> None:
        """Does nothing: the bits of a header are part of the key."""

    def leaf(self, op: int, field: Field, first: Any, second: Any, keep: Any, check: Any) -> None:
        """One field: its value if that changes, otherwise only where it ends."""
        if changes(field):
            self.put(_CUT)
            super().leaf(op, field, first, second, keep, check)
            if field.column:
                self.put(f"{field.column} = {self.converted(field, 'value')}")
            self.put("mark = pos")
        elif op in (ops.VLE, ops.TEXT, ops.BLOB):
            self.vle(first)
            self.kept(op == ops.VLE and keep)
            if op != ops.VLE:
                self.put("pos += value")
        elif op == ops.RAW:
            node = field.node
            assert isinstance(node, Fixed)
            self.put(f"pos += {self.condition(node.size) if isinstance(node.size, str) else node.size}")
        elif op == ops.REST:
            self.put(f"pos = {self.stop}")
        elif op == ops.UINT and first != 1:
            self.put("raise Decline")
        else:
            self.put("value = data[pos]")
            self.put("pos += 1")
            self.kept(op == ops.BITS and keep)

    def kept(self, keep: Any) -> None:
        """Keeps the bits of a value that conditions need."""
        for name, shift, mask in keep or ():
            self.keep(name, f"value >> {shift} & {mask}")

    def choice(self, table: ProgramTable, many: str) -> None:
        """A body; the messages of a FRAME aren't its own."""
        if many:
            return
        self.bodies += 1
        ident = f"id{self.bodies}"
        self.put(f"{ident} = data[pos] & 31")
        word = "if"
        for message in table.messages.values():
            self.put(f"{word} {ident} == {message.id}:")
            word = "elif"
            self.depth += 1
            self.message(message_program(message), f"h{self.bodies}")
            self.depth -= 1
        self.otherwise()
        self.bodies -= 1

    def extensions(self, known: dict[int, ExtensionProgram]) -> None:
        """A chain of extensions: those that change are read, all others are skipped."""
        self.put("while True:")
        self.depth += 1
        self.put("head = data[pos]")
        self.put("pos += 1")
        word = "if"
        for key, program in known.items():
            if changing_extension(program):
                self.put(f"{word} head & 127 == {key}:")
                word = "elif"
                self.depth += 1
                self.extension(program)
                self.depth -= 1
        self.put(f"{word} head & 96 == 32:")
        self.depth += 1
        self.vle((1 << 64) - 1)
        self.depth -= 1
        self.put("elif head & 96 == 64:")
        self.depth += 1
        self.vle((1 << 32) - 1)
        self.put("pos += value")
        self.depth -= 1
        self.chained()

    def extension(self, program: ExtensionProgram) -> None:
        """An extension with values that change. The key neither includes its length nor depends on it."""
        if program.structured:
            self.put(_CUT)
            self.enter()
            self.put("mark = pos")
            self.steps(program.steps)
            self.leave()
            self.put(_CUT)
            self.put("mark = pos")
            self.put("body = data[begin:bound]")
        else:
            self.put("begin = pos")
            self.steps(program.steps)
            self.put("body = value")
        self.put("bodies += (body,)")
