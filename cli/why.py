"""`zdissect why --key KEY --to ZENOHID FILE...`: why a node didn't get the samples of a key."""

import sys

import click

from zdissect.fed import fed
from zdissect.output.printable import dumps
from zdissect.output.style import Style
from zdissect.output.text import prose
from zdissect.pipeline import Pipeline
from zdissect.reach.key_evidence import Evidence
from zdissect.reach.reasons import MISSING, NOTE, THERE, UNKNOWN, NodeError, ReachStep, Why
from zdissect.session.keyexprs import check
from zdissect.stats.extent import Extent

from .captures import Captures
from .command import Command
from .common import complain, folded, terminal_columns
from .exit_codes import DONE, UNREADABLE
from .options import (
    CaptureOptions,
    DisplayOptions,
    ReportOptions,
    as_records,
    color_option,
    decode_as_option,
    files_argument,
    frames_option,
    quiet_option,
)
from .outcome import not_shown
from .stdio import for_json


def _key(context: click.Context, _: click.Parameter, text: str) -> str:
    if problem := check(text):
        topic = text.strip("/")
        hint = f"; topic {text} of ROS 2 is on */{topic}/**" if text[:1] == "/" and check(topic) is None else ""
        raise click.BadParameter(f"{text!r} is no key expression: {problem}{hint}")
    return text


@click.command("why", cls=Command)
@files_argument
@click.option("--key", required=True, callback=_key, metavar="KEY", help="The key expression of the samples.")
@click.option(
    "--to", required=True, metavar="NODE", help="Who should get them: the first digits of a ZenohID, or an address."
)
@click.option("--from", "source", default="", metavar="NODE", help="Who should send them.  [default: anybody]")
@click.option("--json", "form", flag_value="json", help="A JSON object.")
@frames_option
@decode_as_option
@quiet_option("No line for what couldn't be read.")
@color_option
@as_records(capture=CaptureOptions, display=DisplayOptions, reporting=ReportOptions)
def why(
    key: str, to: str, source: str, capture: CaptureOptions, display: DisplayOptions, reporting: ReportOptions
) -> int:
    """Says why a node didn't get the samples of a key: what must be there for a sample to arrive, step by step, with
    the frames that show it, up to the first thing that is missing: a subscriber, a publisher, a link, a declaration on
    the way, a sample that a node didn't pass on. What the capture can't show is said to be unknown.
    """
    captures = Captures(capture.files, capture.frames)
    pipeline = Pipeline(capture.pipeline(history=True))
    known = _collected(key, captures, pipeline)
    for problem in captures.problems:
        complain(str(problem))
    if captures.problems and not captures.frames:
        return UNREADABLE
    if not reporting.quiet:
        for text in not_shown(pipeline.decoder.unopened.total(), pipeline.others()):
            complain(text)
    try:
        steps = Why(known, to, source).steps()
    except NodeError as problem:
        named = any(not set(text) <= set("0123456789abcdef.:[]") for text in (to, source))
        hint = "; `zdissect ros2 nodes` has the ZenohIDs of nodes of ROS 2" if named else ""
        raise click.UsageError(f"{problem}{hint}") from None
    if display.form == "json":
        for_json()
        entries = [step._asdict() for step in steps]
        sys.stdout.write(f"{dumps({'key_expr': key, 'to': to, 'verdict': _verdict(steps)[0], 'steps': entries})}\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(steps, display.style))
    if known.left and not reporting.quiet:
        complain(f"{known.left} more samples and declarations weren't looked at: -c reads less")
    return UNREADABLE if captures.problems else DONE


def _collected(key: str, captures: Captures, pipeline: Pipeline) -> Evidence:
    """Reads all frames."""
    known, extent = Evidence(key), Extent()
    for frame, items in fed(pipeline, captures):
        extent.frame(frame)
        for item in items:
            known.feed(item)
    for item in pipeline.close():
        known.feed(item)
    known.close(pipeline, extent.now_ns)
    return known


_WORDS = {THERE: "yes", MISSING: "MISSING", UNKNOWN: "unknown", NOTE: "note"}
_WIDTH, _LEAD = 110, 9
"""Characters of a text, which are few enough to be read; and those before it."""


_MISSING = {
    "subscriber": "a subscriber", "source": "somebody who sends", "interest": "the answer to an interest",
    "link": "a chain of sessions", "declaration": "a declaration on the way", "time": "a subscriber at that time",
    "sample": "what a node didn't pass on", "key": "the right key, which a node has changed",
}  # fmt: skip
"""By the code of a step: what is missing."""


def _verdict(steps: list[ReachStep]) -> tuple[str, str]:
    """What it comes to: in a word, and in a sentence."""
    missing = next((step for step in steps if step.verdict == MISSING), None)
    if missing is not None:
        return MISSING, f"The first thing that is missing: {_MISSING[missing.code]}."
    if any(step.verdict == UNKNOWN for step in steps):
        return UNKNOWN, "Nothing is known to be missing; what the capture can't show is above."
    return THERE, "Nothing is missing on the wire. What the application does with it isn't in a capture."


def _lines(steps: list[ReachStep], style: Style) -> list[str]:
    """The steps for people."""
    colors = {THERE: style.value, MISSING: style.error, UNKNOWN: style.warning, NOTE: style.note}
    width, out = min(_WIDTH, (terminal_columns() or _WIDTH + _LEAD) - _LEAD), []
    for step in steps:
        frames = f"  (frame{'s' * (len(step.frames) > 1)} {', '.join(map(str, step.frames))})" if step.frames else ""
        first, *rest = folded(prose(step.text + frames), width)
        out.append(f"{colors[step.verdict]}{_WORDS[step.verdict]:8}{style.end} {first}")
        out += [f"{'':{_LEAD}}{line}" for line in rest]
    out += ["", f"{style.frame}{prose(_verdict(steps)[1])}{style.end}"]
    return out


commands = {"why": why}
