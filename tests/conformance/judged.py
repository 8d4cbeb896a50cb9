"""Verdicts on conversations, for tests."""

from typing import Any

from tests.conversation import Conversation
from tests.packets import CaptureBuilder
from zdissect.conformance import Judgement, VerdictTerms
from zdissect.conformance.judgement import violations_of
from zdissect.conformance.overall import overall
from zdissect.grammar.profiles import PROFILES
from zdissect.pipeline import Options, Pipeline

Report = dict[str, Any]


def judged(
    what: Conversation | CaptureBuilder, profile: str = "spec", part: str = "", fail_on: str = "error",
    known: Report | None = None,
) -> Report:  # fmt: skip
    """The verdict on a conversation."""
    terms = VerdictTerms(PROFILES[profile], part, fail_on)
    pipeline, judgement = Pipeline(Options(history=True)), Judgement(terms)
    frames = what.capture.frames if isinstance(what, Conversation) else what.frames
    for frame in frames:
        judgement.frame(frame)
        for item in pipeline.feed(frame):
            judgement.feed(item)
    for item in pipeline.close():
        judgement.feed(item)
    capture = judgement.report(pipeline) | {"files": ["test"], "problems": []}
    return overall(terms, [capture], known or {})


def violations(report: Report) -> list[Report]:
    """All violations of a report."""
    return [one for capture in report["captures"] for one in violations_of(capture)]


def broken(report: Report) -> list[tuple[str, str, str | None, int]]:
    """(severity, rule, side, times) of all violations."""
    return [(one["severity"], one["rule"], one["side"], one["count"]) for one in violations(report)]
