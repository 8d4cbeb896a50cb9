"""`spark.readStream.format("zenoh")`: the messages of captures as they arrive, each exactly once.

A batch of the stream is some files of the list, one task for each capture. The task goes on from the state that the
one before has left in the directory of the option `state`, and writes its own under another name: however often Spark
repeats a batch, it starts from the same state.
"""

import hmac
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, cast
from uuid import uuid4

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import Decoding
from zdissect.export.inputs import Work
from zdissect.export.merging import Place, frames
from zdissect.export.tables import MESSAGES
from zdissect.growing.arrivals import FileThere, same_file, signature_of
from zdissect.growing.decoder_state import Sealing, StateLostError, packed, restored
from zdissect.spark.source_options import SourceOptions
from zdissect.spark.stream_list import Entry, StreamList

_SEAL = 64
"""Characters of a seal, at the beginning of a state's file."""
_STATES_KEPT = 64
"""Captures whose states are kept."""


class StreamPortion(NamedTuple):
    """What is new of a capture in a batch."""

    before: tuple[Entry, ...]
    entries: tuple[Entry, ...]
    state: str
    """Path of the state before; empty: there is none."""
    following: str
    """Path of the state after."""
    key: bytes
    """Seals states of this list; empty: none is read or written."""


class MessagesStream(DataSourceStreamReader):
    """The stream. Its list is on the driver only."""

    def __init__(self, options: SourceOptions, state: str) -> None:
        self.options, self.state = options, os.path.abspath(state)
        self._list: StreamList | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Workers only read."""
        return self.__dict__ | {"_list": None}

    @property
    def list(self) -> StreamList:
        """The list of files."""
        if self._list is None:
            self._list = StreamList(self.options, self.state)
        return self._list

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        return self.list.offset(0)

    def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]  # noqa: N802 (Spark's name; as before 4.2)
        return self.list.offset(self.list.look())

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        first, last = self.list.position(start), self.list.position(end)
        key = Sealing().key
        own = hmac.new(key, self.list.id.encode(), sha256).digest() if key else b""
        numbers = dict.fromkeys(entry.capture for entry in self.list.entries[first:last])
        return [InputPartition(self.portion(number, first, last, own)) for number in numbers]

    def portion(self, number: int, first: int, last: int, key: bytes) -> StreamPortion:
        """What is new of a capture between two positions."""
        places = [at for at, entry in enumerate(self.list.entries[:last]) if entry.capture == number]
        old = [at for at in places if at < first]
        before, entries = ([self.list.entries[at] for at in some] for some in (old, places[len(old) :]))
        entries = entries[:1] + [entry for entry in entries[1:] if not entry.grown]  # it was read as it is now
        state = self.path(number, old[-1]) if old else ""
        return StreamPortion(tuple(before), tuple(entries), state, self.path(number, places[-1]), key)

    def path(self, number: int, place: int) -> str:
        """The path of the state of a capture after an entry."""
        return os.path.join(self.state, f"state-{number:06d}-{place:06d}")

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        yield from read(cast(StreamPortion, partition.value), self.options.settings)

    def commit(self, end: dict[str, Any]) -> None:
        """Removes the states that no batch after this one begins with."""
        position = self.list.position(end)
        latest = {entry.capture: at for at, entry in enumerate(self.list.entries[:position])}
        kept = {self.path(number, at) for number, at in sorted(latest.items(), key=lambda one: -one[1])[:_STATES_KEPT]}
        for path in Path(self.state).glob("state-*"):
            place = int(path.name.split("-")[2].split(".")[0])
            if place < position and str(path) not in kept:
                with suppress(OSError):
                    path.unlink()


def read(portion: StreamPortion, settings: Settings) -> Iterator[pa.RecordBatch]:
    """The messages of a portion. Raises FileNotFoundError if a file isn't there as it was when it was taken."""
    for entry in portion.entries:
        signature = signature_of(entry.path)
        if signature is None or not same_file(entry.arrival, FileThere(entry.file, signature)):
            raise FileNotFoundError(
                f"{entry.path} has gone, or was replaced, since it was taken; its messages are missing"
            )
    decoding, place = begin(portion, settings)
    try:
        yield from _messages(decoding, portion.entries, place)
    except Exception as fault:  # one capture must not end the stream
        warnings.warn(f"{portion.entries[0].path}: a bug in zdissect, please report it: {fault!r}", stacklevel=1)
        yield from (batch for table, batch in decoding.left() if table == MESSAGES)
        return
    if portion.key:
        data = packed(decoding, place.mark)
        new = f"{portion.following}.{uuid4().hex}"
        with open(new, "wb") as file:
            file.write(_seal(data, portion.key) + data)
        os.replace(new, portion.following)


def begin(portion: StreamPortion, settings: Settings) -> tuple[Decoding, Place]:
    """The decoder after the files before; without their state they are decoded anew, and their rows left out."""
    grown = portion.entries[0].grown
    if not portion.before:
        return Decoding(settings), Place()
    try:
        decoding, mark = restored(_sealed(portion), settings)
        return decoding, Place(mark if grown else None)
    except (OSError, StateLostError):
        decoding = Decoding(settings)
    files = [entry for entry in portion.before if not entry.grown]
    try:
        for entry in files:
            if not os.path.exists(entry.path):
                return Decoding(settings), Place()
        place = Place()
        for _ in _messages(decoding, files[:-1] if grown else files, place):
            pass
    except Exception:
        return Decoding(settings), Place()
    return decoding, Place()


def _messages(decoding: Decoding, entries: Sequence[Entry], place: Place) -> Iterator[pa.RecordBatch]:
    """The messages of files, once each."""
    if entries:
        work = Work(tuple((entry.file,) for entry in entries))
        yield from (batch for table, batch in decoding.tables(frames(work, decoding.files, place)) if table == MESSAGES)
        yield from (batch for table, batch in decoding.left() if table == MESSAGES)


def _seal(data: bytes, key: bytes) -> bytes:
    """The seal of a state."""
    return Sealing.sealed(sha256(data).hexdigest(), key).encode()


def _sealed(portion: StreamPortion) -> bytes:
    """The state before, if its seal is good. Raises OSError and StateLostError."""
    data = Path(portion.state).read_bytes()
    seal, state = data[:_SEAL], data[_SEAL:]
    if not portion.key or not hmac.compare_digest(seal, _seal(state, portion.key)):
        raise StateLostError("its seal isn't good")
    return state
