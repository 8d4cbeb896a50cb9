"""Tapes, rows, Arrow and SQL select the same messages, whatever the filter."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.filtered import filtered, items_of, samples
from zdissect.filters import FilterName, compile_filter, names
from zdissect.filters.typed_tree import AheadValues, ColumnValues, SpanValues
from zdissect.grammar.registry import fields

SHARED = sorted((Path(__file__).parents[3] / "shared" / "captures").rglob("*.pcap*"))
SMALL = 1 << 18
"""Bytes of a capture that is small enough for this."""

KNOWN = [one for one in names() if not isinstance(one.operand, AheadValues)]
COLUMNS = [one for one in KNOWN if isinstance(one.operand, ColumnValues)]
SPANS = [one for one in KNOWN if isinstance(one.operand, SpanValues)]
WITH_VALUES = [one for one in COLUMNS + SPANS if one.type.kind != "none"]

TEXTS = ['"nano"', '""', '"n"', '"/"', '"tcp"', '"a"', '"ä"', '"0"', '"sn"']
NUMBERS = ["0", "1", "2", "5", "32", "7447", "0x7fffffffffffffff", "0x8000000000000000", "0xffffffffffffffff"]
DATA = ["00", "6e:61", '"nano"', "0001ff", '""', "01"]
VALUES = {
    "bool": ["true", "false"],
    "text": TEXTS,
    "key": TEXTS,
    "bytes": DATA,
    "mac": ["00:00:00:00:00:00"],
    "zid": ["a1b", "1b:0a", "0"],
    "duration": ["0", "1", "10ms", "10s", "0.5ms", "1.5s", "1.5ns", "1000000"],
    "time": ["2020-01-01", "2026-01-31T12:00:00.5Z", "0", "1", "1800000000"],
    "ip": ["127.0.0.1", "10.0.0.0/8", "127.0.0.0/8", "::1", "fe80::/10"],
}
ORDERED = ("number", "text", "key", "bytes", "duration", "time", "ip")
PATTERNS = ['"nano"', r'r"\d$"', '"^.a"', '"(a|b)+"', '"[^/]*"', '"."', r'r"\x00"', '"O/T"']
KEYS = ['"nano/**"', '"**"', '"*"', '"nano/*"', '"@/**"', '"**/t0"', '"n$*/**"']


@st.composite
def conditions(draw: st.DrawFn, known: list[FilterName]) -> str:
    """A filter."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return f"not ({draw(conditions(known))})"
    if kind == 1:
        return f"({draw(conditions(known))} {draw(st.sampled_from(['and', 'or']))} {draw(conditions(known))})"
    return draw(comparisons(draw(st.sampled_from(known))))


@st.composite
def comparisons(draw: st.DrawFn, name: FilterName) -> str:
    """A condition about one name."""
    kind = name.type
    if kind.kind == "none" or draw(st.integers(0, 9)) == 0:
        return name.name
    quantifier = draw(st.sampled_from(["", "", "any ", "all "]))
    if draw(st.integers(0, 5)) == 0:
        return draw(calls(name, quantifier))
    values = value_texts(name)
    words = ["==", "!=", "===", "!=="]
    if kind.kind in ORDERED or (kind.names is not None and kind.names.ordered):
        words += ["<", "<=", ">", ">="]
    if kind.textual or kind.binary:
        words += ["contains", "matches"]
    if kind.kind in ("key", "text"):
        words += ["intersects", "includes", "within"]
    word = draw(st.sampled_from([*words, "in"]))
    if word == "in":
        chosen = ", ".join(draw(st.lists(st.sampled_from(values), min_size=1, max_size=4)))
        return f"{quantifier}{name.name} {draw(st.sampled_from(['', 'not ']))}in {{{chosen}}}"
    if word == "matches":
        values = PATTERNS
    elif word in ("intersects", "includes", "within"):
        values = KEYS
    elif word == "contains":
        values = DATA if kind.binary else TEXTS
    return f"{quantifier}{name.name} {word} {draw(st.sampled_from(values))}"


