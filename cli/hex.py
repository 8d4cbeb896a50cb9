"""`zdissect hex`: bytes from any paste, as whatever they are."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import click

from zdissect.output.text import count, hexdump, prose
from zdissect.output.tree import TreeWriter
from zdissect.paste import PasteError, Piece
from zdissect.readings import NAMES, DecodedUnit, Reading, UnknownName, canonical, read_as, readings

from . import completers
from .command import Command
from .common import complain, raw_columns
from .exit_codes import UNREADABLE
from .hex_input import UnreadableInput, pasted_pieces
from .options import (
    DisplayOptions,
    ReportOptions,
    as_records,
    color_option,
    dump_option,
    fail_on_option,
    filter_option,
    form_option,
    payload_bytes_option,
    quiet_option,
)
from .outcome import exit_code
from .stdio import for_json

_WORDS = "".join(f"  {name:<12} {doc}\n" for name, doc in NAMES.items())
HELP = f"""Dissects bytes that were copied from anywhere.

What the bytes are is worked out by decoding them as everything they could be; the first line on standard error
says what they were read as, and what else fits. --as overrides it:

\b
{_WORDS}  or a single message by name: put, init, d_subscriber...
  or a structure or extension: timestamp, encoding, zid, link-state, qos...

TEXT may be several words; without it, or with -, standard input is read. Bytes that aren't text are used as they are.
"""

_OTHERS = 3
"""How many other readings are named."""


@click.command("hex", cls=Command, help=HELP)
@click.argument("text", nargs=-1)
@click.option(
    "-f",
    "--file",
    "path",
    metavar="FILE",
    shell_complete=completers.files,
    help="Read the text (or the bytes) from a file.",
)
@click.option("--as", "kind", metavar="NAME", shell_complete=completers.kinds, help="What the bytes are; see above.")
@form_option("tree", "line", "json", "jsonl")
@filter_option("Show the messages that match a display filter: `zdissect filter --help`.")
@dump_option("Add a hex dump.")
@payload_bytes_option
@quiet_option("Don't say on standard error what the bytes were read as.")
@fail_on_option
@color_option
@as_records(display=DisplayOptions, reporting=ReportOptions)
def hexadecimal(
    text: tuple[str, ...], path: str | None, kind: str | None, display: DisplayOptions, reporting: ReportOptions
) -> int:
    """Reads, decides, shows."""
    name = _name(kind)
    try:
        pieces = pasted_pieces(text, path)
    except PasteError as problem:
        complain(str(problem))
        if problem.line_text.strip():
            click.echo("\n".join(f"  {line}" for line in problem.excerpt(prose).split("\n")), err=True)
        return UNREADABLE
    except UnreadableInput as problem:
        complain(str(problem))
        return UNREADABLE
    if display.wanted is not None and display.wanted.looks_ahead:
        raise click.UsageError(f"{display.wanted.text!r} depends on later messages, which bytes alone don't have")
    if display.form in ("json", "jsonl"):
        for_json()
    findings: Counter[str] = Counter()
    listed = False
    for number, piece in enumerate(pieces):
        reading, others = _choose(piece.data, name)
        findings.update(code for unit in reading.units for code, *_ in unit.tape.remarks)
        if not reporting.quiet:
            lines = _verdict(piece, reading, others, len(pieces) > 1, forced=bool(name))
            click.echo("\n" * bool(number) + "\n".join(map(prose, lines)), err=True)
        if number and display.form == "tree":
            sys.stdout.write("\n")
        shown = "".join(f"{line}\n" for line in _show(piece, reading, display))
        if shown and display.form == "json":
            shown = f"{',' if listed else '['}\n{shown}"
            listed = True
        sys.stdout.write(shown)
        sys.stdout.flush()  # so that it stands below its verdict, wherever both go
        if not shown and not reporting.quiet and (display.wanted is not None or display.form in ("line", "jsonl")):
            complain(_why_nothing(reading, display))
    if display.form == "json":
        sys.stdout.write("]\n" if listed else "[]\n")
    return exit_code(findings, reporting.fail_on)


def _name(kind: str | None) -> str:
    """The reading that is forced, or nothing."""
    try:
        return canonical(kind) if kind is not None else ""
    except UnknownName as problem:
        hint = "" if problem.near else f"; give one of {', '.join(NAMES)}, or the name of a message or structure"
        raise click.BadParameter(f"{problem}{hint}", param_hint="--as") from None


def _choose(data: bytes, name: str) -> tuple[Reading, list[Reading]]:
    """The reading to show, and others. If one is forced and decodes to its end, others aren't of interest."""
    if name:
        forced = read_as(data, name)
        return forced, [] if forced.complete else readings(data)
    ranked = readings(data)
    return ranked[0], ranked[1:]


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


def _why_nothing(reading: Reading, display: DisplayOptions) -> str:
    """Why nothing of a reading is shown."""
    from .hex_rows import has_messages

    if not has_messages(reading):
        which = "a filter selects messages" if display.wanted else f"-T {display.form} has a line for each message"
        return f"{which}, and {reading.title} is none{'' if display.wanted else ': -T tree and -T json show it'}"
    return f"nothing matches {display.wanted.text}" if display.wanted else "no message was found"


def _show(piece: Piece, reading: Reading, display: DisplayOptions) -> Iterator[str]:
    """The lines of the output for one piece."""
    wanted = display.wanted
    if display.form != "tree" or wanted is not None:
        from . import hex_rows  # only here: rows need more than trees
    if display.form == "json":
        yield from hex_rows.documents(reading, display)
        return
    if display.form != "tree":
        yield from hex_rows.lines(reading, display)
        return
    style = display.style
    tree = TreeWriter(style, raw_columns(), display.payload_bytes)
    number_given = 0
    for number, unit in enumerate(reading.units):
        number_given += unit.given
        if wanted is not None and not hex_rows.shows(unit, wanted):
            continue
        if len(reading.units) > 1 or not unit.given:
            if number:
                yield ""
            yield f"{style.frame}{_heading(unit, number_given, reading)}{style.end}"
        left = hex_rows.folds(unit, wanted) if wanted is not None else None
        yield from tree.lines(replace(unit.tape, start=unit.tape.start - unit.base), (), left)  # offsets in the paste
        if display.dump and not unit.given:
            yield hexdump(unit.buffer.data, "      ")
    if display.dump:
        yield hexdump(piece.data, "      ")


def _heading(unit: DecodedUnit, number: int, reading: Reading) -> str:
    """The line above one of several units."""
    tape = unit.tape
    size = count(tape.stop - tape.start)
    if not unit.given:
        return f"{unit.buffer.name[0].upper()}{unit.buffer.name[1:]}, {size}"
    noun = "Frame" if reading.name == "serial" else "Batch"
    return f"{noun} {number} at 0x{unit.base:04x}, {size}"


commands = {"hex": hexadecimal}
