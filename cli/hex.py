"""`zdissect hex`: bytes from any paste, as whatever they are."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import click

from zdissect.grammar.rule import ERROR, NOTE, WARNING
from zdissect.output.style import COLOUR, PLAIN, Style
from zdissect.output.text import count, hexdump, prose
from zdissect.output.tree import TreeWriter
from zdissect.paste import PasteError, Piece, parse_paste
from zdissect.readings import NAMES, DecodedUnit, Reading, UnknownName, canonical, read_as, readings

from .common import DONE, FINDINGS, UNREADABLE, color_option, complain, raw_columns, wants_color
from .outcome import reaches
from .stdio import for_json

_WORDS = "".join(f"  {name:<12} {doc}\n" for name, doc in NAMES.items())
HELP = f"""Dissects bytes that were copied from anywhere.

\b
  zdissect hex "3d 00 03 6b 2f 61 01 03 31 31 31"
  zdissect hex "[4, 0x1d, ...]"  or  b"\\x1d\\x00"  or  1d,00
  tcpdump -X port 7447 | zdissect hex
  zdissect hex -f dump.txt         xxd, hexdump -C, od, Wireshark, tcpdump -X

What the bytes are is worked out by decoding them as everything they could be; the first line on standard error
says what they were read as, and what else fits. --as decides it:

\b
{_WORDS}  or one message by its name: put, init, d_subscriber...

TEXT may be several words; without it, or with -, standard input is read. Bytes that aren't text are used as they are.
"""

_TEXT_CONTROLS = frozenset(b"\t\n\v\f\r\x1b")
_MOST = 64 << 20
"""Bytes of a paste."""
_OTHERS = 3
"""How many other readings are named."""


@click.command("hex", help=HELP)
@click.argument("text", nargs=-1)
@click.option("-f", "--file", "path", metavar="FILE", help="Read the text (or the bytes) from a file.")
@click.option("--as", "kind", metavar="NAME", help="What the bytes are, see above.")
@click.option("-T", "form", type=click.Choice(["tree", "line", "jsonl"]), default="tree", help="Form of the output.")
@click.option("-x", "dump", is_flag=True, help="Add a hex dump.")
@click.option("--bytes", "limit", type=click.IntRange(min=1), default=96, metavar="N", help="Payload bytes to show.")
@click.option("-q", "quiet", is_flag=True, help="Don't say on standard error what the bytes were read as.")
@click.option(
    "--fail-on", type=click.Choice([NOTE, WARNING, ERROR]), help="Exit with 3 at a finding of this severity or above."
)
@color_option
def hexadecimal(
    text: tuple[str, ...],
    path: str | None,
    kind: str | None,
    form: str,
    dump: bool,
    limit: int,
    quiet: bool,
    fail_on: str | None,
    color: str,
) -> int:
    """Reads, decides, shows."""
    name = _name(kind)
    try:
        pieces = _pieces(text, path)
    except PasteError as problem:
        complain(str(problem))
        if problem.line_text.strip():
            click.echo("\n".join(f"  {line}" for line in problem.excerpt(prose).split("\n")), err=True)
        return UNREADABLE
    except _Unreadable as problem:
        complain(str(problem))
        return UNREADABLE
    if form == "jsonl":
        for_json()
    style = COLOUR if wants_color(color) else PLAIN
    findings: Counter[str] = Counter()
    for number, piece in enumerate(pieces):
        reading, others = _choose(piece.data, name)
        findings.update(code for part in reading.units for code, *_ in part.tape.remarks)
        if not quiet:
            lines = _verdict(piece, reading, others, len(pieces) > 1, forced=bool(name))
            click.echo("\n" * bool(number) + "\n".join(map(prose, lines)), err=True)
        if number and form == "tree":
            sys.stdout.write("\n")
        sys.stdout.write("".join(f"{line}\n" for line in _show(piece, reading, form, style, limit, dump)))
        sys.stdout.flush()  # so that it stands below its verdict, wherever both go
    return FINDINGS if fail_on and reaches(findings, fail_on) else DONE


class _Unreadable(Exception):
    """The input can't be read; says why."""


def _name(kind: str | None) -> str:
    """The reading that is forced, or nothing."""
    try:
        return canonical(kind) if kind is not None else ""
    except UnknownName as problem:
        hint = "" if problem.near else f"; give one of {', '.join(NAMES)}, or the name of a message"
        raise click.BadParameter(f"{problem}{hint}", param_hint="--as") from None


def _pieces(text: tuple[str, ...], path: str | None) -> list[Piece]:
    """The bytes that are given, wherever."""
    if path is not None:
        if text:
            raise click.UsageError("give the bytes as text or with -f FILE, not both")
        return _content(_input() if path == "-" else _file(path))
    if text and text != ("-",):
        return parse_paste(" ".join(text))
    if not text and sys.stdin is not None and sys.stdin.isatty():
        raise click.UsageError("no bytes given; give them as text, with -f FILE, or on standard input")
    return _content(_input())


