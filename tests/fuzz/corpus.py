"""What fuzzing starts with: samples, vectors, filters and pastes of the tests and docs, and what was found before."""

import gzip
import re
from functools import cache
from pathlib import Path

from tests.captures.expectations import SAMPLES
from tests.conversation import Conversation
from tests.flow.websocket.streams import HEADS, batch, side
from tests.fuzz.mutators import MOST_FRAMES, capture_of, frames_of
from tests.messages import d_keyexpr, declare, push, put
from tests.random_traffic import random_conversation
from tests.vectors import vectors

HERE = Path(__file__).parent
FINDS = HERE / "finds"
ROOT = HERE.parents[1]


@cache
def files() -> tuple[bytes, ...]:
    """The samples as they are, and packed."""
    paths = [*sorted(SAMPLES.glob("*.pcap*")), *sorted((ROOT / "samples-ros2").glob("*.pcap"))]
    data = [path.read_bytes() for path in paths]
    return (*(one for one in data if len(one) < 200_000), *(gzip.compress(one[:20_000]) for one in data[:3]))


SPELLS = (
    b"a/\x1b[31mred",
    b"a/\x1b]52;c;ZXZpbA==\x07", b"a/\xc2\x9b31m", b"a/\xe2\x80\xaeright", b"a/\xff\xfe", b"a/\xed\xa0\x80",
    b"a/line\nline\r", b"=1+1,\"x\"\t", b"<b>|`*_#&amp;", b"a/{0}%s", b"\x00", b"a/" + b"x/" * 200, b"a/**/$*b",
)  # fmt: skip
"""Texts that would do something to a terminal, a table or a page if they were written as they are."""


@cache
def spells() -> bytes:
    """A conversation with such keys, payloads, schemas and parameters."""
    conversation = Conversation().open()
    for number, text in enumerate(SPELLS):
        name = text.decode("utf-8", "surrogateescape")
        encoding = {"id": number % 53, "S": 1, "schema": text}
        conversation.frame(0, push(name, body=put(text, encoding=encoding, E=1)))
        conversation.frame(0, declare(d_keyexpr(number + 1, name)), push(number + 1, body=put(text)))
    return capture_of(conversation.capture.frames)


@cache
def captures() -> tuple[bytes, ...]:
    """The samples, at most so many frames of each as are changed at once; and one with texts that do something."""
    return (spells(), *_samples())


def _samples() -> tuple[bytes, ...]:
    return tuple(capture_of(frames[:MOST_FRAMES]) for data in files() if (frames := frames_of(data)))


@cache
def conversations() -> tuple[bytes, ...]:
    """Conversations that blocks read on arrays, and the samples."""
    usual = (random_conversation(seed, turns=40).capture.frames for seed in range(8))
    return (*map(capture_of, usual), *captures()[:6])


@cache
def packets() -> tuple[bytes, ...]:
    """Frames with the number of their link type in front."""
    found = {frame.link.to_bytes(2) + frame.data[:1600] for data in files() for frame in frames_of(data)[::7]}
    return tuple(sorted(found))


@cache
def messages() -> tuple[bytes, ...]:
    """The bytes of all vectors, with a byte in front that says what they are read as."""
    return tuple(bytes((number % 256,)) + one.data for number, one in enumerate(vectors.load()))


@cache
def streams() -> tuple[bytes, ...]:
    """WebSocket streams of both directions, with a byte in front that says which."""
    out = []
    for direction in (0, 1):
        sender = side(direction)
        frames = b"".join(bytes(sender.send_data(batch(size))) for size in (4, 100, 126, 3))
        out += [bytes((direction,)) + HEADS[direction] + frames, bytes((2 + direction,)) + frames]
    return tuple(out)


@cache
def texts() -> tuple[bytes, ...]:
    """Pastes: lines of the tests, and what stands in the docs."""
    out = [
        b"1d 00 61",
        b"0000  1d 00 61",
        b"[38, 0, 66]",
        b'b"\\x1d\\x00"',
        b"base64:HQBh",
        b"<<61,0,3>>",
        b"0000000 035 000 141",
    ]
    for path in sorted((ROOT / "tests" / "paste").glob("*.py")):
        found = re.findall(r'"""(.*?)"""|"([^"\n]{8,})"', path.read_text(encoding="utf-8"), re.DOTALL)
        out += [(one or other).encode()[:2000] for one, other in found]
    return tuple(out)


@cache
def filters() -> tuple[bytes, ...]:
    """The filters in the docs and the tests of the language."""
    out = [b"sn", b'key_expr == "a/**" and sn > 3', b"zenoh.push.scope in {1, 2..5}", b'not payload matches "a.*b"']
    text = (ROOT / "docs" / "filters.md").read_text(encoding="utf-8")
    out += [one.encode() for one in re.findall(r"`([^`\n]{3,200})`", text)]
    return tuple(out)


def found(target: str) -> tuple[bytes, ...]:
    """What was found with a target before: must never fail again."""
    return tuple(path.read_bytes() for path in sorted((FINDS / target).glob("*")))
