"""Changes inputs where it hurts: times at the end of what a number holds, lengths that lie, segments of one byte,
acknowledgements that come for others, holes and then time, ports that are used again. All from a seeded generator.
"""

import io
from collections.abc import Callable
from random import Random

from tests.fuzz.damage import damaged
from tests.generators import SeededChoices, mutate
from zdissect.capture import Capture, CaptureError
from zdissect.capture.pcapng_writer import PcapngWriter
from zdissect.records import Frame

MOST_FRAMES = 60
SECOND = 10**9
NUMBERS = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x10000,
    0x7FFFFFFF,
    0xFFFFFFFF,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
)
TIMES = (0, 1, (1 << 32) * SECOND, (1 << 63) - 2, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
Frames = list[Frame]
Edit = Callable[[Frames, Random], Frames]


def bytes_changed(data: bytes, random: Random) -> bytes:
    """Bytes with a few edits; now and then a number of 1 to 8 bytes takes the place of others."""
    if data and random.random() < 0.4:
        number, size = random.choice(NUMBERS), random.choice((1, 2, 4, 8))
        at = random.randrange(len(data))
        piece = (number & (1 << 8 * size) - 1).to_bytes(size, random.choice(("little", "big")))
        data = data[:at] + piece + data[at + size * random.randrange(2) :]
    return mutate(SeededChoices(random.getrandbits(32)), data)


def file_changed(data: bytes, other: bytes, random: Random) -> bytes:
    """A file with a word of a record's header changed, a record left out, repeated, or another's; or other edits."""
    records = _records(data)
    if len(records) < 3 or random.random() < 0.3:
        return bytes_changed(data[: random.randrange(len(data) + 1)] if random.random() < 0.1 else data, random)
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(records))
        match random.randrange(4):
            case 0 | 1:
                out = bytearray(records[at])
                place = random.choice((4, 8, 12, 16, 20, 24, 28, max(0, len(out) - 4)))
                out[place : place + 4] = (random.choice(NUMBERS) & 0xFFFFFFFF).to_bytes(4, "little")
                records[at] = bytes(out)
            case 2:
                records[at:at] = random.choice((records[at : at + 2], _records(other)[:2]))
            case 3 if len(records) > 1:
                del records[at]
    return b"".join(records)


def _records(data: bytes) -> list[bytes]:
    """The blocks of a pcapng file, the header and records of a pcap file; all else as one piece."""
    blocks = data[:4] == b"\x0a\x0d\x0d\x0a"
    out, at = [], 0
    if not blocks and data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1"):
        out, at = [data[:24]], 24
    elif not blocks:
        return [data]
    while at + 16 <= len(data):
        size = (
            int.from_bytes(data[at + 4 : at + 8], "little")
            if blocks
            else 16 + int.from_bytes(data[at + 8 : at + 12], "little")
        )
        size = max(size, 12)
        out.append(data[at : at + size])
        at += size
    return out


def text_changed(text: bytes, other: bytes, random: Random) -> bytes:
    """A text with words of another in it, repeated, left out, or nested."""
    words, others = (one.split(b" ") for one in (text, other))
    for _ in range(random.randint(1, 3)):
        at, size = random.randrange(len(words) + 1), random.randint(0, 3)
        match random.randrange(5):
            case 0:
                words[at:at] = others[random.randrange(len(others)) :][: size + 1]
            case 1:
                del words[at : at + size]
            case 2:
                words[at:at] = words[at : at + size] * random.choice((1, 2, 50))
            case 3:
                words = [b"(" * size, *words, b")" * size]
            case 4:
                return bytes_changed(b" ".join(words), random)
    return b" ".join(words)


def frames_of(data: bytes) -> Frames:
    """The frames of a capture, as far as it can be read."""
    out: Frames = []
    try:
        with Capture("-", "x", io.BufferedReader(io.BytesIO(data))) as capture:  # type: ignore[arg-type]
            for frame in capture:
                out.append(frame)
    except CaptureError:
        pass
    return out


def capture_of(frames: Frames) -> bytes:
    """A capture with these frames."""
    writer = PcapngWriter()
    return b"".join([writer.start(), *map(writer.frame, frames)])


