"""Sequence numbers: one space for each direction, channel and priority (notes 1.9 and 4.5)."""

import pytest

from tests.conversation import Conversation
from tests.messages import push, pushed
from tests.observed import assert_healthy, observed
from zdissect.session.sequence import AFTER_LAST, AFTER_OPEN, NONE, Channel, Step

WIDTHS = pytest.mark.parametrize(("bits", "mask"), [(8, 0x7F), (16, 0x3FFF), (32, 0x0FFFFFFF), (64, 0xFFFFFFFF)])


def fed(channel: Channel, sn: int, spare: int, starts: bool) -> tuple[Step, int]:
    """How a number follows; it is taken unless it is a duplicate, or old."""
    step, missing = channel.follows(sn, starts)
    if step not in (Step.DUPLICATE, Step.BACKWARD):
        channel.take(sn, spare)
    return step, missing


@WIDTHS
def test_the_number_after_the_last_is_0(bits: int, mask: int) -> None:
    conversation = Conversation().init_syn(sn=bits).init_ack(sn=bits).open_syn(initial_sn=mask - 1).open_ack()
    for sn in (mask - 1, mask, 0, 1):
        conversation.frame(0, push(), sn=sn)
    assert observed(conversation).codes == ["initial-sn-foreign"]


@WIDTHS
def test_the_mask_is_the_largest_number(bits: int, mask: int) -> None:
    conversation = Conversation().init_syn(sn=bits).init_ack(sn=bits).open_syn(initial_sn=mask).open_ack()
    found = observed(conversation.frame(0, push(), sn=mask).frame(0, push(), sn=mask + 1))
    above = "sn-range" if bits < 64 else "vle-wraps"
    assert found.codes == ["initial-sn-foreign", above]


def test_numbers_above_32_bits_where_64_were_agreed_on() -> None:
    """zenoh-pico counts in 63 bits; of that, the Rust codec keeps 32. Gaps and repetitions are seen all the same."""
    first = (1 << 33) + 5
    conversation = Conversation().init_syn(sn=64).init_ack(sn=64).open_syn(initial_sn=first).open_ack()
    for sn in (first, first + 1, first + 3, first + 3, (1 << 63) + first + 4):
        conversation.frame(0, push(), sn=sn)
    found = observed(conversation)
    assert [code for code in found.codes if code != "vle-wraps"] == ["initial-sn-foreign", "sn-gap", "sn-duplicate"]
    assert found.codes.count("vle-wraps") == 6
    assert [row["sn"] for row in found.of("FRAME")] == [first, first + 1, first + 3, first + 3, (1 << 63) + first + 4]
    assert found.of("OPEN_SYN")[0]["initial_sn"] == first


def test_fragments_whose_first_number_is_out_of_range() -> None:
    """Nothing is known of their channel then."""
    found = observed(Conversation().open(sn=8).fragment(0, b"\x1d", first=True, reliable=False, sn=128))
    assert found.codes == ["sn-range"]
    assert [row["sn"] for row in found.of("FRAGMENT")] == [128]


def test_numbers_above_32_bits_where_fewer_were_agreed_on() -> None:
    """The range counts, not what is left of the number."""
    conversation = Conversation().open()
    found = observed(conversation.frame(0, push(), sn=(1 << 32) + conversation.initial(0)))
    assert sorted(found.codes) == ["sn-range", "vle-wraps"]


def test_half_the_mask_is_as_far_as_a_number_may_go() -> None:
    for step, expected in ((63, Step.GAP), (64, Step.GAP), (65, Step.BACKWARD), (127, Step.BACKWARD)):
        channel = Channel(0x7F)
        fed(channel, 100, NONE, True)
        assert fed(channel, 100 + step & 0x7F, NONE, True)[0] is expected, step


def test_every_channel_and_priority_counts_for_itself() -> None:
    conversation = Conversation().open()
    for _ in range(2):
        for priority in range(8):
            for reliable in (True, False):
                for side in (0, 1):
                    conversation.frame(side, push(), reliable=reliable, priority=priority)
    assert_healthy(conversation)


def test_a_gap_is_told_once_and_how_many_are_missing() -> None:
    first = Conversation().initial(0)
    conversation = Conversation().open().frame(0, push())
    for sn in (first + 4, first + 5, first + 6):
        conversation.frame(0, push(), sn=sn)
    (gap,) = observed(conversation).findings
    assert gap.message == f"sn {first + 4}, expected {first + 1}: 3 missing"


def test_a_duplicate_changes_nothing() -> None:
    first = Conversation().initial(0)
    conversation = Conversation().open()
    for sn in (first, first + 1, first + 1, first, first + 2):
        conversation.frame(0, push(), sn=sn)
    assert observed(conversation).codes == ["sn-duplicate", "sn-backward"]


def test_number_0_may_come_again_like_any_other() -> None:
    conversation = Conversation(connect=False)
    for sn in (0, 0, 1):
        conversation.frame(0, push(), sn=sn)
    assert observed(conversation).codes == ["sn-duplicate"]


def test_one_number_may_be_left_out_behind_a_fragmented_message() -> None:
    """The Rust sender uses up one more than there are fragments."""
    big = pushed("demo/big", bytes(100))
    conversation = (
        Conversation()
        .open()
        .fragments(0, big, 3)
        .frame(0, push())
        .fragments(0, big, 2)
        .fragments(0, big, 2)
        .frame(0, push())
    )
    assert_healthy(conversation)


def test_it_may_also_be_used() -> None:
    """As other senders do."""
    conversation = Conversation().open().fragment(0, pushed("demo/big", b"x"), first=True, last=True).frame(0, push())
    assert_healthy(conversation)


def test_two_numbers_may_not_be_left_out() -> None:
    conversation = Conversation().open().fragments(0, pushed("demo/big", bytes(100)), 3)
    conversation.skip(0)
    assert observed(conversation.frame(0, push())).codes == ["sn-gap"]


def test_no_number_may_be_left_out_behind_a_frame() -> None:
    channel = Channel(0x7F)
    assert [fed(channel, sn, NONE, True)[0] for sn in (1, 2, 4)] == [Step.FIRST, Step.NEXT, Step.GAP]


def test_no_number_may_be_left_out_inside_a_chain() -> None:
    channel = Channel(0x7F)
    fed(channel, 1, AFTER_OPEN, True)
    assert fed(channel, 3, AFTER_OPEN, False)[0] is Step.GAP


def test_a_chain_may_be_given_up_with_its_number() -> None:
    channel = Channel(0x7F)
    fed(channel, 1, AFTER_OPEN, True)
    assert fed(channel, 3, AFTER_LAST, True)[0] is Step.EXTRA


def test_without_a_handshake_28_bits_are_assumed() -> None:
    conversation = Conversation(connect=False)
    for sn in (0x0FFFFFFE, 0x0FFFFFFF, 0, 1):
        conversation.frame(0, push(), sn=sn)
    assert_healthy(conversation)
