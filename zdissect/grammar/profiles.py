"""Profiles: which rules count where an implementation is judged, and how much.

A rule has a severity of its own, which the specification and the implementations agree on. A profile names the rules
that those who hold to it treat differently, each with the reason and its source. Rules about captures blame nobody.
"""

from collections.abc import Mapping
from typing import NamedTuple

from zdissect.grammar.rule import CAPTURE, ERROR, NOTE, WARNING
from zdissect.grammar.rules import RULES


class Treatment(NamedTuple):
    """How a profile treats a rule."""

    severity: str | None
    """None: it doesn't count."""
    why: str
    source: str


class Profile(NamedTuple):
    """What an implementation is measured by."""

    name: str
    doc: str
    treatments: Mapping[str, Treatment]
    """The rules that it treats differently, by their codes."""

    def severity(self, code: str) -> str | None:
        """How much a rule counts; None if it doesn't."""
        if RULES[code].group == CAPTURE:
            return None
        treatment = self.treatments.get(code)
        return RULES[code].severity if treatment is None else treatment.severity


_COMMON = {
    "sn-gap-captured": Treatment(None, "The messages were sent: the capture lost them.", "notes 9 no. 18"),
    "initial-sn-foreign": Treatment(
        None, "Any first number within the resolution will do: this only tells implementations apart.",
        "notes 13 no. 5 and 9 no. 14",
    ),
    "explicit-default": Treatment(
        None, "Written out or left out, a default means the same: this only tells implementations apart.",
        "notes 9 no. 57",
    ),
}  # fmt: skip

_RELEASED = {
    **_COMMON,
    "no-qos": Treatment(None, "All implementations assume Data and Drop, whoever sent it.", "notes 13 no. 3"),
    "reserved-bits": Treatment(NOTE, "Reserved bits are ignored when they are read.", "notes 13 no. 24"),
    "vle-overlong": Treatment(NOTE, "Integers with more bytes than needed are read.", "notes 1.1"),
}
"""What the released implementations have in common."""

SPEC = Profile(
    "spec",
    "The specification; where it is silent, what every known implementation asks for.",
    _COMMON,
)
RUST = Profile(
    "rust-1.10",
    "What release 1.10 of the Rust implementation makes of the bytes that it gets.",
    {
        **_RELEASED,
        "locator": Treatment(ERROR, "Since 1.10 it refuses the locator, and the whole message with it.", "notes 1.7"),
        "request-body": Treatment(ERROR, "It refuses the body and closes the link.", "notes 7.1"),
        "body-shm-alone": Treatment(ERROR, "It reads whatever follows as Body, and fails.", "notes 2.3"),
        "query-body-length": Treatment(
            None, "It writes that length itself, and reads the structure without it.", "notes 2.3 and 13 no. 2"
        ),
        "zero-budget": Treatment(NOTE, "It reads a budget of 0 as none.", "notes 9 no. 39"),
        "unknown-consolidation": Treatment(NOTE, "It reads a mode that it doesn't know as Auto.", "notes 7.1"),
        "interest-mode": Treatment(
            WARNING, "It ignores such an interest: nobody answers it.", "notes 6.3 and 9 no. 47"
        ),
    },
)
PICO = Profile(
    "pico-1.9",
    "What zenoh-pico makes of the bytes that it gets.",
    {
        **_RELEASED,
        "vle-wraps": Treatment(ERROR, "It refuses the message, where Rust keeps the low bits.", "notes 1.1"),
        "invalid-utf8": Treatment(None, "It doesn't check whether a text is UTF-8.", "notes 1.2"),
        "locator": Treatment(None, "It accepts locators of any form.", "notes 1.7"),
        "request-body": Treatment(None, "It reads PUT and DEL in a REQUEST.", "notes 7.1"),
        "interest-mode": Treatment(None, "It asks for and answers such interests.", "notes 6.3 and 9 no. 47"),
    },
)
PROFILES = {profile.name: profile for profile in (SPEC, RUST, PICO)}
"""By name; the first is the default."""

ANSWERING = frozenset({
    "ack-raises", "cookie-mismatch", "hello-unasked", "hello-role", "response-unknown", "response-after-final",
    "second-final", "no-final", "answer-late", "over-budget", "reply-key", "wildcard-reply", "final-without-interest",
    "unknown-interest", "second-interest-final", "interest-unanswered", "declaration-after-final", "expired-early",
    "close-reason", "handshake-refused",
})  # fmt: skip
"""Rules about what a receiver does with what it got: acknowledge, answer, refuse, close. All others are about what a
sender says of its own accord."""

RECEIVER, SENDER = "receiver", "sender"


def duty(code: str) -> str:
    """As what a node breaks a rule: as `sender`, or as `receiver` of what it answers."""
    return RECEIVER if code in ANSWERING else SENDER
