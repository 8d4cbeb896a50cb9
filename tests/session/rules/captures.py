"""Rules of captures: gaps, cuts, ends, and streams whose place is lost."""

from tests.conversation import Conversation
from tests.interface_copies import InterfaceCopies
from tests.messages import d_keyexpr, declare, push, put, request, response, response_final
from tests.packets import CaptureBuilder
from tests.session.cases import NOTE, WARNING, case


def batches(conversation: Conversation, *payloads: bytes) -> list[bytes]:
    """The bytes of FRAMEs with these payloads."""
    return [conversation.bytes(0, conversation.framed(0, push(body=put(payload)))) for payload in payloads]


@case("tcp-gap", WARNING)
def the_capture_lost_a_segment(fault: bool) -> Conversation:
    """It held a KEEP_ALIVE, so that no sequence number is missing."""
    conversation = Conversation().open()
    conversation = conversation.lose(0, b"\x01\x00\x04") if fault else conversation.keep_alive(0)
    return conversation.frame(0, push())


@case("torn-batch", NOTE, "PUSH", "", b"", also=["tcp-gap"])
def the_capture_lost_the_end_of_a_batch(fault: bool) -> Conversation:
    conversation = Conversation().open()
    first, second = batches(conversation, bytes(100), b"x")
    conversation.raw(0, first[:60])
    conversation = conversation.lose(0, first[60:]) if fault else conversation.raw(0, first[60:])
    return conversation.raw(0, second)


@case("resynchronised", NOTE, "", "", bytes(10), also=["tcp-gap", "sn-gap-captured"])
def the_capture_lost_the_start_of_a_batch(fault: bool) -> Conversation:
    conversation = Conversation().open()
    first, second, third = batches(conversation, bytes(100), b"y", b"z")
    head, tail = first[:-10], first[-10:]
    conversation = conversation.lose(0, head) if fault else conversation.raw(0, head)
    return conversation.raw(0, tail).raw(0, second + third)


@case("tcp-overlap", WARNING)
def a_retransmission_with_other_bytes(fault: bool) -> Conversation:
    conversation = Conversation().open()
    at = conversation.sent[0]
    (frame,) = batches(conversation, b"one")
    conversation.raw(0, frame).segment(0, frame[:-3] + b"two" if fault else frame, offset=at)
    return conversation


@case("stream-ends", NOTE, "PUSH", "", b"")
def the_stream_ends_inside_a_batch(fault: bool) -> Conversation:
    conversation = Conversation().open()
    (frame,) = batches(conversation, bytes(100))
    return conversation.raw(0, frame[:60] if fault else frame)


@case("cut-by-capture", NOTE, "PUSH", "", b"", also=["cut-by-capture"])
def the_capture_kept_the_first_bytes_of_each_frame(fault: bool) -> CaptureBuilder:
    conversation = Conversation().open().frame(0, push(body=put(bytes(200)))).frame(0, push())
    if fault:
        conversation.capture.frames[-2] = conversation.capture.frames[-2]._replace(
            data=conversation.capture.frames[-2].data[:100]
        )
    return conversation.capture


@case("time-leap", NOTE)
def one_frame_has_a_flipped_bit_in_its_time(fault: bool) -> CaptureBuilder:
    """Others wait for time to pass: a request, leases, a gap in a stream. None of them takes that for time."""
    conversation = Conversation().open()
    conversation.frame(1, request(1, "a"))
    at, missing = conversation.sent[0], conversation.bytes(0, conversation.framed(0, push()))
    conversation.sent[0] += len(missing)
    conversation.frame(0, push())
    conversation.keep_alive(1)
    frames = conversation.capture.frames
    if fault:
        frames[-1] = frames[-1]._replace(ts_ns=frames[-1].ts_ns + (1000 << 62))
    conversation.keep_alive(1)
    conversation.segment(0, missing, offset=at)
    return conversation.frame(0, response(1, "a")).frame(0, response_final(1)).capture


@case("captured-twice", NOTE)
def datagrams_on_two_interfaces(fault: bool) -> CaptureBuilder:
    return InterfaceCopies(interfaces=(5, 3) if fault else (5,)).of(Conversation(udp=True).open().capture)


@case("websocket", NOTE)
def text_in_a_websocket(fault: bool) -> Conversation:
    head = b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"
    return Conversation().raw(0, head + (b"\x81\x82" if fault else b"\x82\x82") + bytes(4) + b"\x03\x00")


@case("limit", WARNING, limit=("zdissect.session.key_tables.ID_BYTES", 1 << 30))
def more_is_declared_than_may_be_kept(fault: bool) -> Conversation:
    conversation = Conversation().open()
    return conversation.frame(0, declare(d_keyexpr(1, "demo")) if fault else push())
