"""Profiles: which rules count, and that each exception has a source that exists."""

import pytest

from zdissect.grammar.profiles import ANSWERING, PROFILES, duty
from zdissect.grammar.rule import CAPTURE, SEVERITIES
from zdissect.grammar.rules import RULES
from zdissect.output.notes import sections


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_treatments_are_of_rules_that_count_and_change_them(profile):
    for code, treatment in profile.treatments.items():
        assert RULES[code].group != CAPTURE, code
        assert treatment.severity != RULES[code].severity, f"{code} counts as that anyway"
        assert treatment.severity in (None, *SEVERITIES)
        assert treatment.why.endswith(".")
        assert sections(treatment.source), f"{code}: {treatment.source} names no section of the notes"


@pytest.mark.parametrize(
    ("code", "spec", "rust", "pico"),
    [
        ("locator", "warning", "error", None),
        ("invalid-utf8", "error", "error", None),
        ("request-body", "warning", "error", None),
        ("vle-wraps", "warning", "warning", "error"),
        ("vle-overlong", "warning", "note", "note"),
        ("interest-mode", "note", "warning", None),
        ("no-qos", "note", None, None),
        ("initial-sn-foreign", None, None, None),
        ("trailing-bytes", "error", "error", "error"),
        ("tcp-gap", None, None, None),
    ],
)
def test_what_counts_for_whom(code, spec, rust, pico):
    assert [profile.severity(code) for profile in PROFILES.values()] == [spec, rust, pico]


def test_duties():
    assert RULES.keys() >= ANSWERING
    assert (duty("no-final"), duty("second-final"), duty("unknown-scope")) == ("receiver", "receiver", "sender")
