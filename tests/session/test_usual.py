"""Usual messages take over what was found out about their like, and nothing that has changed since."""

from collections.abc import Callable
from random import Random

import pytest

from tests.say import Values, d_keyexpr, declare, interest, push, put, request, response, response_final, u_keyexpr
from tests.talk import Talk
from tests.wire import SECOND
from zdissect.dissection import Dissection, findings
from zdissect.engine.messages import Row
from zdissect.pipeline import Options, dissect

START_NS = 1_700_000_000 * SECOND


def stamp(second: int) -> Values:
    """A timestamp of so many seconds after the start of the capture."""
    return {"timestamp": {"time": (START_NS // SECOND + second) << 32, "id": b"\x01\xaa"}, "T": 1}


def items(talk: Talk, rows: bool = True) -> list[Dissection]:
    return [item for item in dissect(talk.wire.frames, Options(rows=rows)) if isinstance(item, Dissection)]


def usual(found: list[Dissection]) -> int:
    """How many messages nobody had to look at."""
    return sum(message.template is not None for item in found for message in item.messages)


def told(found: list[Dissection]) -> tuple[list[Row], list[tuple[str, str, int]]]:
    """All rows and findings."""
    rows = [message.row for item in found for message in item.messages]
    return rows, [(one.rule.code, one.message, one.start) for item in found for one in findings(item)]


def last(talk: Talk) -> tuple[Row, list[str]]:
    """The last row, and the codes of its findings."""
    rows, _ = told(items(talk))
    return rows[-1], [one["code"] for one in rows[-1].get("findings", ())]


@pytest.fixture
def talk() -> Talk:
    """A session in which pushes to scope 1 and to demo/x are usual from the third on."""
    talk = Talk().open().frame(0, declare(d_keyexpr(1, "demo")))
    for _ in range(4):
        talk.frame(0, push(1, "/a"), push())
    return talk


def test_they_are_usual(talk: Talk) -> None:
    found = items(talk)
    assert usual(found) == 3 + 2  # a FRAME gets its template at once, a PUSH when it is met again
    rows, _ = told(found)
    assert [row["key_expr"] for row in rows if row["message"] == "PUSH"] == ["demo/a", "demo/x"] * 4
    assert [row["key_frame"] for row in rows if row.get("key_scope")] == [8, 8, 8, 8]


def test_a_scope_that_is_freed_and_declared_anew(talk: Talk) -> None:
    talk.frame(0, declare(u_keyexpr(1))).frame(0, push(1, "/a"))
    assert last(talk)[1] == ["scope-undeclared"]
    talk.frame(0, declare(d_keyexpr(1, "other"))).frame(0, push(1, "/a")).frame(0, push(1, "/a"))
    row, codes = last(talk)
    assert (row["key_expr"], codes) == ("other/a", [])


def test_a_number_that_does_not_come_next(talk: Talk) -> None:
    talk.skip(0, 2)
    talk.frame(0, push())
    rows, found = told(items(talk))
    assert [code for code, *_ in found if code.startswith("sn")] == ["sn-gap"]
    assert [one["code"] for one in rows[-2]["findings"]] == ["sn-gap"]


def test_an_older_sample(talk: Talk) -> None:
    for second in (1, 2, 3, 4):
        talk.frame(0, push(body=put(**stamp(second))))
    assert usual(items(talk)) == 5 + 4 + 1
    talk.frame(0, push(body=put(**stamp(1))))
    assert last(talk)[1] == ["timestamp-older"]
    talk.frame(0, push(body=put(**stamp(7300))))
    assert last(talk)[1] == ["timestamp-far"]


def test_a_request_that_nobody_ends(talk: Talk) -> None:
    talk.frame(1, request(9, timeout=1000))
    talk.wait(4)
    talk.frame(0, push())
    assert last(talk)[1] == ["no-final"]


def test_after_a_close(talk: Talk) -> None:
    talk.batch(0, {"message": "CLOSE", "S": 1, "reason": 0}).frame(0, push())
    codes = [code for code, *_ in told(items(talk))[1]]
    assert "after-close" in codes


def test_a_frame_ends_a_broken_chain(talk: Talk) -> None:
    """What comes behind it without a first piece is a new fault, not the rest of the old one."""
    talk.fragment(0, b"one", first=True)
    talk.skip(0)
    talk.fragment(0, b"three")
    talk.frame(0, push()).frame(0, push())
    talk.fragment(0, b"four")
    assert last(talk)[1] == ["fragment-no-first"]


def test_a_hole_makes_unknown_scopes_harmless() -> None:
    talk = Talk().open().frame(0, push(7)).frame(0, push(7))
    rows, found = told(items(talk))
    assert [code for code, *_ in found] == ["unknown-scope"] * 2
    assert "key_expr" not in rows[-1]


SAID: list[Callable[[Talk, Random], object]] = [
    lambda talk, random: talk.frame(
        random.randrange(2), declare(d_keyexpr(random.choice((1, 2)), random.choice("ab")))
    ),
    lambda talk, random: talk.frame(random.randrange(2), declare(u_keyexpr(random.choice((1, 2))))),
    lambda talk, random: talk.skip(random.randrange(2), random.randint(1, 2)),
    lambda talk, random: talk.frame(random.randrange(2), request(random.randrange(3), timeout=100)),
    lambda talk, random: talk.frame(random.randrange(2), response(random.randrange(3)), response_final(1)),
    lambda talk, random: talk.wait(random.randrange(12)),
    lambda talk, random: talk.lose(random.randrange(2), talk.bytes(0, talk.framed(0, push()))),
    lambda talk, random: talk.fragment(0, b"\x00" * 9, first=random.random() < 0.8, last=random.random() < 0.5),
    lambda talk, random: talk.frame(random.randrange(2), interest(random.randrange(3))),
    lambda talk, random: talk.batch(random.randrange(2), {"message": "CLOSE", "S": 1, "reason": 0}),
    lambda talk, random: talk.open(),
]
"""What may change what is known of a push; the last four seldom."""


def pushes(talk: Talk, random: Random) -> None:
    """A few of the few kinds of pushes that there are."""
    for _ in range(random.randint(1, 4)):
        some = [
            push(random.choice((0, 1, 2)), random.choice(("a", "/b")), random.randrange(2),
                 body=put(b"x", **(stamp(random.randrange(3)) if random.random() < 0.3 else {})))
            for _ in range(random.randint(1, 3))
        ]  # fmt: skip
        talk.frame(random.randrange(2), *some, reliable=random.random() < 0.8, priority=random.choice((5, 5, 5, 2)))


@pytest.mark.parametrize("block", range(8))
def test_whatever_comes_between(block: int) -> None:
    """All rows and findings are those of a reader that looks at each message."""
    some = total = 0
    for seed in range(block * 12, block * 12 + 12):
        random = Random(seed)
        talk = Talk().open()
        for _ in range(60):
            pushes(talk, random)
            if random.random() < 0.25:
                random.choice(SAID if random.random() < 0.1 else SAID[:-4])(talk, random)
        found = items(talk)
        some += usual(found)
        total += sum(len(item.messages) for item in found)
        assert told(found) == told(items(talk, rows=False))
    assert some > total / 10
