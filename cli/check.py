"""`zdissect check FILE...`: a verdict, for people and for builds."""

import sys
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import click

from zdissect.capture.leftovers import write_text
from zdissect.conformance import Judgement, VerdictTerms
from zdissect.conformance.baseline import BaselineError, read, written
from zdissect.conformance.judgement import violations_of
from zdissect.conformance.overall import FAILED, NOT_JUDGED, overall
from zdissect.conformance.terms import DUTIES
from zdissect.export import families
from zdissect.export.time_ranges import time_range_of
from zdissect.fed import fed
from zdissect.grammar.profiles import PROFILES
from zdissect.grammar.rule import SEVERITIES
from zdissect.listing.listing import Entry
from zdissect.output.printable import dumps
from zdissect.pipeline import Options, Pipeline

from . import completers
from .captures import Captures
from .command import Command
from .common import complain, complain_of_leftovers
from .exit_codes import DONE, FINDINGS, UNREADABLE
from .interrupts import UntilInterrupted
from .options import (
    CaptureOptions,
    DisplayOptions,
    as_records,
    color_option,
    decode_as_option,
    files_argument,
    frames_option,
    pager_option,
)
from .outcome import in_frames
from .paging import write_paged
from .stdio import for_json
from .verdict_forms import ENDINGS, FORMS, in_form
from .verdict_text import VerdictText

_MOST_NAMED = 5


class _Read(NamedTuple):
    """What was read: a report for each capture, and all ZenohIDs."""

    captures: list[Entry]
    nodes: set[str]
    interrupted: bool


def _baseline(_: click.Context, __: click.Parameter, path: str | None) -> dict[str, Entry]:
    if path is None:
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            return read(file.read())
    except (OSError, UnicodeDecodeError, BaselineError) as problem:
        raise click.BadParameter(f"{path}: {getattr(problem, 'strerror', None) or problem}") from None


