"""Checks of single values, and the registry of rules they name."""

import pytest

from zdissect.grammar.checks import CHECKS
from zdissect.grammar.registry import fields
from zdissect.grammar.rule import CAPTURE, ERROR, MALFORMED, NOTE, PROTOCOL, SEQUENCE, WARNING
from zdissect.grammar.rules import RULES

GOOD = [
    ("version", 9),
    ("zid", b"\x01"),
    ("zid", bytes(15) + b"\x01"),
    ("region_name", "edge"),
    ("region_name", "x" * 32),
    ("budget", 1),
    ("expr_id", 1),
    ("stamp_points", 1),
    ("stamp_points", 4),
    ("stamp_points", 0xF8),
    ("data_length", 1),
    ("suffix", "/a"),
    ("locator", "tcp/127.0.0.1:7447"),
    ("locator", "serial//dev/ttyS0"),
    ("locator", "tcp/a?prio=1;rel=0"),
    ("locator", "tcp/a?rel"),
    ("locator", "tcp/?rel=0"),
    ("locator", "tcp/a?k=v=w"),
    ("locator", "tcp/a?k=2;k=1"),
]
BAD = [
    ("version", 8, "version"),
    ("version", 0, "version"),
    ("zid", b"", "zid-length"),
    ("zid", bytes(17), "zid-length"),
    ("zid", bytes(16), "zero-zid"),
    ("region_name", "", "text-length"),
    ("region_name", "x" * 33, "text-length"),
    ("region_name", "ü" * 17, "text-length"),
    ("budget", 0, "zero-budget"),
    ("expr_id", 0, "zero-expr-id"),
    ("stamp_points", 0, "zero-stamp"),
    ("data_length", 0, "invalid-value"),
    ("suffix", "", "invalid-value"),
    ("locator", "", "locator"),
    ("locator", "tcp", "locator"),
    ("locator", "tcp?a/b", "locator"),
    ("locator", "?/a", "locator"),
    ("locator", "/a", "locator"),
    ("locator", "tcp/", "locator"),
    ("locator", "tcp/a#iface=eth0", "locator"),
    ("locator", "tcp/a#x?rel=0", "locator"),
    ("locator", "tcp/a?", "locator"),
    ("locator", "tcp/a?;", "locator"),
    ("locator", "tcp/a?rel=0;", "locator"),
    ("locator", "tcp/a?=0", "locator"),
    ("locator", "tcp/a?rel=", "locator"),
    ("locator", "tcp/a?rel=0;prio=1", "locator"),
]


@pytest.mark.parametrize(("name", "value"), GOOD)
def test_good_values(name, value):
    assert CHECKS[name](value) is None


@pytest.mark.parametrize(("name", "value", "code"), BAD)
def test_bad_values(name, value, code):
    verdict = CHECKS[name](value)
    assert verdict is not None
    assert verdict[0] == code
    assert code in RULES
    assert verdict[1]


def test_a_locator_is_refused_for_a_reason():
    text = {"tcp/a#x": "with a #", "tcp": "without a /", "/a": "without a protocol", "tcp/": "without an address"}
    text |= {"tcp/a?=1": "isn't key=value;key=value", "tcp/a?b=1;a=1": "order of its keys"}
    for locator, why in text.items():
        verdict = CHECKS["locator"](locator)
        assert verdict is not None
        assert why in verdict[1]


def test_text_of_an_old_version_names_the_release():
    assert CHECKS["version"](8) == ("version", "protocol version 0x08 (Zenoh 0.10 or 0.11), not 0x09")
    assert CHECKS["version"](1) == ("version", "protocol version 0x01 (unknown release), not 0x09")


def test_text_that_isnt_utf8_can_be_checked():
    """Undecodable bytes are kept as surrogates, which have no UTF-8 form of their own."""
    assert CHECKS["region_name"](b"\xff".decode(errors="surrogateescape")) is None


def test_every_check_of_the_grammar_exists_and_all_are_used():
    assert {field.check for field in fields().values()} - {""} == set(CHECKS)
    assert {name for name, *_ in GOOD} == {name for name, *_ in BAD} == set(CHECKS)


def test_rules_are_sound():
    for code, rule in RULES.items():
        assert rule.code == code
        assert rule.severity in (NOTE, WARNING, ERROR)
        assert rule.group in (MALFORMED, PROTOCOL, SEQUENCE, CAPTURE)
        assert rule.text.rstrip(")").endswith(".")
        assert rule.source
