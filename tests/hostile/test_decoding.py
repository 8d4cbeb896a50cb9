"""What one message holds is read in linear time, whatever it holds: extensions, key expressions."""

import random

import pytest

from tests.hostile.work import TWICE, growth
from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import messages
from zdissect.grammar.batch import NETWORK_MESSAGE
from zdissect.session import keyexprs
from zdissect.session.keyexprs import canonical, check, includes, intersects


def test_repeated_extensions() -> None:
    def read(count: int) -> None:
        data = b"\xbd\x00\x03k/a" + b"\xa1\x08" * count + b"\x21\x03\x01\x01x"
        (push,) = messages(interpret(NETWORK_MESSAGE, data))
        assert push.row["priority"] == "InteractiveLow"
        assert len(push.row["extensions"]) == count + 1

    assert growth(read, 2000) < TWICE


@pytest.mark.parametrize("chunk", ["a$*", "$*a$*", "*", "**/a", "a"])
def test_key_expressions_of_many_chunks(chunk: str) -> None:
    def compare(count: int) -> None:
        asked, answered = "/".join([chunk] * count), "/".join([f"a{number}" for number in range(count)])
        for relation in (intersects, includes):
            relation(asked, answered)
            relation(asked + "/z", asked)

    assert growth(compare, 1000) < TWICE


def test_the_ends_of_long_expressions_are_compared() -> None:
    middle = "/".join(["a$*"] * 500)
    assert intersects(f"{middle}/x", f"{middle}/$*x")
    assert not intersects(f"{middle}/x", f"{middle}/y")
    assert not intersects(f"{middle}/x", f"{middle}/b$*/x")
    assert includes(f"**/{middle}/x", f"{middle}/x")
    assert not includes(f"**/{middle}/x", f"{middle}/y")
    assert not includes(f"{middle}/x", f"{middle}/**")
    assert not intersects(f"{middle}/*", f"{middle}/@v")


def test_comparing_ends_never_denies_what_all_chunks_show(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    chunks = ["a", "b", "*", "**", "a$*", "$*b", "@v", "a$*b", "ab"]

    def some() -> str:
        return canonical("/".join(chance.choices(chunks, k=chance.randint(1, 5))))

    pairs = [(some(), some()) for _ in range(2000)]
    exact = [(intersects(one, other), includes(one, other)) for one, other in pairs]
    monkeypatch.setattr(keyexprs, "LONGEST", 0)
    monkeypatch.setattr(keyexprs, "_MOST_WORK", 0)
    for (one, other), known in zip(pairs, exact, strict=True):
        assert (intersects(one, other), includes(one, other)) >= known, (one, other)
        if known[0]:
            assert intersects(one, other), (one, other)
        if known[1]:
            assert includes(one, other), (one, other)


@pytest.mark.parametrize("text", ["x" * 60_000, "a/" * 30_000 + "a", "$*a" * 20_000, "a/" * 30_000 + "b*"])
def test_a_long_key_is_checked_in_one_pass(text: str) -> None:
    def both(size: int) -> None:
        check(text[-size:])
        keyexprs.is_canonical(text[-size:])

    assert growth(both, 16_000) < TWICE
