"""How much speaks for a tape, in bits: how unlikely its values are by chance.

Knows kinds of fields, not fields: a reserved bit that is zero is one bit of evidence, printable text about one bit per
byte, an enumerated value as much as its enumeration rules out. Findings count against a tape.
"""

from math import log2

from zdissect.engine.tape import Span, Tape
from zdissect.grammar.checks import VERSIONS
from zdissect.grammar.field import EXT_HEADER, EXT_UNKNOWN, Field
from zdissect.grammar.primitives import ntp64_ns
from zdissect.grammar.rule import ERROR, MALFORMED, NOTE
from zdissect.grammar.rules import RULES
from zdissect.grammar.types import Bit
from zdissect.readings.attempt import Attempt

_HEADER = 2.5
"""A header byte whose id is one of the possible ones."""
_EXTENSION = 3.0
_LANDS = 5.0
"""The last field ends where the bytes end, and isn't one that takes all remaining bytes."""
_ANYTHING = -10.0
"""The last field takes any bytes."""
_COSTS = {"error": -10.0, "warning": -5.0, "note": -2.0}
_EARLIEST_NS, _LATEST_NS = 1_342_177_281 * 10**9, 2_415_919_104 * 10**9
"""Range of plausible timestamps: from 2012 to 2046."""
_ENTITY = 24
"""Most bytes of one text, and most bytes left over, that count."""


def total(attempt: Attempt) -> float:
    """Evidence for all of an attempt, in bits."""
    return attempt.evidence + sum(weigh(part.tape) for part in attempt.units)


def errors(tape: Tape) -> int:
    """Number of findings that say the bytes aren't well formed."""
    return sum(RULES[code].group == MALFORMED and RULES[code].severity == ERROR for code, *_ in tape.remarks)


def undecoded(tape: Tape) -> int:
    """Number of bytes that no field owns."""
    return sum(stop - start for field, _, start, stop, _ in tape.spans if field.kind == "undecoded")


def versions(attempt: Attempt) -> str:
    """The known protocol versions in its messages: `9`; empty if there are none."""
    values = {span[4] for unit in attempt.units for span in unit.tape.spans if span[0].check == "version"}
    return " and ".join(str(value) for value in sorted(values) if value in VERSIONS)


def weigh(tape: Tape) -> float:
    """Evidence for a tape, in bits; negative where more speaks against it."""
    total = sum(_span(span) for span in tape.spans)
    total += sum(_remark(tape, remark[0], remark[1]) for remark in tape.remarks)
    last = next((span for span in reversed(tape.spans) if span[0].leaf), None)
    if last is None or last[0].kind == "undecoded":
        return total
    return total + (_ANYTHING if last[0].kind == "rest" and last[4] and not _text(last) else _LANDS)


def _span(span: Span) -> float:
    """Evidence of one span."""
    field, _, start, stop, value = span
    kind = field.kind
    if kind == "header":
        return _EXTENSION if field is EXT_HEADER else _HEADER + _reserved(field, value)
    if kind == "bits":
        return _reserved(field, value) + sum(_named(bit, value) for bit in field.bits)
    if kind == "vle" or kind == "uint":
        return _number(field, stop - start, value)
    if kind == "text" or kind == "blob" or kind == "rest":
        return _text(span)
    if kind == "undecoded":
        return -float(min(stop - start, _ENTITY))
    return -_EXTENSION if field is EXT_UNKNOWN else 0.0


def _reserved(field: Field, value: int) -> float:
    """One bit for each reserved bit that is zero; those that aren't are findings."""
    nodes = [bit.node for bit in field.bits if isinstance(bit.node, Bit) and bit.node.reserved]
    return float(sum(node.width for node in nodes if not value & node.mask))


def _named(bit: Field, value: int) -> float:
    """Evidence of a bit field, depending on whether its value has a name."""
    node = bit.node
    if not isinstance(node, Bit) or node.enum is None:
        return 0.0
    part = (value & node.mask) >> node.low
    return node.width - log2(len(node.enum.names)) if part in node.enum.names else -3.0


def _number(field: Field, size: int, value: int) -> float:
    """Evidence of a number: its name, its time, the version."""
    if field.check == "version":
        return 8.0 if value in VERSIONS else 0.0
    if field.render == "ntp64":
        return 10.0 if _EARLIEST_NS <= ntp64_ns(value) < _LATEST_NS else -4.0
    if field.enum is not None:
        return 7.0 - log2(len(field.enum.names)) if value in field.enum.names else -3.0
    return 0.0


def _text(span: Span) -> float:
    """Evidence of text, and of bytes that are text."""
    field, _, _, _, value = span
    if isinstance(value, str):
        shown = value[:_ENTITY]
        return float(sum(1 if char.isprintable() else -2 for char in shown))
    head = value[: 2 * _ENTITY]
    printable = len(head) > 2 and all(32 <= byte < 127 for byte in head)
    return len(head) / 2 if printable and field.render in ("payload", "") else 0.0


def _remark(tape: Tape, code: str, start: int) -> float:
    """The evidence that a finding takes away. A known but old version takes away what it added."""
    if code == "version":
        return -1.0 if start < tape.stop and tape.data[start] in VERSIONS else -8.0
    rule = RULES[code]
    if rule.severity == NOTE:
        return _COSTS[NOTE]
    return _COSTS[rule.severity] + (2.0 if rule.severity != ERROR and rule.group == MALFORMED else 0.0)
