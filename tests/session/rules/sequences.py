"""Rules of sequence numbers and priorities (notes 9 no. 16 to 20)."""

from tests.conversation import Conversation
from tests.messages import push, pushed
from tests.session.cases import ERROR, NOTE, WARNING, case

FIRST = Conversation().initial(0)
RANGE = {"ext": "qos_link", "tag": 2, "first": 2, "last": 4, "reliable": 0}


@case("sn-range", ERROR, "FRAME", "frame.sn", b"\x80\x01")
def a_number_above_the_mask(fault: bool) -> Conversation:
    """8 bits mean numbers up to 127."""
    conversation = Conversation().open(sn=8)
    return conversation.frame(0, push(), sn=128 if fault else conversation.initial(0))


@case("sn-duplicate", WARNING, "FRAME", "frame.sn")
def a_number_comes_again(fault: bool) -> Conversation:
    return Conversation().open().frame(0, push(), sn=FIRST).frame(0, push(), sn=FIRST + (not fault))


@case("sn-backward", WARNING, "FRAME", "frame.sn")
def an_older_number(fault: bool) -> Conversation:
    conversation = Conversation().open().frame(0, push()).frame(0, push())
    return conversation.frame(0, push(), sn=FIRST if fault else FIRST + 2)


@case("sn-backward", WARNING, "FRAME", "frame.sn")
def a_step_of_more_than_half_the_mask(fault: bool) -> Conversation:
    """Half the mask is as far as a number may go forward; beyond, it counts as an old one."""
    conversation = Conversation().open(sn=8).frame(0, push())
    if fault:
        return conversation.frame(0, push(), sn=conversation.initial(0) + 65 & 127)
    return conversation.frame(0, push())


@case("sn-gap", WARNING, "FRAME", "frame.sn")
def a_number_is_missing(fault: bool) -> Conversation:
    return Conversation().open().frame(0, push()).frame(0, push(), sn=FIRST + 1 + fault)


@case("sn-gap", WARNING, "FRAGMENT", "fragment.sn")
def a_number_is_missing_before_fragments(fault: bool) -> Conversation:
    return Conversation().open().frame(0, push()).fragment(0, b"\x1d", first=True, sn=FIRST + 1 + fault)


@case("sn-gap-captured", NOTE, "FRAME", "frame.sn", also=["tcp-gap"])
def the_capture_lost_a_frame(fault: bool) -> Conversation:
    conversation = Conversation().open().frame(0, push())
    lost = conversation.bytes(0, conversation.framed(0, push()))
    conversation = conversation.lose(0, lost) if fault else conversation.raw(0, lost)
    return conversation.frame(0, push())


@case("sn-first", WARNING, "FRAME", "frame.sn")
def the_first_number_is_another(fault: bool) -> Conversation:
    return Conversation().open().frame(0, push(), sn=FIRST + fault)


@case("priority-without-qos", ERROR, "FRAME", "frame.ext_qos", b"\x31\x04")
def a_priority_without_qos(fault: bool) -> Conversation:
    return Conversation().open(qos=not fault).frame(0, push(), priority=4)


@case("priority-range", NOTE, "FRAME", "frame.ext_qos", b"\x31\x07")
def a_priority_outside_the_range_of_the_link(fault: bool) -> Conversation:
    return Conversation().open(qos=False, extensions=[RANGE]).frame(0, push(), priority=7 if fault else 4)


@case("sn-other-channel", WARNING, "FRAME", "frame.sn")
def a_frame_with_r_inverted(fault: bool) -> Conversation:
    """One finding, and no loss in either channel."""
    conversation = Conversation().open().frame(0, push()).frame(0, push()).frame(0, push(), reliable=False)
    conversation.frame(0, push(), sn=FIRST + 2, reliable=not fault).frame(0, push(), sn=FIRST + 3)
    return conversation.frame(0, push(), reliable=False, sn=FIRST + 1)


@case("sn-other-channel", WARNING, "FRAGMENT", "fragment.sn")
def a_chain_of_fragments_with_r_inverted(fault: bool) -> Conversation:
    conversation = Conversation().open().frame(0, push()).frame(0, push())
    message = pushed("demo/x", bytes(30))
    for index in range(3):
        piece = message[index * 20 : index * 20 + 20]
        conversation.fragment(0, piece, first=not index, last=index == 2, sn=FIRST + 2 + index, reliable=not fault)
    return conversation.frame(0, push(), sn=FIRST + 6).frame(0, push())


@case("sn-other-channel", WARNING, "FRAGMENT", "fragment.sn")
def the_end_of_a_chain_with_r_inverted(fault: bool) -> Conversation:
    """The message is put together nevertheless; receivers don't."""
    conversation = Conversation().open().frame(0, push()).frame(0, push())
    message = pushed("demo/x", bytes(30))
    conversation.fragment(0, message[:20], first=True).fragment(
        0, message[20:], last=True, sn=FIRST + 3, reliable=not fault
    )
    return conversation.frame(0, push(), sn=FIRST + 5)


@case("sn-other-channel", WARNING, "FRAME", "frame.sn")
def what_comes_first_has_r_inverted(fault: bool) -> Conversation:
    """Both channels begin with the same number: that it was the wrong one shows at the next message."""
    conversation = Conversation().open().frame(0, push(), sn=FIRST, reliable=not fault)
    for number in range(1, 5):
        conversation.frame(0, push(), sn=FIRST + number)
    return conversation