def value_texts(name: FilterName) -> list[str]:
    """Values of the type of a name."""
    kind = name.type
    if kind.names is not None:
        labels = [f'"{label}"' for label in kind.names.numbers][:12]
        return labels + (["0", "1", "3"] if kind.names.ordered else [])
    return NUMBERS if kind.kind == "number" else VALUES[kind.kind]


@st.composite
def calls(draw: st.DrawFn, name: FilterName, quantifier: str) -> str:
    """A condition about a function, a slice or bits of a name."""
    kind = name.type
    number = draw(st.sampled_from(["0", "1", "2", "4", "14"]))
    compare = draw(st.sampled_from(["==", "!=", "<", ">="]))
    if kind.textual or kind.binary:
        cut = draw(st.sampled_from(["[0:2]", "[-2:]", "[1-2]", "[0,-1]", "[:3]", "[-3:2]", "[-3--2]", "[2]", "[1-0]"]))
        value = draw(st.sampled_from(DATA if kind.binary else TEXTS))
        options = [f"len({name.name}) {compare} {number}", f"{name.name}{cut} {compare} {value}"]
        options.append(f"len({name.name}{cut}) {compare} {number}")
        if kind.textual:
            options.append(f"{draw(st.sampled_from(['upper', 'lower']))}({name.name}) {compare} {value}")
    elif kind.kind == "number":
        options = [f"{name.name} & {number} {compare} {number}", f'string({name.name}) contains "{number}"']
    else:
        options = [f"count({name.name}) {compare} {number}"]
    return quantifier + draw(st.sampled_from(options))


@given(conditions(COLUMNS))
@settings(max_examples=400)
def test_conditions_on_columns(text):
    assert not samples().disagreements(text), text


@given(conditions(SPANS))
@settings(max_examples=200)
def test_conditions_on_fields(text):
    assert not samples().disagreements(text), text


def comparable(one: FilterName, other: FilterName) -> bool:
    left, right = one.type, other.type
    return left.kind == right.kind or (left.textual and right.textual) or (left.binary and right.binary)


@given(st.data())
@settings(max_examples=200)
def test_comparisons_of_two_names(data):
    one = data.draw(st.sampled_from([name for name in COLUMNS if name.type.kind != "none"]))
    other = data.draw(st.sampled_from([name for name in COLUMNS if comparable(one, name)]))
    words = ["==", "!="]
    if one.type.kind in ("number", "duration", "time", "bytes", "text", "key"):
        words += ["<", ">="]
    if one.type.kind in ("text", "key"):
        words += ["contains", "intersects", "includes", "within"]
    quantifier = data.draw(st.sampled_from(["", "any ", "all "]))
    if one.type.names is not None and one.type.names.label(other.name) is not None:
        return
    text = f"{quantifier}{one.name} {data.draw(st.sampled_from(words))} {other.name}"
    assert not samples().disagreements(text), text


@pytest.mark.parametrize("name", [one.name for one in COLUMNS])
def test_presence_of_each_column(name):
    assert not samples().disagreements(name)


@pytest.mark.parametrize("name", [one.name for one in SPANS])
def test_presence_of_each_field(name):
    wanted = compile_filter(name)
    if not wanted.needs_tape:
        assert not samples().disagreements(name)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED, reason="the shared captures aren't here")
def test_shared_captures_agree():
    found = filtered(items_of(path for path in SHARED if path.stat().st_size < SMALL))
    assert len(found.rows) > len(samples().rows)
    exact = [one.name for one in SPANS if one.name in fields() and not compile_filter(one.name).needs_tape]
    assert not {name: where for name in exact if (where := found.disagreements(name))}

    @given(conditions(COLUMNS + SPANS))
    @settings(max_examples=30, deadline=None)
    def agrees(text):
        assert not found.disagreements(text), text

    agrees()
