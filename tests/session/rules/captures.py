"""Rules of captures: holes, cuts, ends, and streams whose place is lost."""

from tests.say import push, put, request, response, response_final
from tests.session.cases import NOTE, WARNING, case
from tests.sightings import Sighting
from tests.talk import Talk
from tests.wire import Wire


def batches(talk: Talk, *payloads: bytes) -> list[bytes]:
    """The bytes of FRAMEs with these payloads."""
    return [talk.bytes(0, talk.framed(0, push(body=put(payload)))) for payload in payloads]


@case("tcp-gap", WARNING)
def the_capture_lost_a_segment(fault: bool) -> Talk:
    """It held a KEEP_ALIVE, so that no sequence number is missing."""
    talk = Talk().open()
    talk = talk.lose(0, b"\x01\x00\x04") if fault else talk.keep_alive(0)
    return talk.frame(0, push())


@case("torn-batch", NOTE, "PUSH", "", b"", also=["tcp-gap"])
def the_capture_lost_the_end_of_a_batch(fault: bool) -> Talk:
    talk = Talk().open()
    first, second = batches(talk, bytes(100), b"x")
    talk.raw(0, first[:60])
    talk = talk.lose(0, first[60:]) if fault else talk.raw(0, first[60:])
    return talk.raw(0, second)


@case("resynchronised", NOTE, "", "", bytes(10), also=["tcp-gap", "sn-gap-captured"])
def the_capture_lost_the_start_of_a_batch(fault: bool) -> Talk:
    talk = Talk().open()
    first, second, third = batches(talk, bytes(100), b"y", b"z")
    head, tail = first[:-10], first[-10:]
    talk = talk.lose(0, head) if fault else talk.raw(0, head)
    return talk.raw(0, tail).raw(0, second + third)


@case("tcp-overlap", WARNING)
def a_retransmission_with_other_bytes(fault: bool) -> Talk:
    talk = Talk().open()
    at = talk.sent[0]
    (frame,) = batches(talk, b"one")
    talk.raw(0, frame).segment(0, frame[:-3] + b"two" if fault else frame, offset=at)
    return talk


@case("stream-ends", NOTE, "PUSH", "", b"")
def the_stream_ends_inside_a_batch(fault: bool) -> Talk:
    talk = Talk().open()
    (frame,) = batches(talk, bytes(100))
    return talk.raw(0, frame[:60] if fault else frame)


@case("cut-by-capture", NOTE, "PUSH", "", b"", also=["cut-by-capture"])
def the_capture_kept_the_first_bytes_of_each_frame(fault: bool) -> Wire:
    talk = Talk().open().frame(0, push(body=put(bytes(200)))).frame(0, push())
    if fault:
        talk.wire.frames[-2] = talk.wire.frames[-2]._replace(data=talk.wire.frames[-2].data[:100])
    return talk.wire


@case("time-leap", NOTE)
def one_frame_has_a_flipped_bit_in_its_time(fault: bool) -> Wire:
    """Others wait for time to pass: a request, leases, a hole in a stream. None of them takes that for time."""
    talk = Talk().open()
    talk.frame(1, request(1, "a"))
    at, hole = talk.sent[0], talk.bytes(0, talk.framed(0, push()))
    talk.sent[0] += len(hole)
    talk.frame(0, push())
    talk.keep_alive(1)
    frames = talk.wire.frames
    if fault:
        frames[-1] = frames[-1]._replace(ts_ns=frames[-1].ts_ns + (1000 << 62))
    talk.keep_alive(1)
    talk.segment(0, hole, offset=at)
    return talk.frame(0, response(1, "a")).frame(0, response_final(1)).wire


@case("captured-twice", NOTE)
def datagrams_on_two_interfaces(fault: bool) -> Wire:
    return Sighting(interfaces=(5, 3) if fault else (5,)).of(Talk(udp=True).open().wire)


@case("websocket", NOTE)
def text_in_a_websocket(fault: bool) -> Talk:
    head = b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"
    return Talk().raw(0, head + (b"\x81\x82" if fault else b"\x82\x82") + bytes(4) + b"\x03\x00")
