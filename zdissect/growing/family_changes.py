"""What new files mean for the captures of their families: which go on, which must be decoded anew.

It is asked of the rule of `zdissect batch` (`export.families`) what captures all files so far are. Where that only
lengthens a capture, it goes on from the state of its decoder. Where it doesn't (a file that is older than the last one,
or that overlaps with it in time; a state that can't be used), captures are decoded anew from their first file.
What would have to be read again but has gone stays as it is, and the new files are a capture of their own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from zdissect.export import families
from zdissect.export.families import ONE, SEPARATE
from zdissect.export.inputs import Work
from zdissect.growing.arrivals import Arrival, FileThere, same_file
from zdissect.growing.checkpoint import Checkpoint, FollowedCapture

Groups = list[list[str]]
"""The names of the files of a capture; those of an inner list are merged frame by frame."""


@dataclass(slots=True)
class Addition:
    """Files that are added to a capture."""

    capture: FollowedCapture | None
    """None: it is new."""
    groups: list[list[Arrival]]
    work: Work
    grown: bool = False
    """Whether the first of them is the last file of the capture, which has grown."""


@dataclass(slots=True)
class FamilyChange:
    """What new files change: all of it, or nothing."""

    drops: list[FollowedCapture] = field(default_factory=list)
    """Captures that are decoded anew, in another composition or from their start."""
    ends: list[FollowedCapture] = field(default_factory=list)
    """Captures that nothing is added to any more."""
    additions: list[Addition] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What the user should know."""


@dataclass(slots=True)
class Scene:
    """What is known when changes are planned."""

    checkpoint: Checkpoint
    there: dict[str, FileThere]
    """The files that are there, by name."""
    settled: set[str]
    look: Callable[[FileThere], Arrival]
    usable: Callable[[FollowedCapture], bool]
    """Whether the state of a capture can be used."""
    join: str

    def family(self, name: str) -> str:
        """What files have in common that may be one capture."""
        return "" if self.join == ONE else name if self.join == SEPARATE else families.family(name)[0]


def changes(scene: Scene) -> Iterator[FamilyChange]:
    """What is to be done, family by family."""
    known = scene.checkpoint.known()
    new: dict[str, list[FileThere]] = {}
    for name in sorted(scene.settled):
        present = scene.there[name]
        if name not in known or known[name][1].signature != present.signature:
            new.setdefault(scene.family(name), []).append(present)
    live: dict[str, list[FollowedCapture]] = {}
    for capture in scene.checkpoint.captures if new else ():
        if not capture.over:
            live.setdefault(scene.family(capture.groups[0][0].name), []).append(capture)
    for family, files in new.items():
        change = _Family(scene, live.get(family, []), files).change()
        if change is not None:
            yield change


class _Family:
    """One family, and the files of it that are new or have changed."""

    def __init__(self, scene: Scene, live: list[FollowedCapture], new: list[FileThere]) -> None:
        self.scene = scene
        self.out = FamilyChange()
        self.members: dict[str, Arrival] = {}
        self.fresh: set[str] = set()
        """Files that weren't read before."""
        self.grown: set[str] = set()
        owners = {arrival.name: (capture, arrival) for capture in live for arrival in capture.arrivals}
        for present in new:
            name = present.file.name
            if name in owners and owners[name][0] not in self.out.ends and not same_file(owners[name][1], present):
                self.end(owners[name][0], f"{name} holds something else now; it is read as a new capture")
        self.live = [capture for capture in live if capture not in self.out.ends]
        for capture in self.live:
            self.members |= {arrival.name: arrival for arrival in capture.arrivals}
        for present in new:
            name, before = present.file.name, self.members.get(present.file.name)
            if before is not None and before.signature.size == present.signature.size:
                self.members[name] = before._replace(signature=present.signature)  # touched, or copied anew
                continue
            (self.fresh if before is None else self.grown).add(name)
            self.members[name] = scene.look(present)

    def end(self, capture: FollowedCapture, why: str) -> None:
        """Leaves a capture as it is."""
        self.out.ends.append(capture)
        self.out.notes.append(why)

    def change(self) -> FamilyChange | None:
        """What is to be done; None if nothing, or if files that are needed are being written to."""
        if not self.fresh and not self.grown:
            return self.out if self.out.ends else None
        self.add(self.live)
        needed = {name for one in self.out.additions for group in one.groups for name, *_ in group}
        gone = sorted(name for name in needed if name not in self.scene.there)
        if gone:
            for capture in self.live:
                self.end(capture, f"{gone[0]} has gone and can't be read again: what follows is a new capture")
            self.live, self.out.drops, self.out.additions = [], [], []
            self.members = {name: self.members[name] for name in self.fresh | self.grown}
            self.add([])
        elif any(self.scene.there[name].signature != self.members[name].signature for name in needed):
            return None
        return self.out

    def add(self, live: list[FollowedCapture]) -> None:
        """Compares the captures that there are with those that there should be."""
        kept = []
        planned = families.plan(self.members, lambda name: self.members[name].time_range, self.scene.join)
        for groups in planned:
            capture = next((one for one in live if one.names == groups[: len(one.groups)]), None)
            if capture is not None and self.goes_on(capture, groups):
                kept.append(capture)
            else:
                self.out.additions.append(self.addition(None, groups))
        self.out.drops = [capture for capture in live if capture not in kept]

    def goes_on(self, capture: FollowedCapture, groups: Groups) -> bool:
        """Adds to a capture what is new of it, if that can be decoded from the state of its decoder."""
        rest = groups[len(capture.groups) :]
        grown = self.grown & {name for group in capture.names for name in group}
        if not rest and not grown:
            return True
        if not self.scene.usable(capture) or (grown and capture.names[-1] != [*grown]):
            return False
        first = [[*grown]] if grown else []
        self.out.additions.append(self.addition(capture, first + rest, bool(grown)))
        return True

    def addition(self, capture: FollowedCapture | None, groups: Groups, grown: bool = False) -> Addition:
        """Files to add to a capture."""
        there = self.scene.there
        arrivals = [[self.members[name] for name in group] for group in groups]
        files = tuple(tuple(there[name].file for name in group if name in there) for group in groups)
        return Addition(capture, arrivals, Work(files), grown)
