"""Rules of sequence numbers and priorities (notes 9 no. 16 to 20)."""

from tests.say import push, pushed
from tests.session.cases import ERROR, NOTE, WARNING, case
from tests.talk import Talk

FIRST = Talk().initial(0)
RANGE = {"ext": "qos_link", "tag": 2, "first": 2, "last": 4, "reliable": 0}


@case("sn-range", ERROR, "FRAME", "frame.sn", b"\x80\x01")
def a_number_above_the_mask(fault: bool) -> Talk:
    """8 bits mean numbers up to 127."""
    talk = Talk().open(sn=8)
    return talk.frame(0, push(), sn=128 if fault else talk.initial(0))


@case("sn-duplicate", WARNING, "FRAME", "frame.sn")
def a_number_comes_again(fault: bool) -> Talk:
    return Talk().open().frame(0, push(), sn=FIRST).frame(0, push(), sn=FIRST + (not fault))


@case("sn-backward", WARNING, "FRAME", "frame.sn")
def an_older_number(fault: bool) -> Talk:
    talk = Talk().open().frame(0, push()).frame(0, push())
    return talk.frame(0, push(), sn=FIRST if fault else FIRST + 2)


@case("sn-backward", WARNING, "FRAME", "frame.sn")
def a_step_of_more_than_half_the_mask(fault: bool) -> Talk:
    """Half the mask is as far as a number may go forward; beyond, it counts as an old one."""
    talk = Talk().open(sn=8).frame(0, push())
    if fault:
        return talk.frame(0, push(), sn=talk.initial(0) + 65 & 127)
    return talk.frame(0, push())


@case("sn-gap", WARNING, "FRAME", "frame.sn")
def a_number_is_missing(fault: bool) -> Talk:
    return Talk().open().frame(0, push()).frame(0, push(), sn=FIRST + 1 + fault)


@case("sn-gap", WARNING, "FRAGMENT", "fragment.sn")
def a_number_is_missing_before_fragments(fault: bool) -> Talk:
    return Talk().open().frame(0, push()).fragment(0, b"\x1d", first=True, sn=FIRST + 1 + fault)


@case("sn-gap-captured", NOTE, "FRAME", "frame.sn", also=["tcp-gap"])
def the_capture_lost_a_frame(fault: bool) -> Talk:
    talk = Talk().open().frame(0, push())
    lost = talk.bytes(0, talk.framed(0, push()))
    talk = talk.lose(0, lost) if fault else talk.raw(0, lost)
    return talk.frame(0, push())


@case("sn-first", WARNING, "FRAME", "frame.sn")
def the_first_number_is_another(fault: bool) -> Talk:
    return Talk().open().frame(0, push(), sn=FIRST + fault)


@case("priority-without-qos", ERROR, "FRAME", "frame.ext_qos", b"\x31\x04")
def a_priority_without_qos(fault: bool) -> Talk:
    return Talk().open(qos=not fault).frame(0, push(), priority=4)


@case("priority-range", NOTE, "FRAME", "frame.ext_qos", b"\x31\x07")
def a_priority_outside_the_range_of_the_link(fault: bool) -> Talk:
    return Talk().open(qos=False, extensions=[RANGE]).frame(0, push(), priority=7 if fault else 4)


@case("sn-other-channel", WARNING, "FRAME", "frame.sn")
def a_frame_with_r_inverted(fault: bool) -> Talk:
    """One finding, and no loss in either channel."""
    talk = Talk().open().frame(0, push()).frame(0, push()).frame(0, push(), reliable=False)
    talk.frame(0, push(), sn=FIRST + 2, reliable=not fault).frame(0, push(), sn=FIRST + 3)
    return talk.frame(0, push(), reliable=False, sn=FIRST + 1)


@case("sn-other-channel", WARNING, "FRAGMENT", "fragment.sn")
def a_chain_of_fragments_with_r_inverted(fault: bool) -> Talk:
    talk = Talk().open().frame(0, push()).frame(0, push())
    message = pushed("demo/x", bytes(30))
    for index in range(3):
        piece = message[index * 20 : index * 20 + 20]
        talk.fragment(0, piece, first=not index, last=index == 2, sn=FIRST + 2 + index, reliable=not fault)
    return talk.frame(0, push(), sn=FIRST + 6).frame(0, push())


@case("sn-other-channel", WARNING, "FRAGMENT", "fragment.sn")
def the_end_of_a_chain_with_r_inverted(fault: bool) -> Talk:
    """The message is put together nevertheless; receivers don't."""
    talk = Talk().open().frame(0, push()).frame(0, push())
    message = pushed("demo/x", bytes(30))
    talk.fragment(0, message[:20], first=True).fragment(0, message[20:], last=True, sn=FIRST + 3, reliable=not fault)
    return talk.frame(0, push(), sn=FIRST + 5)


@case("sn-other-channel", WARNING, "FRAME", "frame.sn")
def what_comes_first_has_r_inverted(fault: bool) -> Talk:
    """Both channels begin with the same number: that it was the wrong one shows at the next message."""
    talk = Talk().open().frame(0, push(), sn=FIRST, reliable=not fault)
    for number in range(1, 5):
        talk.frame(0, push(), sn=FIRST + number)
    return talk
