"""Conversations of messages that are alike, with everything between them that may change what is said of one.

Both sides publish in a few families over a few key expressions; between that they declare and undeclare, ask and
answer, leave numbers out, send fragments, lose bytes, close, and shake hands anew.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from tests import say
from tests.kin import kin
from tests.making import Seeded
from tests.say import Values, d_keyexpr, declare, push
from tests.talk import Talk
from tests.wire import SECOND
from zdissect.grammar.network import PUSH

Say = Callable[[Talk, Random], object]

FAMILIES = [
    seed for seed in range(60)
    if not any(one["ext"] in ("shm", "timestamp_stack", "node_id") for values in [kin(PUSH, seed, Seeded(0))]
               for one in [*values.get("extensions", ()), *values["body"].get("extensions", ())])
]  # fmt: skip
"""Those without what is never usual: shared memory, stacks of timestamps, nodes of a link state."""

KEYS = [(0, "a", 1), (1, "", 1), (1, "/c", 1), (1, "/c", 0), (2, "", 1)]
"""Scope, suffix, and whose mapping the scope is in."""


def ntp64(ns: int) -> int:
    """A time as stamps have it."""
    return (ns // SECOND << 32) + (ns % SECOND << 32) // SECOND


def alike(talk: Talk, random: Random, few: list[int]) -> Values:
    """A PUSH of one of a few families, over one of a few key expressions."""
    source = Seeded(random.getrandbits(32))
    values: dict[str, Any] = kin(PUSH, random.choice(few), source, ntp64(talk.wire.now_ns))
    for name in ("M", "N", "scope", "suffix"):
        values.pop(name, None)
    scope, suffix, mapping = random.choice(KEYS)
    return values | push(scope, suffix, mapping, body=values["body"])


def pushes(talk: Talk, random: Random, few: list[int]) -> None:
    """A batch or two."""
    for _ in range(random.randint(1, 2)):
        some = [alike(talk, random, few) for _ in range(random.randint(1, 4))]
        rare = random.random() < 0.1
        talk.frame(int(random.random() < 0.2), *some, reliable=not rare, priority=2 if rare else 5)


USUAL: list[Say] = [
    lambda talk, random: talk.frame(
        random.randrange(2), declare(d_keyexpr(random.choice((1, 2)), random.choice(("x", "y/z"))))
    ),
    lambda talk, random: talk.frame(side := random.randrange(2), declare(say.u_keyexpr(2))).frame(
        side, push(2), declare(d_keyexpr(2, random.choice(("x", "z"))))
    ),
    lambda talk, random: talk.frame(
        random.randrange(2), declare(say.entity("SUBSCRIBER", random.randrange(9), "x/**"))
    ),
    lambda talk, random: talk.skip(random.randrange(2), random.randint(1, 2)),
    lambda talk, random: talk.frame(0, say.request(ident := random.randrange(99), timeout=10)).frame(
        1, say.response(ident), say.response_final(ident)
    ),
    lambda talk, random: talk.frame(random.randrange(2), say.response(random.randrange(3)), say.response_final(1)),
    lambda talk, random: talk.keep_alive(random.randrange(2)),
    lambda talk, random: talk.wait(random.randrange(12)),
    lambda talk, random: talk.fragments(random.randrange(2), say.pushed("x", b"in two"), 2),
    lambda talk, random: talk.fragment(random.randrange(2), say.pushed("x", b"whole"), first=True, last=True),
]
"""What goes by, and what changes what is known for a while."""

SELDOM: list[Say] = [
    lambda talk, random: talk.frame(random.randrange(2), declare(say.u_keyexpr(random.choice((1, 2))))),
    lambda talk, random: talk.frame(random.randrange(2), say.request(random.randrange(3), timeout=100)),
    lambda talk, random: talk.frame(random.randrange(2), say.interest(random.randrange(3))),
    lambda talk, random: talk.lose(random.randrange(2), talk.bytes(0, talk.framed(0, push()))),
    lambda talk, random: talk.fragment(0, b"\x00" * 9, first=random.random() < 0.8, last=random.random() < 0.5),
    lambda talk, random: talk.batch(random.randrange(2), {"message": "CLOSE", "S": 1, "reason": 0}),
    lambda talk, random: talk.open(),
]
"""What changes it for good: unanswered questions, holes, ends, and a handshake in the middle."""


def chatter(seed: int, turns: int = 60) -> Talk:
    """A conversation. Every other one has nothing that is seldom."""
    random = Random(seed)
    talk = Talk().open(sn=random.choice((8, 32)))
    for side in (0, 1):
        talk.frame(side, declare(d_keyexpr(1, "x")), declare(d_keyexpr(2, "y/z")))
    few = random.sample(FAMILIES, 3)
    for _ in range(turns):
        pushes(talk, random, few)
        if random.random() < 0.2:
            random.choice(SELDOM if seed % 2 and random.random() < 0.1 else USUAL)(talk, random)
    return talk
