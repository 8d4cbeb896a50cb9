"""The files that a stream has taken, in the order in which they came: offsets are positions in this list.

The list lies in a directory that the option `state` names, and only gets longer: a file is in it before Spark hears of
an offset beyond it. So Spark may ask for the same files again, however it was ended.
"""

import json
import os
import time
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, NamedTuple

from zdissect import __version__
from zdissect.capture import leftovers
from zdissect.export.families import ONE
from zdissect.export.inputs import InputFile
from zdissect.export.listed_inputs import list_inputs
from zdissect.growing.arrivals import QUIET_S, Arrival, FileThere, Settling, arrival
from zdissect.growing.checkpoint import Checkpoint, FollowedCapture
from zdissect.growing.family_changes import FamilyChange, Scene, changes
from zdissect.spark.source_options import SourceOptions

_LIST, _FORMAT = "list.json", 1
_MOST_BYTES = 256 << 20
"""Bytes after which what has come is left to the next batch."""
_OWNERS: dict[str, IO[str]] = {}
"""Directories that are this process's."""


class Entry(NamedTuple):
    """A file that was taken."""

    capture: int
    """Number of its capture."""
    arrival: Arrival
    path: str
    grown: bool
    """Whether it was taken before, and has grown."""

    @property
    def file(self) -> InputFile:
        """As an input."""
        return InputFile(self.arrival.name, self.path, self.arrival.signature.size)


class StreamList:
    """The list of a stream. Raises ValueError if it can't be gone on with."""

    def __init__(self, options: SourceOptions, state: str) -> None:
        if options.join == ONE:
            raise ValueError("join: a stream can't merge files; it may be auto or separate")
        self.options, self.folder = options, Path(state)
        self.settling = Settling(QUIET_S)
        self.looked = False
        self.id = token_hex(8)
        self.entries: list[Entry] = []
        self.over: set[int] = set()
        """Captures that nothing is added to any more."""
        self.take()
        self.load()

    def take(self) -> None:
        """Takes the directory for this process."""
        key = os.path.realpath(self.folder)
        if key in _OWNERS:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        owner = leftovers.lock(self.folder)
        if owner is None:
            raise ValueError(f"state: {self.folder} is in use by another stream; give each its own directory")
        _OWNERS[key] = owner

    def load(self) -> None:
        """Reads the list, or begins one."""
        path = self.folder / _LIST
        if not path.exists():
            self.save()
            return
        value = json.loads(path.read_text(encoding="utf-8"))
        job = {"path": self.options.path, "include": [*self.options.include], "join": self.options.join}
        if value.get("format") != _FORMAT or value["job"] != job:
            raise ValueError(f"state: {self.folder} belongs to another stream, of {value.get('job')}; give it its own")
        self.id, self.over = value["id"], {*value["over"]}
        self.entries = [Entry(number, Arrival.of(seen), name, grown) for number, seen, name, grown in value["entries"]]

    def save(self) -> None:
        """Writes the list, whole or not at all."""
        job = {"path": self.options.path, "include": [*self.options.include], "join": self.options.join}
        value: dict[str, Any] = {"format": _FORMAT, "version": __version__, "id": self.id, "job": job}
        value |= {"over": sorted(self.over), "entries": self.entries}
        new = self.folder / f"{_LIST}.new"
        with open(new, "w", encoding="utf-8") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self.folder / _LIST)

    def offset(self, position: int) -> dict[str, Any]:
        """An offset of this list."""
        return {"list": self.id, "position": position}

    def position(self, offset: dict[str, Any]) -> int:
        """The position that an offset names. Raises ValueError if it is one of another list."""
        position = int(offset["position"])
        if position and (offset["list"] != self.id or position > len(self.entries)):
            raise ValueError(
                f"state: {self.folder} isn't that of this checkpoint: both go together, and are kept together"
            )
        return position

    def look(self) -> int:
        """Takes what has come and settled; returns how many files there are then."""
        scene = self.scene()
        if not self.looked:  # a query that takes what is there and ends looks once
            self.looked = True
            time.sleep(QUIET_S)
            scene = self.scene()
        before, size = len(self.entries), 0
        for change in changes(scene):
            size += self.add(change, scene)
            if size >= _MOST_BYTES:
                break
        if len(self.entries) > before:
            self.save()
        return len(self.entries)

    def scene(self) -> Scene:
        """What is there now."""
        files = list_inputs(self.options.path, self.options.include)
        there, settled = self.settling.look(files, time.monotonic())
        return Scene(self.checkpoint(), there, settled, arrival, lambda capture: True, self.options.join)

    def checkpoint(self) -> Checkpoint:
        """The captures so far."""
        captures: dict[int, FollowedCapture] = {}
        for number, seen, _, grown in self.entries:
            capture = captures.setdefault(number, FollowedCapture(number, over=number in self.over))
            capture.groups = [*(capture.groups[:-1] if grown else capture.groups), [seen]]
        return Checkpoint({}, captures=[*captures.values()])

    def add(self, change: FamilyChange, scene: Scene) -> int:
        """Takes files; returns their bytes. Rows that Spark has can't be replaced: where a capture would be decoded
        anew, it ends, and the new files are one of their own."""
        known = scene.checkpoint.known()
        self.over |= {capture.number for capture in change.drops + change.ends}
        size = 0
        for addition in change.additions:
            number = (
                addition.capture.number
                if addition.capture
                else 1 + max((one.capture for one in self.entries), default=0)
            )
            for seen in (one for group in addition.groups for one in group):
                before = known.get(seen.name)
                if before is None or before[1].signature != seen.signature:
                    there: FileThere = scene.there[seen.name]
                    grown = addition.grown and seen == addition.groups[0][0]
                    self.entries.append(Entry(number, seen, there.file.path, grown))
                    size += seen.signature.size
        return size
