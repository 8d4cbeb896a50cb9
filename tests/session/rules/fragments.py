"""Rules of fragments (notes 9 no. 21 and 22)."""

from tests.say import push, pushed
from tests.session.cases import NOTE, WARNING, case
from tests.talk import Talk

MESSAGE = pushed("demo/big", b"z" * 40)
HEAD, MIDDLE, TAIL = MESSAGE[:20], MESSAGE[20:40], MESSAGE[40:]


@case("fragment-no-first", WARNING, "FRAGMENT", "fragment.header")
def a_chain_without_first(fault: bool) -> Talk:
    return Talk().open().fragment(0, HEAD, first=not fault).fragment(0, MIDDLE).fragment(0, TAIL, last=True)


@case("fragment-start-missing", NOTE, "FRAGMENT", "fragment.header")
def a_chain_began_before_the_capture(fault: bool) -> Talk:
    talk = Talk(connect=False).frame(0, push(), sn=9)
    return talk.fragment(0, HEAD, first=not fault).fragment(0, MIDDLE).fragment(0, TAIL, last=True)


@case("fragment-start-missing", NOTE, "FRAGMENT", "fragment.header", also=["tcp-gap", "sn-gap-captured"])
def the_capture_lost_a_piece(fault: bool) -> Talk:
    talk = Talk().open().fragment(0, HEAD, first=True)
    piece = {**talk.carrier("FRAGMENT", 0, None, True, 5), "M": 1, "payload": MIDDLE}
    data = talk.bytes(0, piece)
    talk = talk.lose(0, data) if fault else talk.raw(0, data)
    return talk.fragment(0, TAIL[:10]).fragment(0, TAIL[10:], last=True)


@case("fragment-abandoned", NOTE, "FRAGMENT", "fragment.header")
def a_message_starts_inside_another(fault: bool) -> Talk:
    talk = Talk().open().fragment(0, HEAD, first=True)
    if fault:
        talk.fragment(0, HEAD, first=True)
    return talk.fragment(0, MIDDLE).fragment(0, TAIL, last=True)


@case("fragment-abandoned", NOTE, "FRAME", "frame.header")
def a_message_is_given_up_for_an_empty_batch(fault: bool) -> Talk:
    """As the release does it: an empty batch, and a number that is left out."""
    talk = Talk().open().fragment(0, HEAD, first=True)
    if fault:
        talk.batch(0).skip(0)
    else:
        talk.fragment(0, MIDDLE).fragment(0, TAIL, last=True)
    return talk.frame(0, push())


@case("fragment-hole", WARNING, "FRAGMENT", "fragment.header", also=["sn-gap"])
def a_number_is_missing_inside_a_chain(fault: bool) -> Talk:
    talk = Talk().open().fragment(0, HEAD, first=True)
    talk.skip(0, int(fault))
    return talk.fragment(0, MIDDLE).fragment(0, TAIL, last=True)


@case("fragment-interrupted", WARNING, "FRAME", "frame.header")
def a_frame_inside_a_chain(fault: bool) -> Talk:
    """One of another priority does no harm."""
    talk = Talk().open().frame(0, push(), priority=4).fragment(0, HEAD, first=True)
    return talk.frame(0, push(), priority=5 if fault else 4)


@case("fragment-too-large", WARNING, "FRAGMENT", "fragment.header", limit=("zdissect.session.fragments.LARGEST", 60))
def a_chain_grows_above_the_limit(fault: bool) -> Talk:
    talk = Talk().open().fragment(0, bytes(50), first=True)
    return talk.fragment(0, bytes(11)) if fault else talk.fragment(0, bytes(10))


@case("fragment-dropped", NOTE, "FRAGMENT", "fragment.ext_drop", b"\x03")
def the_sender_drops_the_rest(fault: bool) -> Talk:
    talk = Talk().open().fragment(0, HEAD, first=True)
    return talk.fragment(0, b"", drop=True, last=True) if fault else talk.fragment(0, MIDDLE)
