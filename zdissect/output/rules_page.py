"""The page about the rules, generated from them: `python -m zdissect.output.rules_page > docs/rules.md`."""

from zdissect.grammar.profiles import PROFILES, SPEC, Profile, duty
from zdissect.grammar.rule import CAPTURE, MALFORMED, PROTOCOL, SEQUENCE, Rule
from zdissect.grammar.rules import RULES
from zdissect.output.notes import linked

PAGE = "rules.md"
"""The page, in docs. Each rule has an anchor that is its code."""

_INTRODUCTION = """# Rules

Every kind of finding that zdissect makes, by its code. This page is generated from the rules: `python -m
zdissect.output.rules_page > docs/rules.md`; `zdissect explain CODE` says the same.

- *Severity*: an error is what receivers refuse, or close the link for; with a warning something is wrong or lost, but
  the session goes on; a note is unusual, and says nothing against anybody.
- *Binds*: who breaks the rule: the sender of what is wrong, or the receiver of what it answers, refuses or leaves
  unanswered. `zdissect check --for sender` and `--for receiver` judge one of them.
- *Profiles*: where `zdissect check --profile` treats the rule differently, and why. Rules about captures blame nobody.
- Sources: `notes 4.5` is a section of [wire-notes.md](wire-notes.md); *site*, *pages* and names with `#` are the
  specification, *code* is what the released implementation does, *recorded* what was seen on the wire.
"""

_GROUPS = {
    MALFORMED: "What can't be decoded",
    PROTOCOL: "What breaks the protocol",
    SEQUENCE: "Sequence numbers and fragments",
    CAPTURE: "What the capture lacks",
}


def rules_markdown() -> str:
    """The whole page."""
    parts = [_INTRODUCTION, "## Profiles", *(_profile(profile) for profile in PROFILES.values())]
    for group, title in _GROUPS.items():
        parts.append(f"## {title}")
        parts += [_rule(rule) for rule in RULES.values() if rule.group == group]
    return linked("\n\n".join(part.strip("\n") for part in parts)) + "\n"


def anchor(code: str) -> str:
    """Where the page has a rule: `docs/rules.md#sn-gap`."""
    return f"docs/{PAGE}#{code}"


def _profile(profile: Profile) -> str:
    """A profile, with the rules that it treats differently from the others."""
    head = f"**{profile.name}**{' (the default)' if profile is SPEC else ''}: {profile.doc}"
    if not profile.treatments:
        return head
    lines = ["| rule | counts as | why | source |", "|---|---|---|---|"]
    for code, (severity, why, source) in sorted(profile.treatments.items()):
        lines.append(f"| [{code}](#{code}) | {severity or 'nothing'} | {why} | {source} |")
    return "\n".join((head, "", *lines))


def _rule(rule: Rule) -> str:
    """One rule, with its anchor."""
    binds = "" if rule.group == CAPTURE else f" *Binds:* the {duty(rule.code)}."
    treated = [
        f"{profile.name}: {treatment.severity or 'nothing'}"
        for profile in PROFILES.values()
        if (treatment := profile.treatments.get(rule.code)) is not None
    ]
    profiles = f" *Profiles:* {', '.join(treated)}." if treated else ""
    return f"### {rule.code}\n\n{rule.text}\n\n*Severity:* {rule.severity}.{binds}{profiles} *Source:* {rule.source}."


if __name__ == "__main__":
    print(rules_markdown(), end="")
