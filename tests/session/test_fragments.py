"""Messages that come in fragments are put together (notes 4.5)."""

import pytest

from tests.heard import Row, heard
from tests.say import push, pushed
from tests.talk import Talk

BIG = pushed("demo/big", bytes(range(200)))


def whole(talk: Talk) -> list[Row]:
    """The messages that were put together."""
    return [row for row in heard(talk).rows if row["buffer"] == "reassembled"]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_any_number_of_pieces(count: int) -> None:
    talk = Talk().open().fragments(0, BIG, count)
    (row,) = whole(talk)
    assert (row["message"], row["key_expr"], row["payload"]) == ("PUSH", "demo/big", bytes(range(200)))
    assert len(row["fragments"]) == count
    assert row["frame_number"] == row["fragments"][-1] == talk.wire.frames[-1].number
    assert not heard(talk).codes


def test_without_markers_under_patch_0() -> None:
    """A piece on an empty buffer starts a message."""
    talk = Talk().open(patch=0).fragments(0, BIG, 3, markers=False)
    assert len(whole(talk)) == 1
    assert not heard(talk).codes


def test_markers_under_patch_0_do_no_harm() -> None:
    """Rust always writes First."""
    talk = Talk().open(patch=0).fragments(0, BIG, 3)
    assert len(whole(talk)) == 1
    assert not heard(talk).codes


def test_without_markers_under_patch_1_nothing_is_put_together() -> None:
    talk = Talk().open(patch=1).fragments(0, BIG, 3, markers=False)
    assert not whole(talk)
    assert heard(talk).codes == ["fragment-no-first"]


@pytest.mark.parametrize("patch", [0, 1])
@pytest.mark.parametrize("count", [2, 3, 7])
def test_a_message_that_is_too_large(patch: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up once, what is left of it is passed over, and the next one is whole: also if only its last piece
    was too much."""
    monkeypatch.setattr("zdissect.session.fragments.LARGEST", 140)
    talk = Talk().open(patch=patch).fragments(0, BIG, count, markers=bool(patch))
    talk.fragments(0, pushed("demo/small", b"x"), 2, markers=bool(patch))
    assert [row["key_expr"] for row in whole(talk)] == ["demo/small"]
    assert heard(talk).codes == ["fragment-too-large"]


def test_the_message_has_the_channel_of_its_fragments() -> None:
    (row,) = whole(Talk().open().fragments(0, BIG, 2, reliable=False, priority=2))
    assert (row["reliability"], row["sn"]) == ("best_effort", Talk().initial(0) + 1)


def test_chains_of_priorities_and_channels_interleave() -> None:
    talk = Talk().open()
    spaces = [(reliable, priority) for reliable in (True, False) for priority in range(8)]
    size = 50
    for at in range(0, len(BIG), size):
        for reliable, priority in spaces:
            piece = BIG[at : at + size]
            talk.fragment(0, piece, not at, at + size >= len(BIG), reliable=reliable, priority=priority)
    assert len(whole(talk)) == len(spaces)
    assert not heard(talk).codes


def test_both_directions_have_their_chains() -> None:
    talk = Talk().open()
    for at, first, last in ((0, True, False), (100, False, True)):
        for side in (0, 1):
            piece = BIG[at : at + 100] if first else BIG[at:]
            talk.fragment(side, piece, first, last)
    assert len(whole(talk)) == 2


def test_a_dropped_message_is_forgotten() -> None:
    talk = Talk().open().fragment(0, BIG[:50], first=True).fragment(0, b"", drop=True, last=True)
    talk.skip(0)
    talk.fragments(0, BIG, 2)
    assert len(whole(talk)) == 1
    assert heard(talk).codes == ["fragment-dropped"]


def test_an_abandoned_message_is_forgotten() -> None:
    """An empty batch stands for it, its number is used up."""
    talk = Talk().open().fragment(0, BIG[:50], first=True).batch(0)
    talk.skip(0)
    talk.fragments(0, BIG, 2)
    assert len(whole(talk)) == 1
    assert heard(talk).codes == ["fragment-abandoned"]


def test_an_abandoned_chain_before_a_frame() -> None:
    talk = Talk().open().fragment(0, BIG[:50], first=True).batch(0)
    talk.skip(0)
    assert heard(talk.frame(0, push())).codes == ["fragment-abandoned"]


def test_a_repeated_fragment_is_passed_over() -> None:
    first = Talk().initial(0)
    talk = Talk().open().fragment(0, BIG[:50], first=True).fragment(0, BIG[50:100])
    talk.fragment(0, BIG[50:100], sn=first + 1).fragment(0, BIG[100:], last=True, sn=first + 2)
    assert [row["payload"] for row in whole(talk)] == [bytes(range(200))]
    assert heard(talk).codes == ["sn-duplicate"]


def test_a_missing_fragment_loses_its_message_only() -> None:
    talk = Talk().open().fragment(0, BIG[:50], first=True)
    talk.skip(0)
    talk.fragment(0, BIG[100:], last=True)
    talk.skip(0)
    assert len(whole(talk.fragments(0, BIG, 2))) == 1


def test_a_compressed_fragment() -> None:
    talk = Talk().open(compression=True)
    for at, first, last in ((0, True, False), (100, False, True)):
        piece = {**talk.carrier("FRAGMENT", 0, None, True, 5), "M": int(not last)}
        piece |= {"payload": BIG[at : at + 100] if first else BIG[at:]}
        piece["extensions"] += [{"ext": "first"}] * first
        talk.batch(0, piece, compress=True)
    assert len(whole(talk)) == 1
    assert not heard(talk).codes


def test_rubbish_in_a_whole_message_is_a_finding() -> None:
    talk = Talk().open().fragment(0, BIG, first=True).fragment(0, b"\xff\xff", last=True)
    assert heard(talk).codes == ["trailing-bytes"]
