"""Messages that come in fragments are put together (notes 4.5)."""

import pytest

from tests.conversation import Conversation
from tests.messages import push, pushed
from tests.observed import Row, assert_healthy, observed

BIG = pushed("demo/big", bytes(range(200)))


def whole(conversation: Conversation) -> list[Row]:
    """The messages that were put together."""
    return [row for row in observed(conversation).rows if row["buffer"] == "reassembled"]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_any_number_of_pieces(count: int) -> None:
    conversation = Conversation().open().fragments(0, BIG, count)
    (row,) = whole(conversation)
    assert (row["message"], row["key_expr"], row["payload"]) == ("PUSH", "demo/big", bytes(range(200)))
    assert len(row["fragments"]) == count
    assert row["frame_number"] == row["fragments"][-1] == conversation.capture.frames[-1].number
    assert_healthy(conversation)


def test_without_markers_under_patch_0() -> None:
    """A piece on an empty buffer starts a message."""
    conversation = Conversation().open(patch=0).fragments(0, BIG, 3, markers=False)
    assert len(whole(conversation)) == 1
    assert_healthy(conversation)


def test_markers_under_patch_0_do_no_harm() -> None:
    """Rust always writes First."""
    conversation = Conversation().open(patch=0).fragments(0, BIG, 3)
    assert len(whole(conversation)) == 1
    assert_healthy(conversation)


def test_without_markers_under_patch_1_nothing_is_put_together() -> None:
    conversation = Conversation().open(patch=1).fragments(0, BIG, 3, markers=False)
    assert not whole(conversation)
    assert observed(conversation).codes == ["fragment-no-first"]


@pytest.mark.parametrize("patch", [0, 1])
@pytest.mark.parametrize("count", [2, 3, 7])
def test_a_message_that_is_too_large(patch: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up once, what is left of it is passed over, and the next one is whole: also if only its last piece
    was too much."""
    monkeypatch.setattr("zdissect.session.fragments.LARGEST", 140)
    conversation = Conversation().open(patch=patch).fragments(0, BIG, count, markers=bool(patch))
    conversation.fragments(0, pushed("demo/small", b"x"), 2, markers=bool(patch))
    assert [row["key_expr"] for row in whole(conversation)] == ["demo/small"]
    assert observed(conversation).codes == ["fragment-too-large"]


def test_the_message_has_the_channel_of_its_fragments() -> None:
    (row,) = whole(Conversation().open().fragments(0, BIG, 2, reliable=False, priority=2))
    assert (row["reliability"], row["sn"]) == ("best_effort", Conversation().initial(0) + 1)


def test_chains_of_priorities_and_channels_interleave() -> None:
    conversation = Conversation().open()
    spaces = [(reliable, priority) for reliable in (True, False) for priority in range(8)]
    size = 50
    for at in range(0, len(BIG), size):
        for reliable, priority in spaces:
            piece = BIG[at : at + size]
            conversation.fragment(0, piece, not at, at + size >= len(BIG), reliable=reliable, priority=priority)
    assert len(whole(conversation)) == len(spaces)
    assert_healthy(conversation)


def test_both_directions_have_their_chains() -> None:
    conversation = Conversation().open()
    for at, first, last in ((0, True, False), (100, False, True)):
        for side in (0, 1):
            piece = BIG[at : at + 100] if first else BIG[at:]
            conversation.fragment(side, piece, first, last)
    assert len(whole(conversation)) == 2


def test_a_dropped_message_is_forgotten() -> None:
    conversation = Conversation().open().fragment(0, BIG[:50], first=True).fragment(0, b"", drop=True, last=True)
    conversation.skip(0)
    conversation.fragments(0, BIG, 2)
    assert len(whole(conversation)) == 1
    assert observed(conversation).codes == ["fragment-dropped"]


def test_an_abandoned_message_is_forgotten() -> None:
    """An empty batch stands for it, its number is used up."""
    conversation = Conversation().open().fragment(0, BIG[:50], first=True).batch(0)
    conversation.skip(0)
    conversation.fragments(0, BIG, 2)
    assert len(whole(conversation)) == 1
    assert observed(conversation).codes == ["fragment-abandoned"]


def test_an_abandoned_chain_before_a_frame() -> None:
    conversation = Conversation().open().fragment(0, BIG[:50], first=True).batch(0)
    conversation.skip(0)
    assert observed(conversation.frame(0, push())).codes == ["fragment-abandoned"]


def test_a_repeated_fragment_is_passed_over() -> None:
    first = Conversation().initial(0)
    conversation = Conversation().open().fragment(0, BIG[:50], first=True).fragment(0, BIG[50:100])
    conversation.fragment(0, BIG[50:100], sn=first + 1).fragment(0, BIG[100:], last=True, sn=first + 2)
    assert [row["payload"] for row in whole(conversation)] == [bytes(range(200))]
    assert observed(conversation).codes == ["sn-duplicate"]


def test_a_missing_fragment_loses_its_message_only() -> None:
    conversation = Conversation().open().fragment(0, BIG[:50], first=True)
    conversation.skip(0)
    conversation.fragment(0, BIG[100:], last=True)
    conversation.skip(0)
    assert len(whole(conversation.fragments(0, BIG, 2))) == 1


def test_a_compressed_fragment() -> None:
    conversation = Conversation().open(compression=True)
    for at, first, last in ((0, True, False), (100, False, True)):
        piece = {**conversation.carrier("FRAGMENT", 0, None, True, 5), "M": int(not last)}
        piece |= {"payload": BIG[at : at + 100] if first else BIG[at:]}
        piece["extensions"] += [{"ext": "first"}] * first
        conversation.batch(0, piece, compress=True)
    assert len(whole(conversation)) == 1
    assert_healthy(conversation)


def test_rubbish_in_a_whole_message_is_a_finding() -> None:
    conversation = Conversation().open().fragment(0, BIG, first=True).fragment(0, b"\xff\xff", last=True)
    assert observed(conversation).codes == ["trailing-bytes"]
