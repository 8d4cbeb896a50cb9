"""What a rule is: severities and groups of findings."""

from typing import NamedTuple

NOTE, WARNING, ERROR = SEVERITIES = ("note", "warning", "error")
"""From the least to the worst."""
MALFORMED, PROTOCOL, SEQUENCE, CAPTURE = "malformed", "protocol", "sequence", "capture"


class Rule(NamedTuple):
    """One kind of finding."""

    code: str
    severity: str
    """note, warning or error."""
    group: str
    """malformed, protocol, sequence or capture."""
    text: str
    """What it means and what to do, for `zdissect explain`."""
    source: str
