"""Goes round: looks which files have come, has them decoded, and commits."""

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from zdissect.export.directory import Job
from zdissect.export.filesystems import below
from zdissect.export.inputs import InputFile, Work
from zdissect.export.listed_inputs import list_inputs
from zdissect.export.parquet import WriteError
from zdissect.export.work import Done
from zdissect.growing.arrivals import QUIET_S, Arrival, FileThere, Settling, arrival, signature_of
from zdissect.growing.capture_step import STATE, TAIL, CaptureStep, StepDone, take_step
from zdissect.growing.checkpoint import FollowedCapture, StateFile
from zdissect.growing.decoder_state import Sealing
from zdissect.growing.family_changes import Addition, FamilyChange, Scene, changes
from zdissect.growing.followed_tables import FollowedTables

STATES_KEPT = 64
"""Captures that keep the states of their decoders: those that were added to last. The others are decoded anew if
something is added to them."""
_EPOCH_BYTES = 64 << 20
"""Bytes after which it is time for a commit."""
_POLL_S = 0.5


class Epoch(NamedTuple):
    """What a commit has added."""

    done: Done
    """The files and their rows. Of a capture that isn't over, the rows that only hold for now are included."""
    seconds: float
    files: int
    """Files in the tables, all in all."""
    states: int
    """Bytes of the states of decoders that were written."""


Steps = Callable[[list[tuple[CaptureStep, str]]], Iterator[tuple[StepDone, str]]]
"""Takes steps, each with its directory; gives what they have done, and where, in order. Raises WriteError."""


def here(job: Job) -> Steps:
    """Takes steps in this process."""

    def take(steps: list[tuple[CaptureStep, str]]) -> Iterator[tuple[StepDone, str]]:
        for step, directory in steps:
            yield take_step(step, directory, job.settings), directory

    return take


@dataclass(slots=True)
class _Taken:
    """A change whose steps were taken."""

    change: FamilyChange
    done: list[tuple[Addition, StepDone, str]] = field(default_factory=list)


