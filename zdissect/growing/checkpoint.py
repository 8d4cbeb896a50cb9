"""What is known between two commits: which files were taken, which captures they are, and what belongs to each."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from zdissect.export.conversion_settings import Settings
from zdissect.export.directory import Job
from zdissect.export.filesystems import everywhere
from zdissect.export.parquet import WriteError
from zdissect.export.tables import TABLES_VERSION
from zdissect.grammar.columns import SCHEMA_VERSION
from zdissect.growing.arrivals import Arrival

_FORMAT = 1
"""Version of the layout."""


class StateFile(NamedTuple):
    """The state of a decoder, in a file."""

    name: str
    sha256: str
    seal: str
    """Shows that it was written by this user, with this version: see `state_seal`."""


@dataclass(slots=True)
class FollowedCapture:
    """A capture that may grow."""

    number: int
    groups: list[list[Arrival]] = field(default_factory=list)
    """Its files in order; those of an inner list are merged frame by frame."""
    parts: list[str] = field(default_factory=list)
    """Parts that stay, below OUT."""
    tail: list[str] = field(default_factory=list)
    """Parts that hold if nothing more comes: they are replaced when it does."""
    state: StateFile | None = None
    over: bool = False
    """Whether nothing is added to it any more."""
    epoch: int = 0
    """When it was added to."""

    @property
    def names(self) -> list[list[str]]:
        """The names of its files."""
        return [[arrival.name for arrival in group] for group in self.groups]

    @property
    def arrivals(self) -> list[Arrival]:
        """All its files."""
        return [arrival for group in self.groups for arrival in group]

    @classmethod
    def of(cls, number: int, groups: list[Any], parts: list[str], *rest: Any) -> "FollowedCapture":
        """From JSON."""
        tail, state, over, epoch = rest
        arrivals = [[Arrival.of(values) for values in group] for group in groups]
        return cls(number, arrivals, parts, tail, StateFile(*state) if state else None, over, epoch)

    def values(self) -> list[Any]:
        """As JSON types."""
        return [self.number, self.groups, self.parts, self.tail, self.state, self.over, self.epoch]


@dataclass(slots=True)
class Checkpoint:
    """The state of a run that follows a directory; a copy is changed and then committed."""

    job: dict[str, Any]
    """What may not change: directory and options."""
    run: str = ""
    """The process that wrote it."""
    epoch: int = 0
    """Number of the commit."""
    numbers: int = 0
    """Captures so far, including those that were decoded anew."""
    captures: list[FollowedCapture] = field(default_factory=list)

    def known(self) -> dict[str, tuple[FollowedCapture, Arrival]]:
        """The files that were taken, by name, with their captures; of one that was replaced the last."""
        ordered = sorted(self.captures, key=lambda capture: (not capture.over, capture.number))
        return {arrival.name: (capture, arrival) for capture in ordered for arrival in capture.arrivals}

    def json(self, moves: list[list[str]], removes: list[str]) -> str:
        """As text, with what is to be done to the files of the tables."""
        captures = [capture.values() for capture in self.captures]
        value = {
            "format": _FORMAT, "job": self.job, "run": self.run, "epoch": self.epoch, "numbers": self.numbers,
            "captures": captures, "moves": moves, "removes": removes,
        }  # fmt: skip
        return json.dumps(value)

    def copy(self) -> "Checkpoint":
        """One that can be changed."""
        return load(self.json([], []))[0]


def load(text: str) -> tuple[Checkpoint, list[list[str]], list[str]]:
    """(checkpoint, moves, removals) from text. Raises WriteError if another version has written it, and ValueError,
    KeyError or TypeError if it is damaged."""
    value = json.loads(text)
    if value["format"] != _FORMAT:
        raise WriteError("it was written by another version of zdissect: use that one, or choose another OUT")
    captures = [FollowedCapture.of(*values) for values in value["captures"]]
    checkpoint = Checkpoint(value["job"], value["run"], value["epoch"], value["numbers"], captures)
    return checkpoint, value["moves"], value["removes"]


def described(job: Job) -> dict[str, Any]:
    """What must be the same when a run goes on, as JSON types."""
    settings: Settings = job.settings
    return {
        "directory": everywhere(job.directory),
        "tables": [TABLES_VERSION, SCHEMA_VERSION],
        "options": {
            "include": sorted(job.include), "join": job.join, "tcp_ports": sorted(settings.tcp_ports),
            "udp_ports": sorted(settings.udp_ports), "payload": settings.payload, "fields": settings.fields,
            "filter": settings.filter, "ros2": settings.ros2, "contents": settings.contents,
            "definitions": [list(one) for one in settings.definitions], "limits": asdict(settings.limits),
        },
    }  # fmt: skip


def refuse_another(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Raises WriteError if a run can't go on with what another one has begun."""
    if before == now:
        return
    if before.get("directory") != now["directory"]:
        what = f"follows {before.get('directory')}"
    elif before.get("tables") != now["tables"]:
        what = "has tables of another version of zdissect"
    else:
        old, new = before.get("options", {}), now["options"]
        what = f"was begun with other options ({', '.join(name for name in new if old.get(name) != new[name])})"
    raise WriteError(f"it {what}: go on with the same, or choose another OUT")
