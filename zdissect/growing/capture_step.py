"""The work of one step: what is new of a capture to files, in this process or in one of Spark's workers."""

import gc
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from zdissect.export.block_tables import TableBatch
from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import Decoding
from zdissect.export.filesystems import below
from zdissect.export.inputs import Work
from zdissect.export.merging import Place, frames
from zdissect.export.parquet import Parts, TableFile, WriteError, unwritable
from zdissect.export.work import Done, write_batches
from zdissect.growing.decoder_state import StateLostError, checksum, packed, restored
from zdissect.stats.accounting import Accounting

TAIL, STATE = "tail", "state"
"""In the directory of a step: the parts that hold until more comes, and the state of the decoder before them."""


class CaptureStep(NamedTuple):
    """What is new of a capture."""

    work: Work
    """The files to read."""
    state: tuple[str, str] | None = None
    """Path and checksum of the state after the files before; None: there are none."""
    grown: bool = False
    """Whether the first file was read before, and has grown."""

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return self.work.size


@dataclass(slots=True)
class StepDone:
    """What a step has written."""

    done: Done = field(default_factory=Done)
    """What became of the files of the step: those of its parts that stay are in `done.parts`."""
    tail: list[TableFile] = field(default_factory=list)
    state: str | None = None
    """The checksum of the state; None if nothing can be added to the capture, because of a bug."""
    state_size: int = 0
    lost: bool = False
    """Whether nothing was done, because the state before couldn't be used."""
    died: bool = False
    """Whether all that tried it died: its files have failed, and nothing can be added to their capture."""

    def json(self) -> str:
        """As text."""
        return json.dumps([self.done.json(), self.tail, self.state, self.state_size, self.lost])

    @classmethod
    def load(cls, text: str) -> "StepDone":
        """From text."""
        done, tail, state, size, lost = json.loads(text)
        return cls(Done.load(done), [TableFile(*values) for values in tail], state, size, lost)


def take_step(step: CaptureStep, directory: str, settings: Settings) -> StepDone:
    """Decodes what is new of a capture, and writes it into a new directory. Raises WriteError."""
    try:
        decoding, place = _begin(step, settings)
    except StateLostError:
        return StepDone(lost=True)
    out = StepDone()
    with _uncollected(), Parts(directory) as parts, Parts(below(directory, TAIL)) as tail:
        try:
            write_batches(decoding.tables(frames(step.work, decoding.files, place)), parts)
            write_batches(decoding.left(), parts)
            _keep(packed(decoding, place.mark), directory, out)
            rest: Iterable[TableBatch] = decoding.close()
        except WriteError:
            raise
        except Exception as fault:  # one capture must not keep the others from being converted
            rest = decoding.saved(fault)
        write_batches(rest, tail)
    _tell(decoding, step, parts, tail, out)
    return out


def _keep(data: bytes, directory: str, out: StepDone) -> None:
    """Writes the state. Raises WriteError."""
    path = below(directory, STATE)
    try:
        with open(path, "wb") as file:
            file.write(data)
    except OSError as error:
        raise unwritable(path, error) from error
    out.state, out.state_size = checksum(data), len(data)


def _tell(decoding: Decoding, step: CaptureStep, parts: Parts, tail: Parts, out: StepDone) -> None:
    """Enters what a step has done."""
    read = {file.name for file in step.work.inputs}
    out.tail, out.done.parts, out.done.codes = tail.written(), parts.written(), decoding.codes
    out.done.rows.update(parts.rows)
    out.done.rows.update(tail.rows)
    out.done.files = [file_stats for file_stats in decoding.files.values() if file_stats.file in read]
    for file_stats in out.done.files:
        file_stats.accounting = Accounting()  # it refers to flows


def _begin(step: CaptureStep, settings: Settings) -> tuple[Decoding, Place]:
    """The decoder as the step before left it, and where it goes on in a file that has grown. Raises StateLostError."""
    if step.state is None:
        return Decoding(settings), Place()
    path, digest = step.state
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as problem:
        raise StateLostError(str(problem)) from problem
    if checksum(data) != digest:
        raise StateLostError("it has changed")
    decoding, mark = restored(data, settings)
    if step.grown and mark is None:
        raise StateLostError("its last file can only be read as a whole")
    return decoding, Place(mark if step.grown else None)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Collects garbage between batches and at the end: most of what decoding makes isn't in cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.collect()
        if enabled:
            gc.enable()