class Follower:
    """Follows a directory.

    Args:
        job: What to convert, and how.
        tables: The output, entered.
        steps: What takes steps.
        note: Is told what the user should know, in a line.
        quiet_s: How long a file must not have changed.
    """

    def __init__(
        self,
        job: Job,
        tables: FollowedTables,
        steps: Steps | None = None,
        note: Callable[[str], None] = lambda text: None,
        quiet_s: float = QUIET_S,
    ) -> None:
        self.job, self.tables, self.note = job, tables, note
        self.steps = steps or here(job)
        self.settling = Settling(quiet_s)
        self.sealing = Sealing()
        self.looked: dict[FileThere, Arrival] = {}
        if self.sealing.key is None:
            note(
                f"{self.sealing.folder} can't hold a key that only you can read: captures are decoded anew as they grow"
            )

    def run(self) -> Iterator[Epoch | None]:
        """Follows until it is left: commits as they are made; None when there is nothing to do for now."""
        while True:
            epoch = self.once()
            yield epoch
            if epoch is None:
                time.sleep(_POLL_S)

    def once(self) -> Epoch | None:
        """Takes what has come, and commits; None if nothing has. Raises WriteError."""
        began = time.monotonic()
        planned, size = [], 0
        for change in changes(self.scene()):
            planned.append(change)
            size += sum(_cut(one) for one in change.additions)
            if size >= _EPOCH_BYTES:
                break
        if not planned:
            return None
        try:
            tried = [*self.take(planned)]
        except WriteError as problem:
            cause = problem.__cause__
            raise (self.tables.failed(cause) if isinstance(cause, OSError) else problem) from problem
        taken = [one for one in tried if self.unchanged(one)]
        done, states = Done(), 0
        for one in taken:
            for note in one.change.notes:
                self.note(note)
            for _, step, _ in one.done:
                done.add(step.done)
                states += step.state_size
        if taken:
            self.commit(taken)
        self.tables.clear()
        if not taken and any(step.lost for one in tried for _, step, _ in one.done):
            return self.once()
        files = sum(len(capture.arrivals) for capture in self.tables.checkpoint.captures)
        return Epoch(done, time.monotonic() - began, files, states) if done.files else None

    def scene(self) -> Scene:
        """What is there now."""
        there, settled = self.settling.look(self.found(), time.monotonic())
        self.looked = {file: looked for file, looked in self.looked.items() if there.get(file.file.name) == file}
        return Scene(self.tables.checkpoint, there, settled, self.look, self.usable, self.job.join)

    def found(self) -> list[InputFile]:
        """The files in the directory; none while it can't be looked into."""
        try:
            return list_inputs(self.job.directory, self.job.include)
        except OSError:
            return []

    def look(self, present: FileThere) -> Arrival:
        """Looks at a file, once for each of its versions."""
        if present not in self.looked:
            self.looked[present] = arrival(present)
        return self.looked[present]

    def usable(self, capture: FollowedCapture) -> bool:
        """Whether the state of a capture can be used."""
        state = capture.state
        return state is not None and self.sealing.good(state, self.tables.state(state.name))

    def take(self, planned: list[FamilyChange]) -> Iterator[_Taken]:
        """Takes the steps of changes."""
        additions = [(change, one) for change in planned for one in change.additions]
        ended = self.steps([(self.step(one), self.tables.attempt()) for _, one in additions])
        for change in planned:
            taken = _Taken(change)
            for one in change.additions:
                done, directory = next(ended)
                taken.done.append((one, done, directory))
            yield taken

    def step(self, addition: Addition) -> CaptureStep:
        """The step that adds files to a capture."""
        state = None if addition.capture is None else addition.capture.state
        known = None if state is None else (str(self.tables.state(state.name)), state.sha256)
        return CaptureStep(addition.work, known, addition.grown)

    def unchanged(self, taken: _Taken) -> bool:
        """Whether the files are still what they were before they were read, and all states could be used."""
        good = True
        for addition, done, _ in taken.done:
            if done.lost and addition.capture is not None:
                addition.capture.state = None  # it is decoded anew, as soon as it is looked at again
            arrivals = [one for group in addition.groups for one in group]
            now = [signature_of(file.path) for file in addition.work.inputs]
            good = good and not done.lost and now == [one.signature for one in arrivals]
        return good

    def commit(self, taken: list[_Taken]) -> None:
        """Makes changes count."""
        checkpoint = self.tables.checkpoint.copy()
        captures = {capture.number: capture for capture in checkpoint.captures}
        moves: list[list[str]] = []
        removes: list[str] = []
        for change, done in ((one.change, one.done) for one in taken):
            for capture in change.drops:
                removes += [*capture.parts, *capture.tail]
                del captures[capture.number]
            for capture in change.ends:
                captures[capture.number].over = True
            for addition, step, directory in done:
                if addition.capture is not None and step.died:
                    captures[addition.capture.number].over = True
                if addition.capture is None or step.died:
                    checkpoint.numbers += 1
                    capture = captures[checkpoint.numbers] = FollowedCapture(checkpoint.numbers, over=step.died)
                else:
                    capture = captures[addition.capture.number]
                self.add(capture, addition, step, directory, moves, removes)
        checkpoint.captures = [*captures.values()]
        _forget_old(checkpoint.captures)
        self.tables.commit(checkpoint, moves, [name for name in removes if name not in {to for _, to in moves}])
        self.tables.forget_states()

    def add(
        self, capture: FollowedCapture, addition: Addition, step: StepDone, directory: str,
        moves: list[list[str]], removes: list[str],
    ) -> None:  # fmt: skip
        """Adds to a capture what a step has done."""
        capture.epoch = self.tables.checkpoint.epoch + 1
        capture.groups = (capture.groups[:-1] if addition.grown else capture.groups) + addition.groups
        label = f"{capture.epoch:06d}-{capture.number:06d}"
        removes += capture.tail
        added = {part.name: f"{part.table}/part-{label}.parquet" for part in step.done.parts}
        capture.parts += added.values()
        moves += [[below(directory, name), to] for name, to in added.items()]
        capture.tail = [f"{part.table}/tail-{capture.number:06d}.parquet" for part in step.tail]
        for part, to in zip(step.tail, capture.tail, strict=True):
            moves.append([below(below(directory, TAIL), part.name), to])
        capture.state = None
        if step.state is not None:
            name = f"{label}-{step.state[:16]}"
            capture.state = StateFile(name, step.state, self.sealing.seal(step.state))
            moves.append([below(directory, STATE), f"{self.tables.folder.name}/states/{name}"])


def _forget_old(captures: list[FollowedCapture]) -> None:
    """Lets go of the states of all captures but those that were added to last."""
    kept = sorted((one for one in captures if one.state and not one.over), key=lambda one: (one.epoch, one.number))
    kept = kept[-STATES_KEPT:]
    for capture in captures:
        if capture.state is not None and capture not in kept:
            capture.state = None


def _cut(addition: Addition) -> int:
    """Leaves the later of many files to the next commit; returns the bytes of the others."""
    sizes = [sum(file.size for file in group) for group in addition.work.merges]
    taken = bisect_left([*accumulate(sizes)], _EPOCH_BYTES) + 1
    addition.work = Work(addition.work.merges[:taken])
    addition.groups = addition.groups[:taken]
    return sum(sizes[:taken])
