"""Texts of 30 kB, each another one: what is found out about them isn't remembered; blocks that held them are gone."""

import gc
from collections.abc import Callable

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.conversation import Conversation
from tests.hostile.work import TWICE, peak
from tests.messages import push
from tests.vector.item_blocks import Blocks
from tests.vector.walking import prefixed, seen
from zdissect.anonymize.secret import Secret
from zdissect.anonymize.texts import Texts
from zdissect.fed import fed
from zdissect.pipeline import Options, Pipeline, dissect
from zdissect.ros2.naming import ros_name
from zdissect.ros2.rmw_keys import ros_key
from zdissect.ros2.tokens import parse_token
from zdissect.vector.feed import Progress
from zdissect.vector.walk import Walker

MANY, LONG = 200, 30_000


def keys() -> list[str]:
    return [f"{number}/" + "k" * LONG for number in range(MANY)]


@pytest.mark.parametrize("ask", [ros_name, ros_key, parse_token])
def test_what_ros_keys_say(ask: Callable[[str], object]) -> None:
    assert peak(lambda: [ask(f"0/{number}/" + "k" * LONG) for number in range(MANY)]) < LONG * MANY // 10


@pytest.mark.parametrize("kind", ["line", "tree", "json", "jsonl", "csv"])
def test_forms(kind: str) -> None:
    conversation = Conversation().open()
    for key in keys():
        conversation.frame(0, push(0, key))
    form = make_form(DisplayOptions(kind, color="never"))

    def show() -> None:
        for item in dissect(conversation.capture.frames):
            form.show(item)

    assert peak(show) < LONG * MANY // 4


def test_templates() -> None:
    """They are declined, and no template holds what they are told apart by."""
    walker = Walker()
    batches = [prefixed(Conversation().bytes(0, Conversation().framed(0, push(0, key)))[2:]) for key in keys()[:20]]
    assert not any(seen(walker, batches).plain)
    assert all(len(str(template.row)) < 1000 for template in walker.templates)


def test_blocks_are_gone_before_anybody_looks_for_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    Blocks(monkeypatch).cut(20)
    conversation = Conversation().open()
    for number in range(400):
        conversation.frame(0, push(0, f"k/{number % 3}"))
    gc.collect()
    gc.disable()
    try:
        for _ in fed(Pipeline(Options()), conversation.capture.frames):
            pass
        assert not any(isinstance(one, Progress) for one in gc.get_objects())
    finally:
        gc.enable()


def test_anonymized() -> None:
    """Memory grows with the length, not with its square."""

    def word(size: int) -> int:
        return peak(lambda: Texts(Secret("x"), lambda _: None).word("a" * size))

    assert word(8000) < TWICE * word(4000)
