"""A few bytes stand for a long key that was declared: how much the keys of a batch may take together is limited."""

from collections import deque
from collections.abc import Iterator

import pytest

from tests.conversation import Conversation
from tests.hostile.work import peak
from tests.messages import d_keyexpr, declare, push, request
from tests.vector.item_blocks import Blocks
from tests.vector.test_dissections import same
from zdissect.dissection import Dissection, Item, Notice
from zdissect.limits import Limits
from zdissect.pipeline import Options, Pipeline
from zdissect.stats.query_stats import Unanswered

LONG = "k" * 30_000
MOST = 1 << 20


def shown(conversation: Conversation) -> Iterator[Item]:
    pipeline = Pipeline(Options(limits=Limits(keys=MOST)))
    for frame in conversation.capture.frames:
        yield from pipeline.feed(frame)


def with_long_key() -> Conversation:
    return Conversation().open().frame(0, declare(d_keyexpr(1, LONG)))


def test_further_keys_of_a_batch_stay_unresolved() -> None:
    conversation = with_long_key().frame(0, *(push(1, f"/{number}") for number in range(300)))
    conversation.frame(0, push(1, "/after"))
    *_, batch, notice, after = shown(conversation)
    assert isinstance(batch, Dissection)
    assert isinstance(after, Dissection)
    keys = [message.row.get("key_expr") for message in batch.messages[1:]]
    fitting = MOST // len(LONG)
    assert keys[:fitting] == [f"{LONG}/{number}" for number in range(fitting)]
    assert keys[fitting:] == [None] * (300 - fitting)
    assert batch.messages[-1].row["key_suffix"] == "/299"
    assert isinstance(notice, Notice)
    assert (notice.code, notice.text.split(":")[0]) == ("limit", "more than --limit keys=1M")
    assert after.messages[1].row["key_expr"] == f"{LONG}/after"


def test_what_is_declared_is_known_all_the_same() -> None:
    conversation = with_long_key()
    chain = (declare(d_keyexpr(number + 1, number, "/a")) for number in range(1, 100))
    *_, batch, _, after = shown(conversation.frame(0, *chain).frame(0, push(100)))
    assert isinstance(batch, Dissection)
    assert isinstance(after, Dissection)
    assert "key_expr" not in batch.messages[-1].row
    assert after.messages[1].row["key_expr"] == LONG + "/a" * 99


def test_a_long_key_that_is_on_the_wire_is_shown() -> None:
    """It takes no more than its bytes."""
    conversation = with_long_key().frame(0, *[push(1, f"/{number}") for number in range(40)], push(0, LONG))
    *_, batch, _ = shown(conversation)
    assert isinstance(batch, Dissection)
    assert "key_expr" not in batch.messages[-2].row
    assert batch.messages[-1].row["key_expr"] == LONG


def test_memory_of_keys_and_findings_is_bounded() -> None:
    """Each key has a wildcard at a place where none may be: the finding shows how it begins."""
    conversation = with_long_key().frame(0, *(push(1, f"/{number}*") for number in range(2000)))
    assert peak(lambda: [*shown(conversation)]) < 2 * MOST + 6_000_000


@pytest.mark.parametrize("size", [10, 50])
def test_blocks(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Usual messages, and requests, of which some have long keys."""
    conversation = Conversation().open().frame(0, declare(d_keyexpr(1, LONG)), declare(d_keyexpr(2, "short")))
    for number in range(200):
        keys = [1 + number // 50 % 2] * 150
        conversation.frame(0, *(push(key) for key in keys), request(number, keys[0], "/q"))
    same(Blocks(monkeypatch), conversation.capture.frames, size)


def test_queries_that_wait_hold_no_long_keys() -> None:
    """Whether two REQUESTs are one query is told by a hash."""
    conversation = with_long_key()
    for number in range(300):
        conversation.frame(0, request(number, 1, f"/{number}"))
    items = [*shown(conversation)]
    assert peak(lambda: deque(map(Unanswered().take, items), 0)) < 2 * MOST
