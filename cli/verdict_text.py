"""What `zdissect check` prints for people."""

from collections.abc import Iterator

from zdissect.conformance import phrases
from zdissect.grammar.rule import NOTE
from zdissect.listing.listing import Entry
from zdissect.output.style import Style
from zdissect.output.text import prose

from .stats_units import many

_COLORS = {"failed": "error", "not judged": "warning", "passed": "value"}
_INDENT = " " * 11


class VerdictText:
    """Lines about a verdict."""

    def __init__(self, report: Entry, style: Style) -> None:
        self.report = report
        self.style = style

    def lines(self) -> Iterator[str]:
        """All of them: captures, with what was found in their sessions; then the verdict."""
        for capture in self.report["captures"]:
            yield from self.capture(capture)
            yield ""
        for one in self.report["fixed"]:
            yield f"not found any more: {one['rule']} {prose(one.get('message') or '')}".rstrip()
        who = "" if self.report["judged"] == "all" else f", judged: {prose(self.report['judged'])}"
        terms = f"profile {self.report['profile']}{who}, fails on {self.report['fail_on']}"
        verdict = self.report["verdict"]
        word = phrases.verdict(self.report, self.colored(verdict.upper(), verdict))
        yield f"{word}: {self.tally()}  ({terms})"

    def tally(self) -> str:
        """What was found, in numbers."""
        captures = self.report["captures"]
        sessions = [session for capture in captures for session in capture["sessions"]]
        places = many(len(sessions), "session")
        return f"{phrases.tally(self.report)} in {places}" + (
            f" of {len(captures)} captures" if len(captures) > 1 else ""
        )

    def colored(self, text: str, verdict: str) -> str:
        """A verdict in its colour."""
        return f"{getattr(self.style, _COLORS[verdict])}{text}{self.style.end}"

    def capture(self, capture: Entry) -> Iterator[str]:
        """The lines about a capture."""
        style = self.style
        verdict = capture["verdict"]
        word = phrases.verdict(capture, self.colored(verdict, verdict))
        yield f"{style.frame}{phrases.title(capture)}{style.end}: {word}"
        for problem in capture["problems"]:
            yield f"  {style.error}can't be read{' to its end' * bool(capture['frames'])}{style.end}: {prose(problem)}"
        healthy = 0
        for session in capture["sessions"]:
            if not session["violations"] and not session["unseen"]:
                healthy += 1
                continue
            yield ""
            yield f"{style.frame}{prose(phrases.session(session))}{style.end}"
            yield from self.violations(session["violations"])
            yield from self.unseen(session["unseen"])
        if capture["elsewhere"]:
            yield ""
            yield f"{style.frame}Outside of sessions{style.end}"
            yield from self.violations(capture["elsewhere"])
        if healthy:
            yield f"  {many(healthy, 'session')} without violations"
        yield from self.unseen(capture["unseen"])
        if capture["unlisted"]:
            yield f"  {capture['unlisted']} more findings aren't listed: only so many violations are told apart"
        if capture["waived"]:
            each = ", ".join(f"{code} {number}" for code, number in capture["waived"].items())
            yield f"  {style.dim}don't count by this profile: {each}{style.end}"

    def unseen(self, entries: list[Entry]) -> Iterator[str]:
        """What no rule can see."""
        for one in entries:
            yield f"  {self.style.dim}not seen: {prose(one['text'])}{self.style.end}"

    def violations(self, violations: list[Entry]) -> Iterator[str]:
        """Each with its bytes, and with what happened then; notes and known ones in a line or two."""
        style = self.style
        for one in violations:
            known = " (known)" if one["known"] else ""
            name = f"{style.severity(one['severity'])}{one['severity']:<7}{style.end}  {one['rule']}{known}"
            yield f"  {name}  {phrases.place(one)}"
            yield f"{_INDENT}{prose(one['text'])}"
            if one["severity"] == NOTE or one["known"]:
                continue
            if data := phrases.octets(one):
                yield f"{_INDENT}bytes: {style.raw}{prose(data)}{style.end}"
            yield f"{_INDENT}then:  {phrases.then(one)}"
            yield f"{_INDENT}rule:  {phrases.rule_text(one['rule'])} {style.dim}{one['docs']}{style.end}"
