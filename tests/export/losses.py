"""Captures in which numbers are missing, come twice or late, or seem to, for queries on their tables."""

from collections.abc import Iterable
from pathlib import Path
from random import Random

from tests.conversation import CLIENT, OTHER_PEER, PEER, ROUTER, Conversation
from tests.export.tables import write_pcap
from tests.messages import push
from tests.packets import CaptureBuilder, Parties
from tests.random_traffic import random_conversation
from zdissect.records import Frame


def write(place: Path) -> None:
    """Writes them."""
    for seed in range(1, 12, 2):
        write_pcap(place / f"random-{seed}.pcap", random_conversation(seed).capture.frames)
    for name, conversation in (("udp", late(udp=True)), ("tcp", late()), ("wide", late(sn=64)), ("narrow", late(sn=8))):
        write_pcap(place / f"late-{name}.pcap", conversation.capture.frames)
    whole = two().frames
    write_pcap(place / "reordered.pcap", in_another_order(whole))
    write_pcap(place / "from-the-middle.pcap", whole[20:])
    write_pcap(place / "again.pcap", again().frames)
    rotated = in_another_order(two(gap=True).frames)
    for number in range(4):
        part = rotated[number * len(rotated) // 4 : (number + 1) * len(rotated) // 4]
        write_pcap(place / ("rotated.pcap" + (str(number) if number else "")), part)


def late(udp: bool = False, sn: int = 32) -> Conversation:
    """Numbers that are left out, come twice, and come late; of 8 bits they start again from 0 behind that."""
    conversation = Conversation(udp=udp).open(sn=sn)
    first = conversation.initial(0)
    for step in (0, 1, 2, 5, 6, 4, 7, 7, 8, 12, 13, 10, 14):
        conversation.frame(0, push(), sn=first + step & conversation.mask)
    for _ in range(140 if sn == 8 else 5):
        conversation.frame(0, push()).frame(1, push())
    conversation.skip(0, 3)
    return conversation.frame(0, push())


def two(gap: bool = False) -> CaptureBuilder:
    """Two connections at once, with messages in both directions."""
    capture = CaptureBuilder()
    nodes = (CLIENT, ROUTER), (PEER, OTHER_PEER)
    conversations = [
        Conversation(capture, pair, Parties(ports=(40001 + n, 7447))).open() for n, pair in enumerate(nodes)
    ]
    for number in range(40):
        for conversation in conversations:
            conversation.frame(0, push(), push()).frame(1, push())
        if gap and number == 20:
            conversations[1].skip(1, 2)
    return capture


def again() -> CaptureBuilder:
    """A session over UDP, and another one later on the same ports."""
    capture = CaptureBuilder()
    for resolution in (32, 16):
        conversation = Conversation(capture, udp=True).open(sn=resolution)
        for _ in range(5):
            conversation.frame(0, push()).frame(1, push())
        conversation.close(0)
        conversation.wait(60)
    return capture


def in_another_order(frames: Iterable[Frame]) -> list[Frame]:
    """The frames behind the handshakes moved about a little; times ascend."""
    random, out = Random(1), list(frames)
    places = sorted(range(len(out)), key=lambda place: place + (random.randrange(8) if place > 20 else 0))
    return [out[place]._replace(number=n + 1, ts_ns=out[n].ts_ns) for n, place in enumerate(places)]
