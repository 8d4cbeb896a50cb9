"""`-v`: what frames hold beside the messages of Zenoh."""

from pathlib import Path
from struct import pack

import pytest
from click.testing import CliRunner, Result
from zdissect_cli.main import cli

from tests.captures.expectations import SAMPLES, frames_of
from tests.conversation import Conversation
from tests.messages import push
from tests.observed import observed
from tests.packets import Parties, tcp_packet, udp_packet
from zdissect.dissection import Item, Notice
from zdissect.pipeline import Pipeline
from zdissect.records import Frame
from zdissect.verbose import Verbose


def items(frames: list[Frame]) -> list[Item]:
    verbose = Verbose(Pipeline())
    return [item for frame in frames for _, items in verbose.ranked(frame) for item in items] + verbose.close()


def told(frames: list[Frame]) -> list[tuple[int, str, str]]:
    """(frame, conversation, text) of all that only `-v` shows."""
    return [(one.frame.number, one.flow.id, one.text) for one in items(frames)
            if isinstance(one, Notice) and not one.code]  # fmt: skip


SYN = (1, "tcp.0", "TCP SYN: a connection is opened")
SYN_ACK = (2, "tcp.0", "TCP SYN ACK: the connection is accepted")


def test_a_healthy_session_has_an_opening_and_an_end() -> None:
    conversation = Conversation().open()
    conversation.frame(0, push("a")).hang_up()
    end = "TCP FIN: this side has nothing more to send"
    assert told(conversation.capture.frames) == [SYN, SYN_ACK, (9, "tcp.0", end), (10, "tcp.0", end)]


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.glob("*.pcap*")))
def test_messages_are_the_same_with_it(name: str) -> None:
    frames = list(frames_of([SAMPLES / name]))
    plain = observed(frames).items
    found = [one for one in items(frames) if not isinstance(one, Notice) or one.code]
    assert [(type(one), one.frame.number) for one in found] == [(type(one), one.frame.number) for one in plain]
    assert plain


def test_a_retransmission_is_shown_at_its_frame() -> None:
    conversation = Conversation().open()
    data = conversation.bytes(0, conversation.framed(0, push("a")))
    at = conversation.sent[0]
    conversation.segment(0, data)
    conversation.segment(0, data, offset=at)
    assert told(conversation.capture.frames) == [
        SYN, SYN_ACK, (9, "tcp.0", f"TCP retransmission of {len(data)} bytes, first in frame 8"),
    ]  # fmt: skip


def test_other_connections_are_named_at_their_first_bytes() -> None:
    conversation = Conversation(parties=Parties(ports=(40000, 8000)))
    conversation.raw(0, b"GET / HTTP/1.1\r\n\r\n")
    assert told(conversation.capture.frames)[2:] == [(4, "tcp.0", "a TCP connection that isn't shown: HTTP")]


def test_a_connection_that_is_never_known_is_named_at_the_end() -> None:
    conversation = Conversation(parties=Parties(ports=(40000, 8000)))
    conversation.raw(0, b"hm").raw(1, b"what?")
    assert told(conversation.capture.frames)[2:] == [(4, "tcp.0", "a TCP connection that isn't shown: not Zenoh")]


def test_datagrams_that_aren_t_shown() -> None:
    capture = Conversation().capture
    capture.record(udp_packet(Parties(ports=(40000, 9)), 0, b"hello?"))
    assert told(capture.frames)[2:] == [
        (4, "udp.0", "a datagram of 6 bytes that isn't known to be Zenoh, at least not yet")
    ]


def test_fragments_and_frames_that_aren_t_opened() -> None:
    body = pack(">HHHH", 7446, 7446, 11, 0) + b"\1\x09\7"
    ip = [pack(">BBHHHBBHII", 0x45, 0, 36 - 5 * n, 9, place, 64, 17, 0, 1, 2) for n, place in ((0, 0x2000), (1, 2))]
    data = [bytes(12) + b"\x08\x06" + bytes(28), bytes(12) + b"\x12\x34" + bytes(46)]
    data += [bytes(12) + b"\x08\0" + head + part for head, part in zip(ip, (body[:16], body[16:]), strict=True)]
    frames = [Frame("test", number, number, 1, len(one), one) for number, one in enumerate(data, 1)]
    assert told(frames)[:3] == [
        (1, "", "ARP"), (2, "", "not opened: EtherType 0x1234"), (3, "", "IP fragment: waiting for the others"),
    ]  # fmt: skip


def run(*args: str) -> Result:
    return CliRunner().invoke(cli, args, standalone_mode=False)


def test_lines() -> None:
    path = str(SAMPLES / "pubsub-tcp.pcap")
    plain, found = (run(*option, "-T", "line", "--long", path) for option in ((), ("-v",)))
    lines = found.stdout.splitlines()
    assert lines[0].endswith("127.0.0.1:57592 > 127.0.0.1:7447  [TCP SYN: a connection is opened]")
    assert [line for line in lines if "[TCP " not in line] == plain.stdout.splitlines()
    assert found.stderr == plain.stderr


def test_tree(tmp_path: Path) -> None:
    arp = bytes(12) + b"\x08\x06" + bytes(28)
    path = tmp_path / "arp.pcap"
    path.write_bytes(pack("<IHHiIIIIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1, 0, 0, len(arp), len(arp)) + arp)
    assert run("-v", "-t", "e", str(path)).stdout == "Frame 1  0.000000000\n      [ARP]\n"


@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_it_goes_with_trees_and_lines_only(kind: str) -> None:
    done = CliRunner().invoke(cli, ["-v", "-T", kind, str(SAMPLES / "pubsub-tcp.pcap")])
    assert done.exit_code == 2
    assert "-v needs -T tree or -T line" in done.output


def test_a_segment_in_another_s_connection() -> None:
    """Sequence numbers far away: left out of the stream, and shown."""
    conversation = Conversation().open()
    conversation.capture.record(tcp_packet(conversation.parties, 0, b"zz", 16, 1 << 31, 0))
    assert told(conversation.capture.frames)[2:] == [(8, "tcp.0", "TCP segment outside the window: 2 bytes")]
