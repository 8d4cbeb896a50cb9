"""`zdissect diff A B`: two captures of the same session, and what is different."""

import re
import sys
from collections.abc import Iterator

import click

from zdissect.comparison import Recording, compare
from zdissect.comparison.differences import stands_for
from zdissect.comparison.message_content import RELIABILITY, SENT
from zdissect.comparison.recording import Compared
from zdissect.fed import fed
from zdissect.grammar.registry import fields
from zdissect.listing.listing import Entry
from zdissect.output.printable import dumps
from zdissect.output.style import Style
from zdissect.output.text import prose
from zdissect.pipeline import Options, Pipeline

from . import completers
from .captures import Captures
from .command import Command
from .common import complain, nearest
from .exit_codes import DONE, UNREADABLE
from .options import CaptureOptions, DisplayOptions, as_records, color_option, decode_as_option, pager_option
from .outcome import in_frames, not_shown
from .paging import write_paged
from .stats_units import many
from .stdio import for_json

DIFFERENT = 1
"""The exit code of diff where there are differences."""


def _numbers(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> list[tuple[int, int]]:
    found = [re.fullmatch(r"(\d{1,9}):(\d{1,9})", text) for text in texts]
    wrong = [text for text, match in zip(texts, found, strict=True) if match is None]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} isn't two numbers of `zdissect sessions`, of A and of B: 1:2")
    return [(int(match[1]), int(match[2])) for match in found if match is not None]


def _ignored(_: click.Context, __: click.Parameter, patterns: tuple[str, ...]) -> tuple[str, ...]:
    known = [RELIABILITY, SENT, *(path.removeprefix("zenoh.") for path in fields())]
    for pattern in patterns:
        one = re.sub(r"(#\d+| 0x[0-9a-f]+)$", "", pattern)  # the second of its name; an extension that isn't known
        if not any(stands_for(one, name) for name in known):
            raise click.BadParameter(f"no field is called {pattern!r}{nearest(one, known)}")
    return patterns


@click.command("diff", cls=Command)
@click.argument("a", metavar="A", shell_complete=completers.files)
@click.argument("b", metavar="B", shell_complete=completers.files)
@click.option(
    "--session", "chosen", multiple=True, callback=_numbers, metavar="N:M",
    help="Compare session N of A with M of B; else those with the same roles, in their order.",
)  # fmt: skip
@click.option(
    "--ignore",
    "ignored",
    multiple=True,
    callback=_ignored,
    metavar="FIELD",
    help="Fields that aren't compared, with wildcards: 'put.*'.",
)
@click.option("--any-key", "any_key", is_flag=True, help="Compare messages whatever their keys.")
@click.option("--json", "form", flag_value="json", help="The report as JSON.")
@decode_as_option
@color_option
@pager_option
@as_records(capture=CaptureOptions, display=DisplayOptions)
def diff(
    a: str, b: str, chosen: list[tuple[int, int]], ignored: tuple[str, ...], any_key: bool, capture: CaptureOptions,
    display: DisplayOptions,
) -> int:  # fmt: skip
    """Compares two captures of the same session, made with other implementations or releases: messages of the same
    side, kind and key are compared field by field, with their bytes.

    Ids, sequence numbers, times, ZenohIDs, addresses, cookies and other secrets aren't compared: they differ every
    time. Neither are FRAMEs and KEEP_ALIVEs, which depend on time; the order of messages is told, and no difference.

    Exits with 0 if there is no difference, 1 if there is one, or if a file can't be read to its end.
    """  # fmt: skip
    options = capture.pipeline(history=True)
    read = [_read(name, options) for name in (a, b)]
    for captures, *_ in read:
        for problem in captures.problems:
            complain(str(problem))
    _check(chosen, [sessions for _, sessions, *_ in read], (a, b))
    report = compare(read[0][1], read[1][1], ignored, chosen, any_key)
    report = {"a": a, "b": b, **report}
    if display.form == "json":
        for_json()
        sys.stdout.write(f"{dumps(report, indented=True)}\n")
    else:
        write_paged((f"{line}\n" for line in _lines(report, display.style)), not display.no_pager)
    sys.stdout.flush()
    for captures, sessions, unlisted, unshown in read:
        if not sessions and not captures.problems:
            complain(f"{in_frames('no Zenoh found', captures.frames)} of {captures.files[0]}")
        for text in unshown:
            complain(f"{captures.files[0]}: {text}")
        if unlisted:
            complain(f"{captures.files[0]}: {unlisted} messages aren't compared: only so many kinds are kept")
    empty = any(captures.problems or not sessions for captures, sessions, *_ in read)
    return UNREADABLE if empty else DONE if report["same"] else DIFFERENT


