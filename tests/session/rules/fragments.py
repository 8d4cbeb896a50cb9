"""Rules of fragments (notes 9 no. 21 and 22)."""

from tests.conversation import Conversation
from tests.messages import push, pushed
from tests.session.cases import NOTE, WARNING, case

MESSAGE = pushed("demo/big", b"z" * 40)
HEAD, MIDDLE, TAIL = MESSAGE[:20], MESSAGE[20:40], MESSAGE[40:]


@case("fragment-no-first", WARNING, "FRAGMENT", "fragment.header")
def a_chain_without_first(fault: bool) -> Conversation:
    return Conversation().open().fragment(0, HEAD, first=not fault).fragment(0, MIDDLE).fragment(0, TAIL, last=True)


@case("fragment-start-missing", NOTE, "FRAGMENT", "fragment.header")
def a_chain_began_before_the_capture(fault: bool) -> Conversation:
    conversation = Conversation(connect=False).frame(0, push(), sn=9)
    return conversation.fragment(0, HEAD, first=not fault).fragment(0, MIDDLE).fragment(0, TAIL, last=True)


@case("fragment-start-missing", NOTE, "FRAGMENT", "fragment.header", also=["tcp-gap", "sn-gap-captured"])
def the_capture_lost_a_piece(fault: bool) -> Conversation:
    conversation = Conversation().open().fragment(0, HEAD, first=True)
    piece = {**conversation.carrier("FRAGMENT", 0, None, True, 5), "M": 1, "payload": MIDDLE}
    data = conversation.bytes(0, piece)
    conversation = conversation.lose(0, data) if fault else conversation.raw(0, data)
    return conversation.fragment(0, TAIL[:10]).fragment(0, TAIL[10:], last=True)


@case("fragment-abandoned", NOTE, "FRAGMENT", "fragment.header")
def a_message_starts_inside_another(fault: bool) -> Conversation:
    conversation = Conversation().open().fragment(0, HEAD, first=True)
    if fault:
        conversation.fragment(0, HEAD, first=True)
    return conversation.fragment(0, MIDDLE).fragment(0, TAIL, last=True)


@case("fragment-abandoned", NOTE, "FRAME", "frame.header")
def a_message_is_given_up_for_an_empty_batch(fault: bool) -> Conversation:
    """As the release does it: an empty batch, and a number that is left out."""
    conversation = Conversation().open().fragment(0, HEAD, first=True)
    if fault:
        conversation.batch(0).skip(0)
    else:
        conversation.fragment(0, MIDDLE).fragment(0, TAIL, last=True)
    return conversation.frame(0, push())


@case("fragment-hole", WARNING, "FRAGMENT", "fragment.header", also=["sn-gap"])
def a_number_is_missing_inside_a_chain(fault: bool) -> Conversation:
    conversation = Conversation().open().fragment(0, HEAD, first=True)
    conversation.skip(0, int(fault))
    return conversation.fragment(0, MIDDLE).fragment(0, TAIL, last=True)


@case("fragment-interrupted", WARNING, "FRAME", "frame.header")
def a_frame_inside_a_chain(fault: bool) -> Conversation:
    """One of another priority does no harm."""
    conversation = Conversation().open().frame(0, push(), priority=4).fragment(0, HEAD, first=True)
    return conversation.frame(0, push(), priority=5 if fault else 4)


@case("fragment-too-large", WARNING, "FRAGMENT", "fragment.header", limit=("zdissect.session.fragments.LARGEST", 60))
def a_chain_grows_above_the_limit(fault: bool) -> Conversation:
    conversation = Conversation().open().fragment(0, bytes(50), first=True)
    return conversation.fragment(0, bytes(11)) if fault else conversation.fragment(0, bytes(10))


@case("fragment-dropped", NOTE, "FRAGMENT", "fragment.ext_drop", b"\x03")
def the_sender_drops_the_rest(fault: bool) -> Conversation:
    conversation = Conversation().open().fragment(0, HEAD, first=True)
    return conversation.fragment(0, b"", drop=True, last=True) if fault else conversation.fragment(0, MIDDLE)
