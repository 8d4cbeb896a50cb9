"""Bytes to rows, compiled: the grammar's programs written out as Python, one function per message.

The engine rule: a compiled function gives exactly the rows that `messages(interpret(...))` gives, or it declines
(raises `Decline`) and the interpreter does the work. It declines whatever isn't plain: anything that would be a
finding, and structures that are rare (shared memory, timestamp stacks, link state, declarations). It has no error
handling of its own.

The source is readable and registered in `linecache`, so that tracebacks show it; `source_of` gives it.
"""

import linecache
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from zdissect.engine.codegen import CodeWriter
from zdissect.engine.locator import Locator
from zdissect.engine.messages import Row
from zdissect.engine.program import Program, message_program
from zdissect.engine.skim import Skimmer, changing_extensions
from zdissect.engine.templates import MOST_TEMPLATES, Cell, Template
from zdissect.engine.vle import Short, read
from zdissect.grammar.columns import BIT_WORDS, complete
from zdissect.grammar.network import PUSH, REQUEST, RESPONSE, RESPONSE_FINAL
from zdissect.grammar.registry import MESSAGES
from zdissect.grammar.transport import FRAME, KEEP_ALIVE
from zdissect.grammar.types import Message

COMPILED = (PUSH, REQUEST, RESPONSE, RESPONSE_FINAL, FRAME, KEEP_ALIVE)
"""Messages with a compiled form: the usual ones in traffic."""

SKIMMED = (FRAME, PUSH)
"""Messages that also have a skimming form: the most usual ones."""
_LOOK = 1024
_REST = 16 * _LOOK
"""PUSHes without a template after which they are compared with those that had one; if few had, skimming pauses."""

Function = Callable[[bytes, int, int], Any]
Writer = Callable[[Program, dict[str, Any]], CodeWriter]


_READ = {one.id: one for one in COMPILED if one.layer == "network"}
NETWORK_IDS = frozenset(one.id for one in MESSAGES if one.layer == "network")


class Decline(Exception):
    """The bytes aren't plain; the interpreter must read them."""


_DECLINES = (Decline, IndexError, KeyError, UnicodeDecodeError)
"""Exceptions of a compiled function: reading past the end, a value without a name, text that isn't UTF-8."""


class _Readers(dict[int, Function]):
    """The compiled forms of network messages, by id. Each is made when its message is met: that takes milliseconds."""

    def __missing__(self, ident: int) -> Function:
        """Raises KeyError for a message without a compiled form."""
        made = self[ident] = function(_READ[ident])
        return made


