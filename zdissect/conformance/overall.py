"""The verdict on all captures, out of their reports: passed, failed, or not judged.

`format`, `version`, `profile`, `judged` (whose implementation: `all`, `sender`, `receiver` or the first digits of a
ZenohID), `fail_on`, `verdict`; `counts` (violations that aren't known, by severity; `known`, those that a baseline has;
`findings`, how often they were found); `fixed` (entries of the baseline that weren't found); `captures`, as `judgement`
has them, each with its `verdict` and its `problems`: why a file couldn't be read to its end.
"""

from collections.abc import Iterable, Sequence

from zdissect.conformance import baseline
from zdissect.conformance.judgement import violations_of
from zdissect.conformance.terms import VerdictTerms
from zdissect.conformance.unseen import OTHER_VERSION
from zdissect.grammar.rule import SEVERITIES
from zdissect.listing.listing import Entry

PASSED, FAILED, NOT_JUDGED = "passed", "failed", "not judged"
_VERSION = 1


def overall(terms: VerdictTerms, captures: list[Entry], known: dict[str, Entry]) -> Entry:
    """The verdict on captures.

    Args:
        terms: By what they were judged.
        captures: Their reports, with their `files` and `problems`.
        known: The violations of a baseline, by their fingerprints; they don't count.
    """
    found = [one for capture in captures for one in violations_of(capture)]
    fixed = baseline.mark(found, known)
    for capture in captures:
        for session in capture["sessions"]:
            session["verdict"] = _of(terms, session["violations"], _applies(session))
        judged = bool(capture["messages"]) and any(map(_applies, capture["sessions"] or [_NO_SESSION]))
        capture["verdict"] = _of(terms, violations_of(capture), judged)
    new = [one for one in found if not one["known"]]
    counts = {severity: sum(one["severity"] == severity for one in new) for severity in SEVERITIES}
    return {
        "format": "zdissect-check",
        "version": _VERSION,
        "profile": terms.profile.name,
        "judged": terms.judged or "all",
        "fail_on": terms.fail_on,
        "verdict": _together([capture["verdict"] for capture in captures]),
        "counts": {**counts, "known": len(found) - len(new), "findings": sum(one["count"] for one in found)},
        "fixed": fixed,
        "captures": captures,
    }


_NO_SESSION: Entry = {"ends": [{"messages": 1}], "unseen": []}
"""Stands for messages outside of sessions, where there is nothing else."""


def _applies(session: Entry) -> bool:
    """Whether there is anything in a session that the rules apply to."""
    foreign = any(one["what"] == OTHER_VERSION for one in session["unseen"])
    return not foreign and any(end["messages"] for end in session["ends"])


def _of(terms: VerdictTerms, violations: Iterable[Entry], judged: bool) -> str:
    if any(terms.fails(one["severity"]) and not one["known"] for one in violations):
        return FAILED
    return PASSED if judged else NOT_JUDGED


def _together(verdicts: Sequence[str]) -> str:
    return next((one for one in (FAILED, NOT_JUDGED) if one in verdicts), PASSED)
