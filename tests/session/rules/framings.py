"""Rules of batches and of what carries them (notes 9 no. 23 and 24)."""

from tests.conversation import Conversation
from tests.messages import push, put
from tests.packets import Parties
from tests.session.cases import ERROR, NOTE, WARNING, case
from zdissect.flow.framing import Framing


@case("batch-size", ERROR, "", "batch.length")
def a_batch_above_the_size_that_was_agreed(fault: bool) -> Conversation:
    """The size counts the two bytes of the length."""
    conversation = Conversation().open(batch_size=1024)
    frame = conversation.framed(0, push(body=put(b"")))
    room = 1024 - len(conversation.bytes(0, frame)) - 1
    frame["messages"] = [push(body=put(bytes(room + fault)))]
    assert len(conversation.bytes(0, frame)) == 1024 + fault
    return conversation.batch(0, frame)


@case("compression", ERROR, "", "batch.compressed_data", b"\xff\xff")
def what_isnt_lz4(fault: bool) -> Conversation:
    conversation = Conversation().open(compression=True)
    return conversation.raw(0, b"\x03\x00\x01\xff\xff") if fault else conversation.frame(0, push(), compress=True)


@case("compression", ERROR, "", "batch.compressed_data")
def more_than_a_batch_is_decompressed(fault: bool) -> Conversation:
    conversation = Conversation().open(compression=True, batch_size=1024)
    return conversation.frame(0, push(body=put(bytes(2000 if fault else 900))), compress=True)


@case("guessed-framing", NOTE, "", "batch.length")
def compressed_batches_without_their_handshake(fault: bool) -> Conversation:
    conversation = Conversation(connect=False)
    conversation.framings[0] = Framing(2, compression=fault)
    return conversation.frame(0, push(), sn=9, compress=fault).frame(0, push())


@case("guessed-framing", NOTE, "", "batch.length")
def low_latency_without_its_handshake(fault: bool) -> Conversation:
    conversation = Conversation(connect=False)
    conversation.framings[0] = Framing(4, low_latency=True) if fault else conversation.framings[0]
    return conversation.frame(0, push()).frame(0, push())


@case("guessed-framing", NOTE, "", "batch.header")
def compressed_datagrams_without_their_handshake(fault: bool) -> Conversation:
    conversation = Conversation(udp=True)
    conversation.framings[0] = Framing(0, compression=fault)
    return conversation.frame(0, push(), sn=9).frame(0, push())


@case("length-prefix", ERROR, "", "batch.length", b"\x01\x00")
def a_length_in_front_of_a_datagram(fault: bool) -> Conversation:
    return Conversation(udp=True).open().raw(0, b"\x01\x00\x04" if fault else b"\x04")


@case("misplaced-message", WARNING, "INIT_SYN", "init.header")
def a_handshake_to_the_port_of_scouting(fault: bool) -> Conversation:
    return Conversation(udp=True, parties=Parties(ports=(40000, 7446 if fault else 7447))).open()


@case("length-prefix", ERROR, "INIT_SYN", "init.header")
def a_stream_without_lengths(fault: bool) -> Conversation:
    conversation = Conversation()
    return conversation.raw(0, conversation.bytes(0, conversation.init(0))[2 if fault else 0 :])


@case("misplaced-message", WARNING, "SCOUT", "scout.header")
def scouting_in_a_stream(fault: bool) -> Conversation:
    return Conversation().raw(0, b"\x01\x09\x07") if fault else Conversation().init_syn()


@case("other-protocol", WARNING, "", "batch.length", also=["unknown-message"] * 3)
def batches_of_another_protocol(fault: bool) -> Conversation:
    return Conversation().raw(0, b"\x02\x00\xff\x00" * 3) if fault else Conversation().init_syn()


@case("handshake-order", ERROR, "OPEN_SYN", "open.header")
def an_open_begins_the_stream(fault: bool) -> Conversation:
    """Where the capture doesn't hold the beginning, nothing is wrong with it."""
    return Conversation(connect=fault).open_syn().close(1)


@case("frame-before-open", ERROR, "FRAME", "frame.header")
def a_frame_begins_the_stream(fault: bool) -> Conversation:
    return Conversation(connect=fault).frame(0, push("a/b"))
