"""Rules of the handshake (notes 9 no. 9 to 15, 59 and 60)."""

from tests.conversation import CLIENT, Conversation
from tests.messages import push
from tests.session.cases import ERROR, NOTE, WARNING, case


@case("ack-raises", ERROR, "INIT_ACK", "init.batch_size", b"\x00\x08")
def larger_batches_are_answered(fault: bool) -> Conversation:
    return Conversation().open(batch_size=1024, answer={"batch_size": 2048 if fault else 512})


@case("ack-raises", ERROR, "INIT_ACK", "init.resolution", b"\x09")
def wider_sequence_numbers_are_answered(fault: bool) -> Conversation:
    return Conversation().open(sn=8, answer={"sn": 16 if fault else 8})


@case("ack-raises", ERROR, "INIT_ACK", "init.resolution", b"\x06")
def wider_request_ids_are_answered(fault: bool) -> Conversation:
    return Conversation().open(rid=8, answer={"rid": 16 if fault else 8})


@case("ack-raises", ERROR, "INIT_ACK", "init.ext_patch", b"\x27\x02")
def a_higher_patch_is_answered(fault: bool) -> Conversation:
    return Conversation().open(patch=1, answer={"patch": 2 if fault else 1})


@case("ack-raises", ERROR, "INIT_ACK", "init.header")
def the_default_is_answered_to_less(fault: bool) -> Conversation:
    """Without the size fields an answer says the default; there is no field to point at."""
    return Conversation().open(batch_size=1024, answer={"batch_size": 65535 if fault else 1024})


@case("handshake-order", ERROR, "OPEN_ACK", "open.header")
def open_ack_without_open_syn(fault: bool) -> Conversation:
    conversation = Conversation().init_syn().init_ack()
    if not fault:
        conversation.open_syn()
    return conversation.open_ack()


@case("handshake-order", ERROR, "INIT_SYN", "init.header")
def a_second_handshake_on_a_living_link(fault: bool) -> Conversation:
    """After CLOSE it is a new one."""
    conversation = Conversation().open()
    if not fault:
        conversation.close(0)
    return conversation.batch(0, conversation.init(0))


@case("cookie-mismatch", ERROR, "OPEN_SYN", "open.cookie", b"\x06cookiE")
def another_cookie_comes_back(fault: bool) -> Conversation:
    return Conversation().init_syn().init_ack(cookie=b"cookie").open_syn(cookie=b"cookiE" if fault else b"cookie")


@case("initial-sn-range", ERROR, "OPEN_SYN", "open.initial_sn", b"\x80\x01")
def initial_sn_above_the_mask(fault: bool) -> Conversation:
    """8 bits mean numbers up to 127."""
    conversation = Conversation().init_syn(sn=8).init_ack(sn=8)
    return conversation.open_syn(initial_sn=128 if fault else conversation.initial(0))


@case("initial-sn-foreign", NOTE, "OPEN_ACK", "open.initial_sn", b"\x00")
def initial_sn_is_0(fault: bool) -> Conversation:
    """As zenoh-pico writes it."""
    conversation = Conversation().init_syn().init_ack().open_syn()
    return conversation.open_ack(initial_sn=0 if fault else conversation.initial(1))


@case("frame-before-open", ERROR, "FRAME", "frame.header")
def a_frame_before_open(fault: bool) -> Conversation:
    conversation = Conversation().init_syn().init_ack()
    if fault:
        conversation.frame(0, push(), sn=0)
    return conversation.open_syn().open_ack()


@case("frame-before-open", ERROR, "FRAME", "frame.header")
def the_acceptor_speaks_before_its_open(fault: bool) -> Conversation:
    conversation = Conversation().init_syn().init_ack().open_syn()
    return conversation.frame(1, push()) if fault else conversation.open_ack().frame(1, push())


@case("qos-twice", ERROR, "INIT_SYN", "init.ext_qos_link")
def qos_and_qos_link(fault: bool) -> Conversation:
    return Conversation().open(qos=fault, extensions=[{"ext": "qos_link", "value": 1}], answer={"qos": False})


@case("same-zid", WARNING, "INIT_ACK", "init.zid", CLIENT.wire_zid)
def a_node_connects_to_itself(fault: bool) -> Conversation:
    other = CLIENT._replace(wire_zid=b"\x01\xab")
    return Conversation(nodes=(CLIENT, CLIENT if fault else other)).open()


@case("handshake-refused", NOTE, "CLOSE", "close.header")
def refused_after_open_syn(fault: bool) -> Conversation:
    """As a router refuses a wrong password."""
    conversation = Conversation().init_syn().init_ack().open_syn()
    return conversation.close(1) if fault else conversation.open_ack().close(1)


@case("handshake-refused", NOTE)
def hung_up_after_init_syn(fault: bool) -> Conversation:
    conversation = Conversation().init_syn()
    return conversation.hang_up() if fault else conversation.init_ack().open_syn().open_ack().hang_up()


@case("handshake-repeated", NOTE, "INIT_SYN", "init.header")
def an_init_comes_again(fault: bool) -> Conversation:
    conversation = Conversation(udp=True).init_syn()
    return (conversation.init_syn() if fault else conversation).init_ack().open_syn().open_ack()


@case("session-reopened", NOTE, "INIT_SYN", "init.header")
def a_session_from_the_same_port(fault: bool) -> Conversation:
    conversation = Conversation(udp=True).open()
    return conversation.open() if fault else conversation