def _read(name: str, options: Options) -> tuple[Captures, list[Compared], int, list[str]]:
    """The sessions of a file; how many messages are left out, and what isn't shown."""
    captures, pipeline, recording = Captures((name,)), Pipeline(options), Recording()
    for frame, items in fed(pipeline, captures):
        recording.frame(frame)
        for item in items:
            recording.feed(item)
    for item in pipeline.close():
        recording.feed(item)
    unshown = list(not_shown(pipeline.decoder.unopened.total(), pipeline.others()))
    return captures, recording.sessions_of(pipeline), recording.unlisted, unshown


def _check(chosen: list[tuple[int, int]], read: list[list[Compared]], names: tuple[str, str]) -> None:
    """Refuses sessions that there aren't."""
    for pair in chosen:
        for number, sessions, name in zip(pair, read, names, strict=True):
            known = [one.number for one in sessions]
            if number not in known:
                raise click.BadParameter(
                    f"there is no session {number} in {name}, but {', '.join(map(str, known)) or 'none'}",
                    param_hint="'--session'",
                )


def _lines(report: Entry, style: Style) -> Iterator[str]:
    """The report for people."""
    yield f"A {prose(report['a'])}"
    yield f"B {prose(report['b'])}"
    total = 0
    for session in report["sessions"]:
        differences = session["differences"]
        total += len(differences)
        yield ""
        name = "Scouting" if not session["a"] else f"Session {session['a']} of A, {session['b']} of B"
        ends = f"  {session['title']['a']} | {session['title']['b']}" if session["a"] else ""
        yield f"{style.frame}{name}{style.end}{prose(ends)}"
        yield from _session(session, style)
        if not differences:
            yield "  no difference"
        for name, lacks in session["lacks"].items():
            if lacks:
                what = f"not seen: capture {name.upper()} lacks {lacks}: what is missing there may have been said"
                yield f"  {style.dim}{what}{style.end}"
    for one in report["only"]:
        total += 1
        yield ""
        where = f"{style.warning}only in {one['capture'].upper()}{style.end}"
        yield f"{where}: session {one['session']}, {prose(one['title'])}"
    yield ""
    yield f"{many(total, 'difference')} in {many(len(report['sessions']), 'session')}"


def _session(session: Entry, style: Style) -> Iterator[str]:
    """The differences in a session; those of the same messages are together."""
    last = None
    for one in session["differences"]:
        where = f"{one['message']} {one['key'] or ''}".rstrip() + f"  from the {one['side']}"
        if where != last:
            yield f"  {style.message}{prose(where)}{style.end}"
            last = where
        if "messages" in one:
            yield f"    {style.warning}messages{style.end}"
            for name in "ab":
                yield f"      {name.upper()}  {one['messages'][name]}{_at(one['frames'][name])}"
            continue
        times = f"  ({one['count']} times)" if one["count"] > 1 else ""
        yield f"    {style.value}{prose(one['field'])}{style.end}{times}"
        for name in "ab":
            yield f"      {name.upper()}  {prose(_value(one[name]))}"
    for one in session["order"]:
        what = f"{one['message']} {one['key'] or ''}".rstrip()
        places = f"kind {one['a']} in A, {one['b']} in B"
        yield f"  {style.dim}another order: {prose(what)} from the {one['side']} is {places}{style.end}"


def _at(frames: list[int]) -> str:
    """Where messages are."""
    return f" (frame{'s' if len(frames) > 1 else ''} {', '.join(map(str, frames))})" if frames else ""


def _value(part: Entry | None) -> str:
    """A value with its bytes and its frame."""
    if part is None:
        return "absent"
    data = bytes.fromhex(part["bytes"]).hex(" ")
    frame = f"  frame {part['frame']}" if part["frame"] else ""
    return f"{part['text']}{f'  [{data}]' if data else ''}{frame}"


commands = {"diff": diff}
