"""Damaged captures: bytes, frames and orders that nobody sent, made from a seed."""

from functools import cache
from random import Random

from tests.captures.expectations import SAMPLES, frames_of
from tests.conversation import Conversation
from tests.generators import SeededChoices, ValueGenerator, mutate
from tests.messages import push
from tests.multicast_group import MulticastGroup
from tests.packets import CaptureBuilder, Parties, udp_packet
from zdissect.engine.encoder import encode
from zdissect.grammar.batch import BATCH, SCOUTING_DATAGRAM
from zdissect.records import Frame

NAMES = sorted(path.name for path in SAMPLES.glob("*.pcap*"))
OPTIONS = ("compression", "low_latency", "multilink", "shm", "qos")


@cache
def capture(name: str) -> list[Frame]:
    return list(frames_of([SAMPLES / name]))


def damaged(frames: list[Frame], random: Random) -> list[Frame]:
    """Bytes changed, frames cut, dropped, repeated, moved, cut by the capture; times that jump."""
    out = []
    for frame in frames:
        dice = random.random() if frame.data else 1 / 2  # nothing to damage: it was cut before
        if dice < 0.02:
            continue
        if dice < 0.10:
            data = bytearray(frame.data)
            for _ in range(random.randint(1, 4)):
                at = random.randrange(min(len(data), 66) if random.random() < 0.3 else len(data))
                data[at] = random.choice((0, 1, 4, 0x26, 0xFF, random.randrange(256)))
            frame = frame._replace(data=bytes(data))
        elif dice < 0.13:
            frame = frame._replace(data=frame.data[: random.randrange(len(frame.data))])
        elif dice < 0.15:
            data = frame.data[:66] + mutate(SeededChoices(random.randrange(1 << 30)), frame.data[66:])
            frame = frame._replace(data=data, wire_len=len(data))
        elif dice < 0.17:
            frame = frame._replace(ts_ns=max(0, frame.ts_ns + random.randint(-(10**11), 10**11)))
        out += [frame] * (2 if dice > 0.98 else 1)
        if dice > 0.94 and len(out) > 1:
            at = random.randrange(max(0, len(out) - 30), len(out))
            out[-1], out[at] = out[at], out[-1]
    return out


def damaged_conversation(seed: int) -> list[Frame]:
    """A conversation over TCP or UDP, in which batches of any messages follow a handshake."""
    random, source = Random(seed), SeededChoices(seed)
    terms = {name: random.random() < 0.3 for name in OPTIONS}
    conversation = Conversation(udp=random.random() < 0.3, connect=random.random() < 0.8)
    if random.random() < 0.8:
        conversation.open(sn=random.choice((8, 16, 32, 64)), batch_size=random.choice((100, 2048, 65535)), **terms)
    for _ in range(random.randint(1, 8)):
        side = random.randrange(2)
        inputs = dict(conversation.framings[side].inputs)
        data = encode(BATCH, ValueGenerator(source, clean=random.random() < 0.5).entry(BATCH, inputs), **inputs)
        if random.random() < 0.3:
            data = mutate(source, data)
        conversation.raw(side, data[:60000], pieces=random.choice((1, 1, 2, 5)))
        if random.random() < 0.1:
            conversation.lose(side, bytes(random.randrange(100)))
    return conversation.capture.frames


def datagrams(seed: int) -> list[Frame]:
    """Datagrams of any kind between few ports: multicast, scouting, other protocols."""
    random, source = Random(seed), SeededChoices(seed)
    capture = CaptureBuilder()
    MulticastGroup(capture).join(0)
    for _ in range(random.randint(1, 12)):
        host = random.choice(("10.0.0.2", "224.0.0.225", "224.0.0.224"))
        parties = Parties(("10.0.0.1", host), (50000 + random.randrange(3), random.choice((7446, 7447, 7450, 53))))
        unit = random.choice((BATCH, SCOUTING_DATAGRAM))
        inputs = {"prefix": 0, "compression": 0, "low_latency": 0} if unit is BATCH else {}
        data = encode(unit, ValueGenerator(source).entry(unit, inputs), **inputs)
        if random.random() < 0.4:
            data = mutate(source, data) if random.random() < 0.7 else random.randbytes(random.randrange(60))
        capture.record(udp_packet(parties, random.randrange(2), data[:60000]))
    return capture.frames


def noise(seed: int) -> list[Frame]:
    """A stream of bytes that mean nothing, or nearly nothing, perhaps behind a handshake."""
    random = Random(seed)
    conversation = Conversation(
        parties=Parties(ports=(40000, random.choice((7447, 9000)))), connect=random.random() < 0.5
    )
    if random.random() < 0.5:
        conversation.open(compression=random.random() < 0.3, low_latency=random.random() < 0.3)
    kinds = (
        random.randbytes(3000),
        bytes(3000),
        b"\x01\x00\x04" * 1000,
        b"\x06\x00\x00\x00" * 700,
        b"foo.bar:1|c\n" * 200,
    )
    for _ in range(random.randint(1, 3)):
        data = random.choice(kinds)
        for at in range(0, len(data), 1448):
            conversation.raw(0, data[at : at + 1448])
        conversation.frame(0, push())
    return conversation.capture.frames
