"""The language of filters: what it takes, what it refuses and where it says so."""

import pytest

from tests.filtered import samples
from zdissect.filters import FilterError, compile_filter


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("sn eq 5", "sn == 5"),
        ("sn ne 5", "sn != 5"),
        ("sn gt 5", "sn > 5"),
        ("sn lt 5", "sn < 5"),
        ("sn ge 5", "sn >= 5"),
        ("sn le 5", "sn <= 5"),
        ("sn==5&&message==PUSH", "sn == 5 and message == PUSH"),
        ("sn==5||message==PUSH", "sn == 5 or message == PUSH"),
        ("!sn", "not sn"),
        ("not(sn)", "not sn"),
        ("payload ~ a", 'payload matches "a"'),
        ("sn == 5 or sn == 6 and express", "sn == 5 or (sn == 6 and express)"),
        ("not sn == 5 and express", "(not sn == 5) and express"),
        ("sn in{1,2..3}", "sn in {1, 2 .. 3}"),
        ("sn not in {1}", "!(sn in {1})"),
        ("5 < sn", "sn > 5"),
        ('key_expr == "nano/t0"', "key_expr == nano/t0"),
        (r'key_expr == "n\x61no\u002ft0"', "key_expr == nano/t0"),
        (r'key_expr matches r"t\d"', r'key_expr matches "t\\d"'),
        ("sn == 0x10", "sn == 16"),
        ("sn == 0b10000", "sn == 16"),
        ("sn == '\\x10'", "sn == 16"),
        ("message == push", "message == PUSH"),
        ("message == 'PUSH'", "message == PUSH"),
        ('"nano/**" includes key_expr', 'key_expr within "nano/**"'),
        ("any tcp.port == 7447", "tcp.port == 7447"),
        ("all tcp.port == 7447", "tcp.port === 7447"),
        ("any tcp.port != 7447", "tcp.port !== 7447"),
        ("all tcp.port != 7447", "tcp.port != 7447"),
        ("payload[0:2] == 6e:61", "payload[0-1] == 6e61"),
        ("payload[:2] == 6e:61", 'payload[0-1] == "na"'),
    ],
)
def test_spellings_mean_the_same(text, same):
    assert compile_filter(text).tree == compile_filter(same).tree


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 0, "empty"),
        ("sn ==", 5, "ends here; expected a name or a value"),
        ("sn = 5", 3, "did you mean ==?"),
        ("(sn", 3, "expected )"),
        ("sn)", 2, "')' can't stand here"),
        ('key_expr == "abc', 12, "no closing"),
        (r'key_expr == "\q"', 12, "no escape"),
        ("sn 5", 3, "'5' can't stand here"),
        ("sn == 5 == 6", 8, "'==' can't stand here"),
        ("sn in {1 2}", 9, "'2' can't stand here"),
        ("zenoh.push.scop == 5", 0, "did you mean zenoh.push.scope"),
        ("sn == 5 and keyexpr", 12, "zenoh.keyexpr, key_expr"),
        ("message == PUSHED", 11, "did you mean PUSH"),
        ("finding == sngap", 11, "did you mean sn-gap"),
        ("severity >= bad", 12, "note, warning, error"),
        ("sn == abc", 6, "no whole number"),
        ("sn == 1.5", 6, "no whole number"),
        ("sn == 99999999999999999999", 6, "64 bits"),
        ("payload == hello", 11, "text has quotes"),
        ("message > PUSH", 8, "no order"),
        ("express > 1", 8, "no order"),
        ("express == maybe", 11, "neither true nor false"),
        ("src_ip == 10.0.0.300", 10, "no address"),
        ("src_zid == xyz", 11, "isn't a ZenohID"),
        ("response_time_ns > 10parsec", 19, "no unit of time"),
        ("ts > yesterday", 5, "no time"),
        ("ts > 2026-13-01", 5, "no time"),
        ('key_expr within "a//b"', 16, "no key expression"),
        ('sn within "a"', 3, "relates key expressions"),
        ("sn contains 5", 3, "searches text or bytes"),
        ('payload matches "("', 16, "no regular expression"),
        ("sn[0:2] == 1", 2, "only text and bytes have slices"),
        ("payload[a] == 1", 7, "is no slice"),
        ("median(sn) == 1", 0, "no function"),
        ("zenoh.push == 3", 11, "has no value"),
        ("sn == key_expr", 6, "doesn't compare"),
        ("sn & 5 == x", 10, "no whole number"),
        ("payload & 5", 0, "bits of a number"),
        ("sn & 0xffffffffffffffff", 5, "up to 63 bits"),
        ("not " * 60 + "sn", 4 * 9, "nested more than 50"),
        ("(sn or (sn and " * 60 + "sn" + "))" * 60, None, "nested more than 50"),
        ("sn == 5 " * 1000, 4096, "at most 4096 characters"),
        ('payload matches "' + "a" * 1001 + '"', 16, "at most 1000 characters"),
        ('payload matches "((((a{100}){100}){100}){100})"', 16, "no regular expression"),
    ],
)
def test_errors_say_where_and_what(text, column, words):
    with pytest.raises(FilterError) as caught:
        compile_filter(text)
    fault = caught.value
    assert words in str(fault)
    if column is not None:
        assert fault.column == column
        lines = str(fault).splitlines()
        if len(text) < 60 and text:
            assert lines[1][2:] == text
            assert lines[2] == "  " + " " * column + "^"


def test_a_long_filter_of_many_parts_is_fine():
    text = " or ".join(f"sn == {number}" for number in range(250))
    assert samples().rows_of(text) == [row for row in samples().rows if row.get("sn", -1) in range(250)]


def test_a_pattern_that_would_take_exponential_time_elsewhere_takes_none():
    rows = [{"payload": b"a" * 100_000 + b"!"}]
    assert list(map(compile_filter(r'payload matches "^(a+)+$"').row, rows)) == [False]


def test_words_that_are_names_are_names_only_where_no_value_of_the_left_side_fits():
    assert samples().rows_of("src_role == dst_role") == [
        row for row in samples().rows if row.get("src_role") and row["src_role"] == row.get("dst_role")
    ]
    assert samples().rows_of("key_expr == link") == []
    assert samples().rows_of('link == "tcp"') == samples().rows_of("link == tcp")
