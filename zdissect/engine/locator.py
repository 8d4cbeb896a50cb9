"""Writes a message's program out as Python that only finds one field in it: the locating form of codegen.py.

A finding about a message that was read without a tape needs the place of one field, and nothing else.
"""

from collections.abc import Callable
from typing import Any

from zdissect.engine.codegen import CodeWriter
from zdissect.engine.program import ExtensionProgram, Program, Step
from zdissect.grammar.field import Field
from zdissect.grammar.types import Extension


class Locator(CodeWriter):
    """Writes one function: (bytes, start, stop) to the (start, stop) of the first such field; None if there is none.

    It is for messages that a compiled reader or a template has accepted: it declines what they decline.
    """

    def __init__(self, program: Program, names: dict[str, Any], path: str) -> None:
        super().__init__(program, names)
        self.path = path
        """The field's full name."""

    def write(self) -> str:
        """The source of the function."""
        self.put(f"def find_{self.program.message.name.lower()}(data, pos, stop):", 0)
        self.put(f'"""Finds {self.path}."""')
        self.put("row = {}")
        self.message(self.program, "h")
        self.put("return None")
        return "\n".join(self.lines) + "\n"

    def message(self, program: Program, header: str) -> None:
        """A header byte and what follows it."""
        if program.header.path == self.path:
            self.put("return pos, pos + 1")
        super().message(program, header)

    def step(self, step: Step) -> None:
        """One step; that of the field ends the search."""
        self.search(step[4], "pos", lambda: super(Locator, self).step(step))

    def extension(self, program: ExtensionProgram) -> None:
        """One extension, with the byte of its header before it."""
        self.search(program.field, "pos - 1", lambda: super(Locator, self).extension(program))

    def search(self, field: Field, start: str, read: Callable[[], None]) -> None:
        """Reads a field; ends there if it is the wanted one."""
        wanted = field.path == self.path
        if wanted:
            self.put(f"at = {start}")
        read()
        if wanted:
            self.put("return at, pos")

    def column(self, field: Field, expression: str) -> None:
        """Does nothing: no row is made."""

    def entry(self, node: Extension, value: str) -> None:
        """Does nothing, as `column`."""
