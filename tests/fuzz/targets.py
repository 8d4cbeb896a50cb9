"""What is fuzzed: each target takes any bytes, and fails if something that must always hold doesn't."""

import io
import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from click.testing import CliRunner
from zdissect_cli.main import cli

from tests.engine.tapes import read
from tests.faults.commands import Call, calls
from tests.flow.websocket.streams import FRAMING, chunks
from tests.fuzz import corpus, mutators
from tests.fuzz.mutators import frames_of
from tests.fuzz.test_pipeline_fuzz import said, sound
from tests.in_blocks import in_blocks
from tests.vector.walking import prefixed
from tests.vector.walking import seen as walked
from tests.vectors.vectors import ENTRIES
from zdissect.capture import Capture, CaptureError
from zdissect.dissection import Dissection, Item
from zdissect.filters import Filter, FilterError
from zdissect.flow.link import Decoder
from zdissect.flow.stream_buffer import Batch, Skipped
from zdissect.flow.tcp import Streams
from zdissect.flow.websocket import WebSocketCutter
from zdissect.output.text import prose
from zdissect.paste import PasteError, parse_paste
from zdissect.pipeline import Options, Pipeline, dissect
from zdissect.records import Chunk, Frame, Gap, Segment
from zdissect.stats import Stats
from zdissect.stats.accounting import CLASSES
from zdissect.table import Table
from zdissect.vector.walk import Walker

Change = Callable[[bytes, bytes, Random], bytes]
CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal doesn't take as text."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is fuzzed."""

    check: Callable[[bytes], None]
    """Takes an input; an exception is a find."""
    seeds: Callable[[], tuple[bytes, ...]]
    change: Change
    """Makes an input of one, and of another of the same kind."""
    short: int
    """Inputs in a run of the tests."""


def interpreter(data: bytes) -> None:
    """Any bytes, as any unit: sound tapes."""
    entries = [*ENTRIES.values()]
    entry, inputs = entries[data[0] % len(entries)] if data else entries[0]
    read(entry, data[1:], **inputs)


def walker(data: bytes) -> None:
    """Batches on arrays: declined, or the interpreter's rows."""
    size = 1 + len(data) // 3
    walked(Walker(), [prefixed(data[at : at + size][:65535]) for at in range(0, len(data), size)])


def blocks(data: bytes) -> None:
    """Blocks of frames say what frame by frame is said."""
    frames = _numbered(frames_of(data))
    assert said(in_blocks(frames, 1 + len(data) % 9)) == said(dissect(frames))


