"""Writes a message's program out as Python source (see compiler.py)."""

from typing import Any

from zdissect.engine import program as ops
from zdissect.engine.program import ExtensionProgram, Program, ProgramTable, Step, message_program
from zdissect.grammar import conditions
from zdissect.grammar.columns import converter
from zdissect.grammar.field import Field
from zdissect.grammar.types import ENC_NAMES, Bit, Extension, Fixed

INDENT = "    "


class CodeWriter:
    """Writes one function."""

    def __init__(self, program: Program, names: dict[str, Any]) -> None:
        self.program = program
        self.names = names
        """Constants that the source uses; more are added here."""
        self.lines: list[str] = []
        self.depth = 1
        self.header = "h"
        self.flags: dict[str, int] = {}
        self.bodies = 0
        self.stop = "stop"
        """The name of the variable with the end of the innermost region."""

    def write(self) -> str:
        """The source of the function."""
        message = self.program.message
        self.put(f"def read_{message.name.lower()}(data, pos, stop):", 0)
        self.put(f'"""{message.doc}"""')
        self.put("start = pos")
        self.put(f'row = {{"layer": {message.layer!r}, "message": {message.name!r}, "offset": start}}')
        self.message(self.program, "h")
        self.put('row["length"] = pos - start')
        self.put("complete(row)")
        self.put("return row, pos")
        return "\n".join(self.lines) + "\n"

    def put(self, text: str, depth: int | None = None) -> None:
        """Adds a line."""
        self.lines.append(INDENT * (self.depth if depth is None else depth) + text)

    def decline(self, condition: str) -> None:
        """Leaves the message to the interpreter if a condition holds."""
        self.put(f"if {condition}:")
        self.put("raise Decline", self.depth + 1)

    def otherwise(self) -> None:
        """Leaves everything else to the interpreter, after conditions for the plain cases."""
        self.put("else:")
        self.put("raise Decline", self.depth + 1)

    def constant(self, value: Any, hint: str) -> str:
        """A name for a value."""
        name = f"{hint}_{len(self.names)}"
        self.names[name] = value
        return name

    def message(self, program: Program, header: str) -> None:
        """A header byte and what follows it."""
        outer = self.header, self.flags
        self.header = header
        self.flags = {flag.name: flag.mask for flag in program.message.flags if flag.width == 1}
        self.put(f"{header} = data[pos]")
        self.put("pos += 1")
        if program.reserved:
            self.decline(f"{header} & {program.reserved}")
        for bit in program.header.bits:
            self.column(bit, f"{header} >> {_bit(bit).low} & {(1 << _bit(bit).width) - 1}")
        for name, shift, mask in program.keep:
            self.keep(name, f"{header} >> {shift} & {mask}")
        for name in ops.markers(program.steps):
            self.keep(name, "0")
        self.steps(program.steps)
        self.header, self.flags = outer

    def keep(self, name: str, expression: str) -> None:
        """Keeps a value that a condition needs."""
        self.put(f"v_{name} = {expression}")

    def condition(self, text: str) -> str:
        """A condition of the grammar as Python: flags by their bits, other names as what was kept."""
        flag = self.flags.get
        return conditions.rename(
            text,
            {name: f"({self.header} & {flag(name)})" if flag(name) else f"v_{name}" for name in conditions.names(text)},
        )

    def steps(self, steps: tuple[Step, ...]) -> None:
        """The steps of a program."""
        for step in steps:
            when = getattr(step[4].node, "when", "")
            if not when:
                self.step(step)
                continue
            self.put(f"if {self.condition(when)}:")
            self.depth += 1
            self.step(step)
            self.depth -= 1

    def step(self, step: Step) -> None:
        """One step."""
        op, _, _, _, field, first, second, keep, check = step
        if op == ops.EXTENSIONS:
            self.extensions(first)
        elif op == ops.CHOICE:
            self.choice(first, second)
        elif op == ops.GROUP:
            self.steps(first)
        elif op in (ops.VLE, ops.TEXT, ops.BLOB, ops.BITS, ops.UINT, ops.RAW, ops.REST):
            self.leaf(op, field, first, second, keep, check)
        else:
            self.put("raise Decline")

    def leaf(self, op: int, field: Field, first: Any, second: Any, keep: Any, check: Any) -> None:
        """One field."""
        if op in (ops.VLE, ops.TEXT, ops.BLOB):
            self.vle(first)
        if op in (ops.BITS, ops.UINT):
            if op == ops.UINT and first != 1:
                self.put("raise Decline")
                return
            self.put("value = data[pos]")
            self.put("pos += 1")
        elif op in (ops.TEXT, ops.BLOB):
            self.bytes_("value", op == ops.TEXT)
        elif op == ops.RAW:
            node = field.node
            assert isinstance(node, Fixed)
            self.bytes_(self.condition(node.size) if isinstance(node.size, str) else str(node.size), False)
        elif op == ops.REST:
            self.decline(f"pos > {self.stop}")  # what came before took bytes from beyond the region
            self.put(f"value = data[pos:{self.stop}]{'.decode()' if first else ''}")
            self.put(f"pos = {self.stop}")
        reserved = second if op == ops.VLE else first if op == ops.BITS else 0
        if reserved:
            self.decline(f"value & {reserved}")
        if op in (ops.VLE, ops.BITS) and keep:
            for name, shift, mask in keep:
                self.keep(name, f"value >> {shift} & {mask}")
        if check is not None:
            self.decline(f"{self.constant(check, 'check')}(value) is not None")
        self.column(field, "value")
        for bit in field.bits:
            self.column(bit, f"value >> {_bit(bit).low} & {(1 << _bit(bit).width) - 1}")

    def vle(self, limit: int) -> None:
        """A variable-length integer."""
        self.put("value = data[pos]")
        self.put("pos += 1")
        self.put("if value > 127:")
        self.put("more = data[pos]", self.depth + 1)
        self.put("if 0 < more < 128:", self.depth + 1)  # two bytes, by far the most usual of the longer forms
        self.put("value += (more << 7) - 128", self.depth + 2)
        self.put("pos += 1", self.depth + 2)
        if limit < 1 << 14:
            self.put(f"if value > {limit}:", self.depth + 2)
            self.put("raise Decline", self.depth + 3)
        self.put("else:", self.depth + 1)
        self.put(f"value, pos = long_vle(data, pos - 1, {self.stop}, {limit})", self.depth + 2)

    def bytes_(self, size: str, text: bool) -> None:
        """A number of bytes, as text or as they are."""
        self.put(f"end = pos + {size}")
        self.decline(f"end > {self.stop}")
        self.put(f"value = data[pos:end]{'.decode()' if text else ''}")
        self.put("pos = end")

    def column(self, field: Field, expression: str) -> None:
        """Sets the column of a field."""
        if not field.column:
            return
        if field.column == "locators":
            self.put("raise Decline")
            return
        if getattr(field.node, "yields_to", False):
            self.decline(f"{field.column!r} in row")
        self.put(f"row[{field.column!r}] = {self.converted(field, expression)}")

    def converted(self, field: Field, expression: str) -> str:
        """The value of a column, with the conversion inlined where that is faster than a call."""
        convert = converter(field)
        if convert is None:
            return expression
        if convert is bool:
            return f"({expression}) != 0"
        if field.enum is not None and not field.column.startswith("resolution_"):
            # a value without a name raises KeyError, and the interpreter reads it
            return f"{self.constant(field.enum.names, 'names')}[{expression}]"
        return f"{self.constant(convert, 'as')}({expression})"

    def choice(self, table: ProgramTable, many: str) -> None:
        """A body; the messages of a FRAME aren't its own."""
        if many:
            return
        self.bodies += 1
        ident, header = f"id{self.bodies}", f"h{self.bodies}"
        self.put(f"{ident} = data[pos] & 31")
        word = "if"
        for message in table.messages.values():
            if message.id in table.refused:
                continue
            self.put(f"{word} {ident} == {message.id}:")
            word = "elif"
            self.depth += 1
            column = "body" if self.bodies == 1 else "reply_body"
            self.put(f"row[{column!r}] = {message.name!r}")
            self.message(message_program(message), header)
            self.depth -= 1
        self.otherwise()
        self.bodies -= 1

    def extensions(self, known: dict[int, ExtensionProgram]) -> None:
        """A chain of extensions."""
        if not known:
            self.put("raise Decline")
            return
        self.put("found = row.setdefault('extensions', [])")
        self.put("while True:")
        self.depth += 1
        self.put("head = data[pos]")
        self.put("pos += 1")
        self.put("key = head & 127")
        word = "if"
        for key, program in known.items():
            self.put(f"{word} key == {key}:")
            word = "elif"
            self.depth += 1
            self.extension(program)
            self.depth -= 1
        self.chained()

    def chained(self) -> None:
        """The end of a turn in a chain of extensions: declines any other extension, and ends after the last one."""
        self.otherwise()
        self.put("if head < 128:")
        self.put("break", self.depth + 1)
        self.depth -= 1

    def extension(self, program: ExtensionProgram) -> None:
        """One extension that is known."""
        node = program.field.node
        assert isinstance(node, Extension)
        if program.keep or node.enc == 0:
            self.put("raise Decline")  # markers of shared memory
            return
        for column in ops.conditional_columns(program.steps):
            self.decline(f"{column!r} in row")  # it is repeated, and nothing of the first one must stay
        self.put("begin = pos")
        if not program.structured:
            self.steps(program.steps)
            self.entry(node, "value")
            return
        if node.enc == 1:
            self.steps(program.steps)
            self.entry(node, "data[begin:pos]")
            return
        self.enter()
        self.steps(program.steps)
        self.leave()
        self.entry(node, "data[begin:bound]")

    def enter(self) -> None:
        """The length of an extension with a structure; its fields come next."""
        self.vle((1 << 32) - 1)
        self.put("begin = pos")
        self.put("bound = pos + value")
        self.decline("bound > stop")
        self.stop = "bound"

    def leave(self) -> None:
        """The end of such an extension, after its fields."""
        self.stop = "stop"
        self.decline("pos != bound")

    def entry(self, node: Extension, value: str) -> None:
        """The extension's place in the column of all extensions."""
        self.put(f"body = {value}")
        start = f'"id": {node.id}, "encoding": {ENC_NAMES[node.enc]!r}, "mandatory": {node.mandatory}'
        self.put(f'found.append({{{start}, "name": {node.name!r}, "length": len(body), "value": body}})')


def _bit(field: Field) -> Bit:
    node = field.node
    assert isinstance(node, Bit)
    return node