class CompiledReader:
    """Reads the batches of a capture; remembers the templates of FRAMEs and of the PUSHes in them.

    A message that isn't repeated isn't worth a template: a PUSH gets one when its key is met for the second time, and
    while most keys are new, no PUSH is skimmed at all.
    """

    def __init__(self) -> None:
        self.skim = skimmer(FRAME)
        self.skim_push = skimmer(PUSH)
        self.readers = _Readers()
        self.templates: dict[bytes, Template] = {}
        self.pushes: dict[str, dict[bytes, Template]] = {name: {} for name in BIT_WORDS["reliability"]}
        self.seen: set[bytes] = set()
        """Keys of PUSHes that were met once."""
        self.count = self.missed = 0
        """Messages, and PUSHes without a template, since the two were last compared."""
        self.rest = 0
        """Messages still to come for which PUSHes aren't skimmed."""

    def batch(self, data: bytes, prefix: int = 0) -> list[Cell | Row] | None:
        """The messages of a batch with a length prefix of `prefix` bytes, as cells or rows; None if it isn't plain.

        They stand for exactly the rows that the interpreter would give.
        """
        stop = len(data)
        if prefix and int.from_bytes(data[:prefix], "little") != stop - prefix:
            return None
        out: list[Cell | Row] = []
        pos = prefix
        try:
            while pos < stop:
                ident = data[pos] & 31
                if ident == FRAME.id:
                    pos = self.frame(data, pos, stop, out)
                elif ident == KEEP_ALIVE.id:
                    row, pos = function(KEEP_ALIVE)(data, pos, stop)
                    out.append(row)
                else:
                    return None
            if pos > stop:
                return None
        except _DECLINES:
            return None
        return out

    def frame(self, data: bytes, pos: int, stop: int, out: list[Cell | Row]) -> int:
        """Adds a FRAME and the messages in it; returns the position after them."""
        start, place = pos, len(out)
        key, pos, sn = self.skim(data, pos, stop)
        frame = self.templates.get(key)
        if frame is None:
            frame = self.learn(self.templates, key, FRAME, function(FRAME)(data, start, stop)[0])
        out.append(())
        reliability = frame.row["reliability"]
        pushes, skim = self.pushes[reliability], self.skim_push
        push, readers = PUSH.id if self.rest <= 0 else -1, self.readers
        while pos < stop:
            ident = data[pos] & 31
            if ident == push:
                key, end, stamp, payload, attachment, source_sn, bodies = skim(data, pos, stop)
                template = pushes.get(key)
                if template is not None:
                    extensions = template.extensions(bodies) if bodies else None
                    out.append((template, pos, end - pos, sn, stamp, payload, attachment, source_sn, extensions))
                    pos = end
                    continue
                row, pos = readers[ident](data, pos, stop)
                row["sn"], row["reliability"] = sn, reliability
                self.miss(pushes, key, row)
            elif ident in NETWORK_IDS:
                row, pos = readers[ident](data, pos, stop)
                row["sn"], row["reliability"] = sn, reliability
            else:
                break
            out.append(row)
        out[place] = (frame, start, pos - start, sn, None, None, None, None, None)
        self.count += len(out) - place
        self.rest -= len(out) - place
        return pos

    def miss(self, pushes: dict[bytes, Template], key: bytes, row: Row) -> None:
        """Takes a PUSH for which there was no template."""
        if key in self.seen:
            self.learn(pushes, key, PUSH, row)
        if len(self.seen) >= MOST_TEMPLATES:
            self.seen.clear()
        self.seen.add(key)
        self.missed += 1
        if self.missed == _LOOK:
            self.rest = _REST if self.count < 2 * _LOOK else 0
            self.count = self.missed = 0

    def forget(self) -> None:
        """Forgets all templates: keys that are still in use are soon learned again."""
        for known in (self.templates, *self.pushes.values()):
            known.clear()
        self.seen.clear()

    @staticmethod
    def learn(known: dict[bytes, Template], key: bytes, message: Message, row: Row) -> Template:
        """Makes the template of a message from its row."""
        if len(known) >= MOST_TEMPLATES:
            known.clear()
        template = known[key] = Template(row, changing_extensions(message))
        return template


@cache
def function(message: Message) -> Function:
    """The compiled form of a message: (bytes, start, stop) to (row, position after it)."""
    return _made(message, f"read_{message.name.lower()}", f"<zdissect {message.name}>", CodeWriter)


@cache
def skimmer(message: Message) -> Function:
    """The skimming form of a message: see `skim.Skimmer`."""
    return _made(message, f"skim_{message.name.lower()}", f"<zdissect {message.name}, skimmed>", Skimmer)


@cache
def locator(message: Message, path: str) -> Function:
    """The locating form of a message for a field, by its name without `zenoh.`: see `locator.Locator`."""
    writer = partial(Locator, path=f"zenoh.{path}")
    return _made(message, f"find_{message.name.lower()}", f"<zdissect {message.name}, {path}>", writer)


def _made(message: Message, name: str, file: str, writer: Writer) -> Function:
    """Compiles a function, and registers its source where tracebacks look for it."""
    source, names = _source(message, writer)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    made: Function = names[name]
    return made


def _source(message: Message, writer: Writer) -> tuple[str, dict[str, Any]]:
    """The source of a function, and the names that it uses."""
    names: dict[str, Any] = {"Decline": Decline, "complete": complete, "long_vle": long_vle}
    return writer(message_program(message), names).write(), names


def source_of(name: str) -> str:
    """The generated source of a message. Raises KeyError if it has no compiled form."""
    message = {one.name: one for one in COMPILED}[name.upper()]
    forms: tuple[Writer, ...] = (Skimmer, CodeWriter) if message in SKIMMED else (CodeWriter,)
    return "\n\n".join(_source(message, form)[0] for form in forms)


_FOUR = (1 << 28) - 1
"""The largest integer of four bytes."""


def long_vle(data: bytes, pos: int, stop: int, limit: int) -> tuple[int, int]:
    """An integer of two bytes or more, in its shortest form and within its width."""
    if stop - pos > 3 and limit > _FOUR:  # three or four bytes, as most sequence numbers
        first, second, third, fourth = data[pos : pos + 4]
        if second > 127:
            if 0 < third < 128:
                return first + (second << 7) + (third << 14) - 0x4080, pos + 3
            if third > 127 and 0 < fourth < 128:
                return first + (second << 7) + (third << 14) + (fourth << 21) - 0x204080, pos + 4
    try:
        value, end = read(data, pos, stop)
    except Short:
        raise Decline from None
    if value > limit or data[end - 1] == 0:
        raise Decline
    return value, end