def readers(data: bytes) -> None:
    """A file gives frames, or a reason; cut, it gives the first of them; nothing is larger than it was."""
    frames, packed = _frames_of_file(data)
    if packed:
        return
    assert sum(len(frame.data) for frame in frames) <= len(data)
    fewer, _ = _frames_of_file(data[: len(data) * 2 // 3])
    assert fewer == frames[: len(fewer)]


def _frames_of_file(data: bytes) -> tuple[list[Frame], bool]:
    frames: list[Frame] = []
    packed, why = False, "nothing is wrong"
    try:
        with Capture("-", "x", io.BufferedReader(io.BytesIO(data))) as capture:  # type: ignore[arg-type]
            packed = "+" in capture.format
            for frame in capture:
                frames.append(frame)
                if len(frames) > 5000:
                    break
    except CaptureError as problem:
        why = str(problem)
    assert why
    return frames, packed


def links(data: bytes) -> None:
    """A frame of any link type: what is found in it is inside it."""
    link, content = int.from_bytes(data[:2]), data[2:]
    decoder = Decoder()
    for number in range(2):
        found = decoder.feed(Frame("x", number + 1, number, link, len(content), content))
        if found is not None and found.offset >= 0:
            assert content[found.offset : found.offset + len(found.payload)] == found.payload
    decoder.close()


def tcp(data: bytes) -> None:
    """Streams: bytes are delivered once, in order, as they stand in their frames."""
    decoder, streams = Decoder(), Streams()
    ends: dict[tuple[int, int], int] = {}
    segments = (decoder.feed(frame) for frame in _numbered(frames_of(data)))
    items = [item for one in segments if isinstance(one, Segment) for item in streams.feed(one)]
    for item in [*items, *streams.close()]:
        if isinstance(item, Chunk | Gap):
            way = item.stream, item.direction
            size = len(item.data) if isinstance(item, Chunk) else item.size
            assert size > 0
            assert item.offset == ends.get(way, item.offset)
            ends[way] = item.offset + size
        if isinstance(item, Chunk) and item.frame_offset >= 0:
            assert item.frame.data[item.frame_offset : item.frame_offset + len(item.data)] == item.data


def websocket(data: bytes) -> None:
    """A stream gives the same in any pieces, unless its place was lost: where messages begin is then guessed from what
    has come. No byte is in two.
    """
    direction, middle, content = data[:1] in (b"\1", b"\3"), data[:1] in (b"\2", b"\3"), data[1:]
    whole = _cut(content, [], direction, middle)
    pieces = _cut(content, [1 + len(content) % 7] * len(content), direction, middle)
    assert whole.guessed or pieces.guessed or pieces == whole
    for cut in (whole, pieces):
        assert sum(map(len, cut.batches)) + cut.skipped <= len(content)


class _Cut(NamedTuple):
    """A stream as it was cut."""

    batches: list[bytes]
    skipped: int
    guessed: bool


def _cut(content: bytes, sizes: list[int], direction: int, middle: bool) -> _Cut:
    cutter = WebSocketCutter(FRAMING)
    cutter.lost = "in the middle" if middle else ""
    found: list[Batch | Skipped] = [one for item in chunks(content, sizes, direction) for one in cutter.feed(item)]
    found += cutter.close()
    skips = [one for one in found if isinstance(one, Skipped)]
    guessed = cutter.guessed or bool(cutter.lost) or any(one.code == "resynchronised" for one in skips)
    return _Cut([one.buffer.data for one in found if isinstance(one, Batch)], sum(one.size for one in skips), guessed)


def session(data: bytes) -> None:
    """Any capture: sound tapes and findings; every byte is in one class of the accounting."""
    frames = _numbered(frames_of(data))
    sound(frames)
    pipeline, stats = Pipeline(Options(history=True)), Stats()
    for frame in frames:
        stats.frame(frame)
        for item in pipeline.feed(frame):
            stats.feed(item)
    for item in pipeline.close():
        stats.feed(item)
    accounting = stats.finish(pipeline)["accounting"]
    assert min(accounting.values()) >= 0, accounting
    assert sum(accounting[name] for name in CLASSES) == accounting["captured"], accounting


def paste(data: bytes) -> None:
    """Any text: bytes, or an error that a terminal takes once it is escaped, as all are."""
    pieces, why = [], ""
    try:
        pieces = parse_paste(data.decode("utf-8", "surrogateescape"))
    except PasteError as problem:
        why = prose(str(problem))
    assert bool(pieces) != bool(why)
    assert all(piece.data for piece in pieces)
    assert not CONTROL.search(why.replace("\n", "")), why


@cache
def _selectable() -> tuple[list[Item], list[dict[str, Any]]]:
    items = [
        item for item in dissect(frames_of(corpus.captures()[4])) if isinstance(item, Dissection) and item.messages
    ]
    table = Table()
    return list(items[:20]), [row for item in items[:20] for row in table.rows(item)]


def filters(data: bytes) -> None:
    """Any text: an error with its place, or a filter that selects the same rows as dissections."""
    try:
        wanted = Filter(data.decode("utf-8", "replace"))
    except FilterError:
        return
    if wanted.looks_ahead:  # it needs a pass of its own
        return
    items, rows = _selectable()
    selected = [one for item in items for one in wanted.select(item)]
    if not wanted.needs_tape:
        assert [wanted.row(row) for row in rows] == selected


@cache
def _calls() -> list[Call]:
    return [call for call in calls() if call.reads and not str(call).startswith(("batch", "top"))]


def commands(data: bytes) -> None:
    """Any capture, by any command, in any form: an exit code, text that a terminal takes, JSON that parses."""
    call = _calls()[sum(data[-200:]) % len(_calls())]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.pcapng")
        path.write_bytes(data)
        args = call.args(Path(folder), path, path)
        done = CliRunner().invoke(cli, ["--no-config", *args], standalone_mode=False)
    if done.exception is not None and not hasattr(done.exception, "format_message"):
        raise AssertionError(f"{call}: {done.exception!r}") from done.exception
    said = done.stdout
    if "--raw" not in str(call):
        assert not CONTROL.search(said.replace("\n", "").replace("\t", "")), call
    if str(call).endswith(("--json", "-T json", "--sarif")) and said:
        json.loads(said)
    if str(call).endswith("jsonl"):
        for line in said.splitlines():
            json.loads(line)


def _numbered(frames: list[Frame]) -> list[Frame]:
    return [frame._replace(source="x", number=number) for number, frame in enumerate(frames, 1)]


def contents(data: bytes) -> None:
    """What ROS 2 says: payloads as any type, attachments, keys and tokens."""
    from zdissect.ros2.attachment import parse_attachment
    from zdissect.ros2.content import Contents
    from zdissect.ros2.rmw_keys import NO_HASH, ros_key
    from zdissect.ros2.tokens import parse_token

    decode = _contents() if isinstance(_contents(), Contents) else Contents()
    name = _TYPES[data[0] % len(_TYPES)] if data else _TYPES[0]
    json.dumps(decode.decode(data[1:], name, NO_HASH).value, allow_nan=False)
    parse_attachment(data[1:])
    text = data.decode("utf-8", "replace")
    ros_key(text)
    parse_token(text)


@cache
def _contents() -> Any:
    from zdissect.ros2.content import Contents

    return Contents()


_TYPES = (
    "std_msgs/msg/String", "sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/JointState", "tf2_msgs/msg/TFMessage",
    "rcl_interfaces/msg/ParameterEvent", "nav_msgs/msg/OccupancyGrid", "diagnostic_msgs/msg/DiagnosticArray",
)  # fmt: skip


def _of_bytes(data: bytes, other: bytes, random: Random) -> bytes:
    if random.random() < 0.2:
        data = data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]
    return mutators.bytes_changed(data, random)


@cache
def _payloads() -> tuple[bytes, ...]:
    """Payloads and attachments of the captures of ROS 2, and keys."""
    rows = [
        row
        for data in corpus.captures()[-9:]
        for item in dissect(frames_of(data))
        if isinstance(item, Dissection)
        for row in Table().rows(item)
    ]
    values = [row.get(name) for row in rows for name in ("payload", "attachment", "key_expr")]
    made = {one.encode() if isinstance(one, str) else bytes(one) for one in values if one}
    return tuple(bytes((number % 251,)) + one for number, one in enumerate(sorted(made)))


TARGETS = {
    "interpreter": Target(interpreter, corpus.messages, _of_bytes, 5000),
    "walker": Target(walker, corpus.messages, _of_bytes, 400),
    "blocks": Target(blocks, corpus.conversations, mutators.capture_changed, 60),
    "readers": Target(readers, corpus.files, mutators.file_changed, 2000),
    "links": Target(links, corpus.packets, _of_bytes, 3000),
    "tcp": Target(tcp, corpus.captures, mutators.capture_changed, 400),
    "websocket": Target(websocket, corpus.streams, _of_bytes, 500),
    "session": Target(session, corpus.captures, mutators.capture_changed, 150),
    "paste": Target(paste, corpus.texts, mutators.text_changed, 3000),
    "filters": Target(filters, corpus.filters, mutators.text_changed, 1500),
    "commands": Target(commands, corpus.captures, mutators.capture_changed, 150),
    "contents": Target(contents, _payloads, _of_bytes, 1500),
}
"""All targets by name."""


def inputs(target: Target, seed: int, count: int) -> "list[bytes]":
    """Inputs of a target, the same for the same seed."""
    seeds, random = target.seeds(), Random(seed)
    return [target.change(random.choice(seeds), random.choice(seeds), random) for _ in range(count)]
