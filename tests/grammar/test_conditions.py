"""The language of conditions: what it takes, what it refuses, what it means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zdissect.grammar import conditions
from zdissect.grammar.conditions import ConditionError, flag_test, names, parse


@pytest.mark.parametrize(
    ("text", "values", "meaning"),
    [
        ("N", {"N": 1}, True),
        ("N", {}, False),
        ("not A", {}, True),
        ("not A", {"A": 1}, False),
        ("mode != 0 and R", {"mode": 2, "R": 1}, True),
        ("mode != 0 and R", {"mode": 0, "R": 1}, False),
        ("mode != 0 and R and N", {"mode": 1, "R": 1}, False),
        ("enc == 2 and id == 1", {"enc": 2, "id": 1}, True),
        ("enc == 2 and id != 1", {"enc": 2, "id": 1}, False),
        ("low_latency or prefix", {"prefix": 2}, True),
        ("not (compression and compressed)", {"compression": 1}, True),
        ("a < 2 and b <= 2 and c > 2 and d >= 2", {"a": 1, "b": 2, "c": 3, "d": 2}, True),
    ],
)
def test_conditions(text, values, meaning):
    assert bool(conditions.test(text)(values)) is meaning


@pytest.mark.parametrize(
    ("text", "values", "size"),
    [
        ("zid_len + 1", {"zid_len": 15}, 16),
        ("8", {}, 8),
        ("link_count", {"link_count": 3}, 3),
        ("2 * a - 1", {"a": 4}, 7),
    ],
)
def test_sizes(text, values, size):
    assert conditions.test(text)(values) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A and",
        "A B",
        "A; B",
        "A = 1",
        "'text'",
        "1.5",
        "True",
        "None",
        "len(A)",
        "A.b",
        "A[0]",
        "A if B else C",
        "lambda: A",
        "[A]",
        "A / 2",
        "A & 1",
        "A ** 9",
        "__import__('os')",
        "(A := 1)",
        "A in B",
        "f'{A}'",
    ],
)
def test_what_isnt_in_the_language(text):
    with pytest.raises(ConditionError, match="condition"):
        parse(text)


def test_errors_name_the_part_that_is_wrong():
    with pytest.raises(ConditionError, match=r"condition 'A and len\(B\)': 'len\(B\)' isn't allowed here"):
        parse("A and len(B)")


def test_names():
    assert names("mode != 0 and R and not N") == {"mode", "R", "N"}
    assert names("8") == frozenset()
    assert names("") == frozenset()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("N", ("N", True)),
        ("not N", ("N", False)),
        ("N and M", None),
        ("not not N", None),
        ("N == 1", None),
        ("1", None),
        ("not (N or M)", None),
    ],
)
def test_flag_tests(text, found):
    assert flag_test(text) == found


NAMES = st.sampled_from("AMNRZ")
OPERATORS = st.sampled_from(["and", "or", "==", "+"])
TEXTS = st.recursive(
    NAMES | st.integers(0, 3).map(str),
    lambda inner: st.builds("not ({})".format, inner) | st.builds("({}) {} ({})".format, inner, OPERATORS, inner),
)


@given(TEXTS, st.dictionaries(NAMES, st.integers(0, 3)))
def test_means_what_python_means(text, values):
    full = {name: values.get(name, 0) for name in "AMNRZ"}
    assert conditions.test(text)(values) == eval(text, {}, full)
