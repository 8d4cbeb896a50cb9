"""Bytes to rows, compiled: the grammar's programs written out as Python, one function per message.

The engine rule: a compiled function gives exactly the rows that `messages(interpret(...))` gives, or it declines
(raises `Decline`) and the interpreter does the work. It declines whatever isn't plain: anything that would be a
finding, and structures that are rare (shared memory, timestamp stacks, link state, declarations). It has no error
handling of its own.

The source is readable and registered in `linecache`, so that tracebacks show it; `source_of` gives it.
"""

import linecache
from collections.abc import Callable
from functools import cache
from typing import Any

from zdissect.engine.codegen import Writer
from zdissect.engine.messages import Row
from zdissect.engine.program import Program, message_program
from zdissect.engine.vle import Short, read
from zdissect.grammar.columns import complete
from zdissect.grammar.network import PUSH, REQUEST, RESPONSE, RESPONSE_FINAL
from zdissect.grammar.registry import MESSAGES
from zdissect.grammar.transport import FRAME, KEEP_ALIVE
from zdissect.grammar.types import Message

COMPILED = (PUSH, REQUEST, RESPONSE, RESPONSE_FINAL, FRAME, KEEP_ALIVE)
"""Messages that have a compiled form: those that traffic consists of."""

Function = Callable[[bytes, int, int], tuple[Any, int]]


class Decline(Exception):
    """The bytes aren't plain; the interpreter must read them."""


_DECLINES = (Decline, IndexError, KeyError, UnicodeDecodeError)
"""What a compiled function may end with: reading past the end, a value without a name, text that isn't UTF-8."""


def batch_rows(data: bytes, prefix: int = 0) -> list[Row] | None:
    """The rows of a batch with a length prefix of so many bytes; None if it isn't plain. Equal to the interpreter's."""
    stop = len(data)
    if prefix and int.from_bytes(data[:prefix], "little") != stop - prefix:
        return None
    rows: list[Row] = []
    pos = prefix
    table = transport()
    try:
        while pos < stop:
            found, pos = table[data[pos] & 31](data, pos, stop)
            rows += found
        if pos > stop:
            return None
    except _DECLINES:
        return None
    return rows


@cache
def transport() -> dict[int, Function]:
    """The functions of the transport messages, by id."""
    return {message.id: function(message) for message in (FRAME, KEEP_ALIVE)}


@cache
def function(message: Message) -> Function:
    """The compiled form of a message: (bytes, start, stop) to (rows, position behind it)."""
    name = f"read_{message.name.lower()}"
    source, names = _source(message)
    file = f"<zdissect {message.name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    made: Function = names[name]
    return made


def source_of(name: str) -> str:
    """The generated source of a message. Raises KeyError if it has no compiled form."""
    message = {one.name: one for one in COMPILED}[name.upper()]
    return _source(message)[0]


@cache
def _source(message: Message) -> tuple[str, dict[str, Any]]:
    names: dict[str, Any] = {"Decline": Decline, "complete": complete, "long_vle": long_vle}
    if message is FRAME:
        inner = (PUSH, REQUEST, RESPONSE, RESPONSE_FINAL)
        names["network"] = {one.id: function(one) for one in inner}
        names["network_ids"] = frozenset(one.id for one in MESSAGES if one.layer == "network")
    program: Program = message_program(message)
    return Writer(program, names).write(), names


def long_vle(data: bytes, pos: int, stop: int, limit: int) -> tuple[int, int]:
    """An integer of two bytes or more, in its shortest form and within its width."""
    try:
        value, end = read(data, pos, stop)
    except Short:
        raise Decline from None
    if value > limit or data[end - 1] == 0:
        raise Decline
    return value, end
