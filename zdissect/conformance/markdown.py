"""A verdict as Markdown, for the summary of a build or a comment."""

import re
from collections.abc import Iterator

from zdissect.conformance import phrases
from zdissect.listing.listing import Entry
from zdissect.output.text import prose

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
MOST_SHOWN = 200
"""Violations that are shown of a capture, and sessions: a summary on GitHub has a limit of 1 MB."""


def markdown(report: Entry) -> str:
    """The verdict: a heading, then each capture with a table of its violations, and the details of those that count."""
    who = "" if report["judged"] == "all" else f", judged: {escaped(report['judged'])}"
    lines = [
        f"# zdissect check: {phrases.verdict(report, report['verdict'])}",
        "",
        f"{phrases.tally(report)} (profile {report['profile']}{who}, fails on {report['fail_on']})",
    ]
    for capture in report["captures"]:
        lines += ["", *_capture(capture)]
    if report["fixed"]:
        lines += ["", "Known before, and not found any more:", ""]
        lines += [f"- {escaped(one['rule'])} {escaped(one.get('message') or '')}".rstrip() for one in report["fixed"]]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Text in which nothing is Markdown or HTML, on one line."""
    return _SPECIAL.sub(r"\\\1", prose(text))


def _capture(capture: Entry) -> Iterator[str]:
    yield f"## {escaped(phrases.title(capture))}: {phrases.verdict(capture, capture['verdict'])}"
    for problem in capture["problems"]:
        yield f"\n**{escaped(problem)}**"
    shown = 0
    sessions = [one for one in capture["sessions"] if one["violations"] or one["unseen"]]
    for session in sessions[:MOST_SHOWN]:
        yield f"\n### {escaped(phrases.session(session))}"
        yield from _violations(session["violations"][: MOST_SHOWN - shown])
        shown += len(session["violations"])
        yield from _unseen(session["unseen"])
    if capture["elsewhere"]:
        yield "\n### Outside of sessions"
        yield from _violations(capture["elsewhere"][:MOST_SHOWN])
    if hidden := len(sessions) - MOST_SHOWN:
        yield f"\n{hidden} more sessions aren't shown." if hidden > 0 else ""
    if capture["unseen"]:
        yield "\n### What no rule could see"
        yield from _unseen(capture["unseen"])


def _unseen(entries: list[Entry]) -> Iterator[str]:
    if entries:
        yield ""
    for one in entries[:MOST_SHOWN]:
        yield f"- Not seen: {escaped(one['text'])}"


def _violations(violations: list[Entry]) -> Iterator[str]:
    """A table, then the bytes of those that aren't notes."""
    if not violations:
        return
    yield "\n| severity | rule | who, where | what | times |\n|---|---|---|---|---:|"
    for one in violations:
        known = " (known)" if one["known"] else ""
        cells = (f"{one['severity']}{known}", f"[{one['rule']}]({one['docs']})", escaped(phrases.place(one)),
                 escaped(one["text"]), str(one["count"]))  # fmt: skip
        yield f"| {' | '.join(cells)} |"
    for one in violations:
        if one["severity"] != "note":
            yield f"\n- **{one['rule']}**: {escaped(phrases.rule_text(one['rule']))}"
            if data := phrases.octets(one):
                yield f"  - bytes: `{data}`"
            yield f"  - then: {escaped(phrases.then(one))}"