def _saved(_: click.Context, __: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    for path in paths:
        if not path.endswith(tuple(ENDINGS)):
            endings = ", ".join(f"{ending} ({form})" for ending, form in ENDINGS.items())
            raise click.BadParameter(f"{path}: its ending says no form: {endings}")
    return paths


@click.command("check", cls=Command)
@files_argument
@click.option(
    "--profile", type=click.Choice([*PROFILES]), default="spec", metavar="PROFILE", show_default=True,
    help=f"Which rules count: {', '.join(PROFILES)}.",
)  # fmt: skip
@click.option("--for", "judged", default="", metavar="WHO", help="Whose part is judged: sender, receiver, a ZenohID.")
@click.option(
    "--baseline", "known", callback=_baseline, metavar="FILE", shell_complete=completers.files,
    help="Violations that were known before don't count.",
)  # fmt: skip
@click.option("--write-baseline", metavar="FILE", help="Write the violations found to a file, for --baseline.")
@click.option("--json", "form", flag_value="json", help="The report as JSON.")
@click.option("--sarif", "form", flag_value="sarif", help="SARIF 2.1.0, for code scanning.")
@click.option("--junit", "form", flag_value="junit", help="JUnit XML, a suite for each session.")
@click.option("--markdown", "form", flag_value="markdown", help="Markdown, for summaries and comments.")
@click.option(
    "--save", "saved", multiple=True, callback=_saved, metavar="FILE",
    help=f"Also write a report to a file, in the form of its ending: {', '.join(ENDINGS)}.",
)  # fmt: skip
@click.option(
    "--fail-on", type=click.Choice(SEVERITIES), default="error", metavar="SEVERITY", show_default=True,
    help="Fail, and exit with 3, if there is a violation of this severity or above.",
)  # fmt: skip
@frames_option
@decode_as_option
@color_option
@pager_option
@as_records(capture=CaptureOptions, display=DisplayOptions)
def check(
    profile: str, judged: str, known: dict[str, Entry], write_baseline: str | None, saved: tuple[str, ...],
    fail_on: str, capture: CaptureOptions, display: DisplayOptions,
) -> int:  # fmt: skip
    """Judges captures: who broke which rule, with which bytes, what the other side did then, and what no rule could
    see. Repeats are one violation.

    Each file is a capture of its own, but files of one rotated capture are read as one. --for judges one part: of
    senders (what they say of their own accord), of receivers (what they answer), or of the node whose ZenohID begins
    like this. docs/rules.md has the rules, and what the profiles make of them; docs/ci.md an example for a build.

    Exits with 0 if the verdict is passed, 3 if it is failed, 1 if a file can't be read to its end, or holds no Zenoh
    that could be judged.
    """  # fmt: skip
    terms = VerdictTerms(PROFILES[profile], judged, fail_on)
    done = _read(capture, terms)
    _needs_node(terms, done)
    report = overall(terms, done.captures, known)
    code = _exit_code(report)
    form = display.form if display.form in FORMS else "text"
    if form == "text":
        write_paged((f"{line}\n" for line in VerdictText(report, display.style).lines()), not display.no_pager)
    else:
        for_json()
        sys.stdout.write(in_form(form, report, terms, code))
    sys.stdout.flush()
    for path in saved:
        _write(path, in_form(ENDINGS[f".{path.rpartition('.')[2]}"], report, terms, code))
    if write_baseline is not None:
        found = [one for one in done.captures for one in violations_of(one)]
        _write(write_baseline, f"{dumps(written(found), indented=True)}\n")
    for problem in (text for one in report["captures"] for text in one["problems"]):
        complain(problem)
    for one in report["captures"]:
        if one["verdict"] == NOT_JUDGED and not one["problems"]:
            complain(f"{one['files'][0]}: {in_frames('no Zenoh that could be judged', one['frames'])}")
    if done.interrupted:
        raise click.Abort
    return code


def _exit_code(report: Entry) -> int:
    """The exit code of a verdict."""
    captures = report["captures"]
    if any(one["problems"] or one["verdict"] == NOT_JUDGED for one in captures):
        return UNREADABLE
    return FINDINGS if report["verdict"] == FAILED else DONE


def _captures(files: Iterable[str]) -> list[list[str]]:
    """The files of each capture, in the order in which they were given."""
    names = list(dict.fromkeys(files))
    planned = families.plan([one for one in names if one != "-"], time_range_of)
    captures = [[*chain.from_iterable(capture)] for capture in planned]
    captures += [["-"]] if "-" in names else []
    return sorted(captures, key=lambda capture: names.index(capture[0]))


def _read(capture: CaptureOptions, terms: VerdictTerms) -> _Read:
    """Reads all captures."""
    reports, nodes = [], set[str]()
    options = capture.pipeline(history=True)
    for files in _captures(capture.files):
        captures, judgement = Captures(tuple(files), capture.frames), Judgement(terms)
        report, interrupted = _judge(captures, judgement, options)
        report |= {"files": files, "problems": [str(problem) for problem in captures.problems]}
        reports.append(report)
        nodes |= judgement.nodes
        if interrupted:
            return _Read(reports, nodes, True)
    return _Read(reports, nodes, False)


def _judge(captures: Captures, judgement: Judgement, options: Options) -> tuple[Entry, bool]:
    """The report of a capture, and whether Ctrl-C ended it."""
    pipeline = Pipeline(options)
    with UntilInterrupted(captures) as frames:
        for frame, items in fed(pipeline, frames):
            judgement.frame(frame)
            for item in items:
                judgement.feed(item)
    for item in pipeline.close():
        judgement.feed(item)
    return judgement.report(pipeline), frames.interrupted


def _needs_node(terms: VerdictTerms, done: _Read) -> None:
    """Refuses a ZenohID that no node has: a verdict on nobody would always be passed."""
    if not terms.zid or any(zid.startswith(terms.zid) for zid in done.nodes) or not done.nodes:
        return
    named = sorted(done.nodes)[:_MOST_NAMED]
    more = f" and {len(done.nodes) - len(named)} more" if len(done.nodes) > len(named) else ""
    raise click.BadParameter(
        f"no ZenohID begins with {terms.judged!r}; there are {', '.join(named)}{more}. Or judge a part: "
        f"{' or '.join(DUTIES)}",
        param_hint="'--for'",
    )


def _write(path: str, text: str) -> None:
    complain_of_leftovers(write_text(path, text))


commands = {"check": check}