def _input() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise _Unreadable("standard input is closed: give the bytes as text, with -f FILE, or pipe them in")
    return _bounded(sys.stdin.buffer, "standard input")


def _file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return _bounded(file, path)
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise _Unreadable(f"{path}: {reason}") from None


def _bounded(file: BinaryIO, name: str) -> bytes:
    """What a file holds: a device may have no end."""
    try:
        raw = file.read(_MOST + 1)
    except OSError as problem:
        raise _Unreadable(f"{name}: {problem.strerror}") from None
    if len(raw) > _MOST:
        raise _Unreadable(f"{name}: it is more than {_MOST >> 20} MB: cut out the part to read")
    return raw


def _content(raw: bytes) -> list[Piece]:
    """The bytes in a file: those that its text stands for or, if it isn't text, the file's own."""
    if _is_capture(raw):
        raise _Unreadable("this is a capture, not text: use `zdissect FILE`, without hex")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):  # what Windows writes as text
        return parse_paste(raw.decode("utf-16", errors="replace"))
    if any(byte < 32 and byte not in _TEXT_CONTROLS for byte in raw):
        return [Piece(raw, "raw bytes", "")]
    try:
        return parse_paste(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return parse_paste(raw.decode("latin-1"))


def _is_capture(raw: bytes) -> bool:
    """Whether bytes begin as a capture does: with what isn't ASCII, or is blank."""
    head = raw[:4].strip()
    if head and head.isascii():
        return False
    from zdissect.capture.signatures import CAPTURES, MAGIC_SIZE  # few pastes begin so

    return raw[:MAGIC_SIZE] in CAPTURES


def _choose(data: bytes, name: str) -> tuple[Reading, list[Reading]]:
    """The reading to show, and others. If one is forced and decodes to its end, others aren't of interest."""
    if name:
        forced = read_as(data, name)
        return forced, [] if forced.complete else readings(data)
    found = readings(data)
    return found[0], found[1:]


def _verdict(piece: Piece, reading: Reading, others: list[Reading], several: bool, forced: bool) -> Iterator[str]:
    """What the bytes were read as, why, and what else fits."""
    where = f" in {piece.where}" if several and piece.where else ""
    why = f"; {reading.why}" if reading.why else ""
    yield f"{count(len(piece.data))} ({piece.form}{where}) read as {_short(reading)}: {reading.title}{why}"
    fitting = [other for other in others if other.plausible]
    if forced and fitting:
        yield f"fits better: {_short(fitting[0])}: {fitting[0].title}; {fitting[0].why}"
    elif fitting:
        yield f"also fits: {', '.join(_short(other) for other in fitting[:_OTHERS])}"
    elif others and not forced and others[0].score > (0 if reading.plausible else _HOPELESS):
        but = "which fits any bytes" if others[0].complete else f"but {others[0].why}"
        yield f"next best: {_short(others[0])}, {but}"


_HOPELESS = -20.0
"""Evidence below which a reading isn't worth mentioning, even where nothing fits."""


def _short(reading: Reading) -> str:
    """`datagram (KEEP_ALIVE)`."""
    names = reading.messages
    return reading.name + (f" ({' '.join(names[:3])}{' ...' if len(names) > 3 else ''})" if names else "")


def _show(piece: Piece, reading: Reading, form: str, style: Style, limit: int, dump: bool) -> Iterator[str]:
    """The lines of the output for one piece."""
    if form != "tree":
        from . import hex_rows  # only here: rows need more than trees

        yield from hex_rows.lines(reading, form, style, limit)
        return
    tree = TreeWriter(style, raw_columns(), limit)
    given = 0
    for number, part in enumerate(reading.units):
        given += part.given
        if len(reading.units) > 1 or not part.given:
            if number:
                yield ""
            yield f"{style.frame}{_heading(part, given, reading)}{style.end}"
        yield from tree.lines(replace(part.tape, start=part.tape.start - part.base))  # offsets in what was pasted
        if dump and not part.given:
            yield hexdump(part.buffer.data, "      ")
    if dump:
        yield hexdump(piece.data, "      ")


def _heading(part: DecodedUnit, number: int, reading: Reading) -> str:
    """The line above one of several parts."""
    tape = part.tape
    size = count(tape.stop - tape.start)
    if not part.given:
        return f"{part.buffer.name[0].upper()}{part.buffer.name[1:]}, {size}"
    noun = "Frame" if reading.name == "serial" else "Batch"
    return f"{noun} {number} at 0x{part.base:04x}, {size}"


commands = {"hex": hexadecimal}
