"""Findings, and what isn't opened, in numbers: the summary on standard error, and the exit code by --fail-on."""

from collections import Counter
from collections.abc import Iterator

from zdissect.flow.unopened import noteworthy
from zdissect.grammar.rule import SEVERITIES
from zdissect.grammar.rules import RULES
from zdissect.session.occurrences import Occurrences

from .exit_codes import DONE, FINDINGS
from .stats_units import many

MOST_KINDS = 8
"""Most kinds of frames that are listed one by one."""
_OPAQUE = {"TLS": "TLS (opaque: no keys)", "QUIC": "QUIC (opaque: no keys)"}
"""Protocols that may well carry Zenoh, but can't be read."""


def reaches(codes: Counter[str], severity: str) -> bool:
    """Whether there is a finding at or above a severity."""
    least = SEVERITIES.index(severity)
    return any(SEVERITIES.index(RULES[code].severity) >= least for code in codes)


def exit_code(codes: Counter[str], fail_on: str | None) -> int:
    """The exit code of a command that went well, by what `--fail-on` asks for."""
    return FINDINGS if fail_on is not None and reaches(codes, fail_on) else DONE


def describe(found: Counter[str]) -> str:
    """The findings in a line, the worst first."""
    parts = []
    for severity in reversed(SEVERITIES):
        codes = {code: number for code, number in found.items() if RULES[code].severity == severity}
        if codes:
            total = sum(codes.values())
            each = ", ".join(f"{code} {number}" for code, number in sorted(codes.items()))
            parts.append(f"{total} {severity}{'s' if total > 1 else ''} ({each})")
    return f"{'; '.join(parts)}. `zdissect explain CODE` tells more"


def absences(refused: Occurrences, silent: Occurrences) -> Iterator[str]:
    """What didn't succeed, in a sentence each."""
    if refused.count:
        yield f"{_were(refused, 'connection')} refused during the handshake {refused}"
    if silent.count:
        yield f"{silent.count} {'query' if silent.count == 1 else 'queries'} without an answer {silent}"


def _were(places: Occurrences, noun: str) -> str:
    return f"{many(places.count, noun)} {'was' if places.count == 1 else 'were'}"


def in_frames(what: str, frames: int) -> str:
    """Something, or nothing, and where: `no Zenoh found in 1 frame`."""
    return f"{what} in {many(frames, 'frame')}"


def not_shown(unopened: Counter[str], others: Counter[str]) -> Iterator[str]:
    """What may hold Zenoh and can't be shown, in a line each.

    Args:
        unopened: Frames that weren't opened, by why.
        others: Conversations of other protocols, by their names.
    """
    if text := not_opened(unopened):
        yield text
    if others:
        each = ", ".join(f"{number} {_OPAQUE.get(name, name)}" for name, number in sorted(others.items()))
        yield f"conversations that aren't shown: {each}"


def not_opened(kinds: Counter[str]) -> str:
    """The frames that may hold Zenoh but weren't opened, in a line; empty if there are none."""
    counted = noteworthy(kinds).most_common()
    if not counted:
        return ""
    each = [f"{what} {frames}" for what, frames in counted[:MOST_KINDS]]
    if rest := counted[MOST_KINDS:]:
        each.append(f"{len(rest)} other kinds {sum(frames for _, frames in rest)}")
    total = sum(frames for _, frames in counted)
    return f"{total} {'frame wasn' if total == 1 else 'frames weren'}'t opened: {', '.join(each)}"
