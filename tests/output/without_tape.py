"""Batches that are read without a tape, and captures of them."""

from collections.abc import Iterator
from pathlib import Path

from tests.families import family_member
from tests.generators import SeededChoices
from zdissect.capture import open_capture
from zdissect.dissection import Dissection
from zdissect.engine.compiler import CompiledReader
from zdissect.engine.encoder import encode
from zdissect.engine.lazy_messages import lazy_messages
from zdissect.engine.tape import Tape
from zdissect.grammar.network import PUSH
from zdissect.grammar.transport import FRAME
from zdissect.pipeline import Options, dissect

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.pcap*"))


def dissections(path: Path, rows: bool) -> Iterator[Dissection]:
    with open_capture(str(path)) as capture:
        yield from (item for item in dissect(capture, Options(rows=rows)) if isinstance(item, Dissection))


def batches(seed: int, prefix: int) -> Iterator[bytes]:
    """Batches of families: FRAMEs with PUSHes that differ in what changes from message to message."""
    source = SeededChoices(seed)
    for turn in range(200):
        members = [family_member(PUSH, seed * 100 + turn % 20 + place, source) for place in range(turn % 4)]
        frame = family_member(FRAME, turn % 5, source) | {"messages": members}
        data = b"".join(encode(FRAME, frame) for _ in range(1 + turn % 2))
        yield len(data).to_bytes(prefix, "little") + data if prefix else data


def without_tape(reader: CompiledReader, data: bytes, prefix: int) -> tuple[Tape, list] | None:
    cells = reader.batch(data, prefix)
    return None if cells is None else lazy_messages(data, prefix, cells)