def capture_changed(data: bytes, other: bytes, random: Random) -> bytes:
    """A capture after some edits of its frames, or of its bytes; some frames may be of another one."""
    if random.random() < 0.1:
        return bytes_changed(data, random)
    frames = frames_of(data)
    if len(frames) > MOST_FRAMES:
        at = random.randrange(len(frames) - MOST_FRAMES) if random.random() < 0.5 else 0
        frames = frames[at : at + MOST_FRAMES]
    if random.random() < 0.2:
        frames[len(frames) // 2 : len(frames) // 2] = frames_of(other)[:20]
    for edit in random.choices(EDITS, k=random.choice((1, 1, 1, 2, 4))) if frames else ():
        frames = edit(frames, random)[: 40 * MOST_FRAMES] or frames
    return capture_of([frame._replace(ts_ns=min(max(frame.ts_ns, 0), (1 << 64) - 1)) for frame in frames])


def _times(frames: Frames, random: Random) -> Frames:
    """One time, or all from one on, at the end of what a number holds."""
    at, ts_ns = random.randrange(len(frames)), random.choice(TIMES) + random.randint(-3, 3)
    stop = len(frames) if random.random() < 0.4 else at + 1
    return [*frames[:at], *(one._replace(ts_ns=ts_ns) for one in frames[at:stop]), *frames[stop:]]


def _lengths(frames: Frames, random: Random) -> Frames:
    """A number in a frame that is as large as it can be, or 0 or 1: of IP, TCP, a batch, a field."""
    at = random.randrange(len(frames))
    data = bytearray(frames[at].data)
    if data:
        number, size = random.choice(NUMBERS), random.choice((1, 2, 4))
        place = random.choice((16, 20, 38, 54, 55, 56, 57, 58, random.randrange(len(data)))) % len(data)
        data[place : place + size] = (number & (1 << 8 * size) - 1).to_bytes(size, "little")
    return [*frames[:at], frames[at]._replace(data=bytes(data)), *frames[at + 1 :]]


def _tcp(frame: Frame) -> tuple[int, int] | None:
    """Where TCP's header and its payload begin in Ethernet with IPv4; None if it isn't that."""
    data = frame.data
    if frame.link != 1 or len(data) < 54 or data[12:14] != b"\x08\x00" or data[23] != 6:
        return None
    tcp = 14 + (data[14] & 15) * 4
    return (tcp, tcp + (data[tcp + 12] >> 4) * 4) if tcp + 20 <= len(data) else None


def _put(frame: Frame, at: int, data: bytes) -> Frame:
    return frame._replace(data=frame.data[:at] + data + frame.data[at + len(data) :])


def _one_byte_segments(frames: Frames, random: Random) -> Frames:
    """Some segments cut into such of one byte."""
    out: Frames = []
    for frame in frames:
        places = _tcp(frame)
        if places is None or random.random() < 0.7 or not 1 < len(frame.data) - places[1] <= 300:
            out.append(frame)
            continue
        tcp, start = places
        seq = int.from_bytes(frame.data[tcp + 4 : tcp + 8])
        for number, byte in enumerate(frame.data[start:]):
            one = frame._replace(data=frame.data[:start] + bytes((byte,)), wire_len=start + 1)
            one = _put(one, 16, (start - 13).to_bytes(2))
            out.append(_put(one, tcp + 4, (seq + number & 0xFFFFFFFF).to_bytes(4)))
    return out


def _swapped_acknowledgements(frames: Frames, random: Random) -> Frames:
    """Acknowledgements of what hasn't been sent yet, or of the other connection."""
    places = [(index, found[0]) for index, frame in enumerate(frames) if (found := _tcp(frame))]
    out = [*frames]
    for _ in range(random.randint(1, 6) if len(places) > 1 else 0):
        (one, at), (other, place) = random.sample(places, 2)
        out[one] = _put(frames[one], at + 8, frames[other].data[place + 8 : place + 12])
        if random.random() < 0.2:
            out[one] = _put(out[one], at + 4 * random.randint(1, 2), random.choice(NUMBERS[:11]).to_bytes(4))
    return out


def _holes_then_ticks(frames: Frames, random: Random) -> Frames:
    """Frames are missing, and time passes, in which others come."""
    at, size = random.randrange(len(frames)), random.randint(1, 5)
    left = [*frames[:at], *frames[at + size :]] or frames
    pause = random.choice((SECOND, 11 * SECOND, 3600 * SECOND))
    late = [one._replace(ts_ns=one.ts_ns + pause * (1 + index)) for index, one in enumerate(left[at:])]
    return [*left[:at], *late, *(one._replace(ts_ns=one.ts_ns + 400 * pause) for one in left[-2:])]


def _ports_used_again(frames: Frames, random: Random) -> Frames:
    """The same connections once more, later, perhaps with other sequence numbers, or from their middle on."""
    pause, shift = random.choice((0, SECOND, 100 * SECOND)), random.choice((0, 1, 1 << 31, 0xFFFFFFF0))
    out = [*frames]
    for frame in frames[random.randrange(len(frames)) if random.random() < 0.5 else 0 :]:
        again, places = frame._replace(ts_ns=frame.ts_ns + pause), _tcp(frame)
        for at in (4, 8) if places is not None else ():
            place = places[0] + at
            number = int.from_bytes(again.data[place : place + 4])
            again = _put(again, place, (number + shift & 0xFFFFFFFF).to_bytes(4))
        out.append(again)
    return out


def _links(frames: Frames, random: Random) -> Frames:
    """Another link type, or bytes in front or behind."""
    link = random.choice((0, 1, 12, 101, 105, 108, 113, 127, 149, 192, 228, 229, 239, 253, 276, 0xFFFF))
    extra = random.randbytes(random.choice((0, 4, 8, 14)))
    return [one._replace(link=link, data=extra + one.data) if random.random() < 0.5 else one for one in frames]


def _noise(frames: Frames, random: Random) -> Frames:
    return damaged(frames, random)


def _payloads(frames: Frames, random: Random) -> Frames:
    """Bytes behind the headers changed, where they are as long as before."""
    at = random.randrange(len(frames))
    head = min(54, len(frames[at].data))
    data = bytearray(frames[at].data)
    for _ in range(random.randint(1, 5) if len(data) > head else 0):
        data[random.randrange(head, len(data))] = random.choice(
            (0, 1, 0x0A, 0x1B, 0x7F, 0x80, 0xFF, random.randrange(256))
        )
    return [*frames[:at], frames[at]._replace(data=bytes(data)), *frames[at + 1 :]]


EDITS: tuple[Edit, ...] = (
    _times, _lengths, _payloads, _payloads, _one_byte_segments, _swapped_acknowledgements, _holes_then_ticks,
    _ports_used_again, _links, _noise,
)  # fmt: skip
