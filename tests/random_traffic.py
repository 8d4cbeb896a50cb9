"""Conversations of messages that are alike, with everything between them that may change what is said of one.

Both sides publish in a few families over a few key expressions; between that they declare and undeclare, ask and
answer, leave numbers out, send fragments, lose bytes, close, and shake hands anew.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from tests import messages
from tests.conversation import Conversation
from tests.families import family_member
from tests.generators import SeededChoices
from tests.messages import Values, d_keyexpr, declare, push
from tests.packets import SECOND
from zdissect.grammar.network import PUSH

Say = Callable[[Conversation, Random], object]

SELDOM_USED = {"shm", "timestamp_stack", "node_id"}


def is_usual(family: int) -> bool:
    """Whether the messages of a family have no extension that makes them unusual."""
    values = family_member(PUSH, family, SeededChoices(0))
    extensions = [*values.get("extensions", ()), *values["body"].get("extensions", ())]
    return not SELDOM_USED & {extension["ext"] for extension in extensions}


FAMILIES = [family for family in range(60) if is_usual(family)]
"""Those without what is never usual: shared memory, stacks of timestamps, nodes of a link state."""

KEYS = [(0, "a", 1), (1, "", 1), (1, "/c", 1), (1, "/c", 0), (2, "", 1)]
"""Scope, suffix, and whose mapping the scope is in."""


def ntp64(ns: int) -> int:
    """A time as stamps have it."""
    return (ns // SECOND << 32) + (ns % SECOND << 32) // SECOND


def alike(conversation: Conversation, random: Random, few: list[int]) -> Values:
    """A PUSH of one of a few families, over one of a few key expressions."""
    source = SeededChoices(random.getrandbits(32))
    values: dict[str, Any] = family_member(PUSH, random.choice(few), source, ntp64(conversation.capture.now_ns))
    for name in ("M", "N", "scope", "suffix"):
        values.pop(name, None)
    scope, suffix, mapping = random.choice(KEYS)
    return values | push(scope, suffix, mapping, body=values["body"])


def pushes(conversation: Conversation, random: Random, few: list[int]) -> None:
    """A batch or two."""
    for _ in range(random.randint(1, 2)):
        some = [alike(conversation, random, few) for _ in range(random.randint(1, 4))]
        rare = random.random() < 0.1
        conversation.frame(int(random.random() < 0.2), *some, reliable=not rare, priority=2 if rare else 5)


USUAL: list[Say] = [
    lambda conversation, random: conversation.frame(
        random.randrange(2), declare(d_keyexpr(random.choice((1, 2)), random.choice(("x", "y/z"))))
    ),
    lambda conversation, random: conversation.frame(side := random.randrange(2), declare(messages.u_keyexpr(2))).frame(
        side, push(2), declare(d_keyexpr(2, random.choice(("x", "z"))))
    ),
    lambda conversation, random: conversation.frame(
        random.randrange(2), declare(messages.entity("SUBSCRIBER", random.randrange(9), "x/**"))
    ),
    lambda conversation, random: conversation.skip(random.randrange(2), random.randint(1, 2)),
    lambda conversation, random: conversation.frame(
        0, messages.request(ident := random.randrange(99), timeout=10)
    ).frame(1, messages.response(ident), messages.response_final(ident)),
    lambda conversation, random: conversation.frame(
        random.randrange(2), messages.response(random.randrange(3)), messages.response_final(1)
    ),
    lambda conversation, random: conversation.keep_alive(random.randrange(2)),
    lambda conversation, random: conversation.wait(random.randrange(12)),
    lambda conversation, random: conversation.fragments(random.randrange(2), messages.pushed("x", b"in two"), 2),
    lambda conversation, random: conversation.fragment(
        random.randrange(2), messages.pushed("x", b"whole"), first=True, last=True
    ),
]
"""What goes by, and what changes what is known for a while."""

SELDOM: list[Say] = [
    lambda conversation, random: conversation.frame(
        random.randrange(2), declare(messages.u_keyexpr(random.choice((1, 2))))
    ),
    lambda conversation, random: conversation.frame(
        random.randrange(2), messages.request(random.randrange(3), timeout=100)
    ),
    lambda conversation, random: conversation.frame(random.randrange(2), messages.interest(random.randrange(3))),
    lambda conversation, random: conversation.lose(
        random.randrange(2), conversation.bytes(0, conversation.framed(0, push()))
    ),
    lambda conversation, random: conversation.fragment(
        0, b"\x00" * 9, first=random.random() < 0.8, last=random.random() < 0.5
    ),
    lambda conversation, random: conversation.batch(random.randrange(2), {"message": "CLOSE", "S": 1, "reason": 0}),
    lambda conversation, random: conversation.open(),
]
"""What changes it for good: unanswered questions, gaps, ends, and a handshake in the middle."""


def random_conversation(seed: int, turns: int = 60, conversation: Conversation | None = None) -> Conversation:
    """A conversation, or its continuation. Every other one has nothing that is seldom."""
    random = Random(seed)
    conversation = (conversation or Conversation()).open(sn=random.choice((8, 32)))
    for side in (0, 1):
        conversation.frame(side, declare(d_keyexpr(1, "x")), declare(d_keyexpr(2, "y/z")))
    few = random.sample(FAMILIES, 3)
    for _ in range(turns):
        pushes(conversation, random, few)
        if random.random() < 0.2:
            random.choice(SELDOM if seed % 2 and random.random() < 0.1 else USUAL)(conversation, random)
    return conversation
