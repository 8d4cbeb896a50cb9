"""Which files form one capture: files of tools that rotate their output, recognised by names and times. Pure.

- tcpdump -C, -W: `NAME.pcap`, `NAME.pcap1`, `NAME.pcap2`..., or `NAME.pcap00`, `NAME.pcap01`...
- tcpdump -G: a date and time somewhere in the name, `NAME-20260102-030405.pcap`, `NAME_2026-01-02_03:04:05.pcap`
- dumpcap -b, tshark -b, editcap -c or -i: `NAME_00001_20260102030405.pcap`
- `NAME.part0.pcap`, `NAME.part1.pcap`...

Each may have been packed since: `NAME.pcap3.gz`, `NAME.pcap3.zst`.

Files of one family that follow each other in time are one capture. Those that overlap in time are separate
observations, perhaps of the same session, and are never mixed.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

AUTO, ONE, SEPARATE = "auto", "one", "separate"
"""AUTO: files of a family that follow each other are one capture; ONE: all files are; SEPARATE: none are."""

_ENDING = r"(?P<ending>\.(?:pcapng|pcap|cap|dmp|ntar))"
_PACKED = r"(?:\.(?:gz|zstd?|lz4|xz))?"
NAMED = re.compile(rf".*{_ENDING}\d*{_PACKED}", re.IGNORECASE | re.DOTALL)
"""The name of a capture."""

_FORMS = (
    re.compile(rf"(?P<stem>.+)_(?P<number>\d{{5,}})_\d{{14}}{_ENDING}"),
    re.compile(rf"(?P<stem>.+)\.part(?P<number>\d+){_ENDING}"),
    re.compile(
        r"(?P<stem>.*?)(?<!\d)(?P<number>(?:19|20)\d\d([-_.]?)(?:0[1-9]|1[0-2])\3(?:0[1-9]|[12]\d|3[01])"
        rf"[-_T.]?(?:[01]\d|2[0-3])(?:[-_:.h]?[0-5]\d(?:[-_:.m]?[0-6]\d)?)?)(?!\d)(?P<rest>.*?){_ENDING}(?P<more>\d*)"
    ),
    re.compile(rf"(?P<stem>.+){_ENDING}(?P<number>\d*)"),
)

TOLERANCE_NS = 10**9
"""Frames of a capture aren't quite in order: an overlap of up to a twentieth of a file, and of this, is ignored."""


class TimeRange(NamedTuple):
    """Times of the first and the last frame of a file."""

    first_ns: int
    last_ns: int


class FamilyMember(NamedTuple):
    """A file that may be a part of a capture."""

    name: str
    """Path relative to the directory, with /."""
    time_range: TimeRange | None
    """None: it has no frames, or can't be read."""


def family(name: str) -> tuple[str, tuple[int, ...]]:
    """(name of the family, place in it) of a file. A family of one is a capture of its own."""
    folder, slash, base = name.rpartition("/")
    for form in _FORMS:
        match = form.fullmatch(re.sub(rf"{_PACKED}$", "", base))
        if match is not None:
            groups = match.groupdict()
            order = tuple(
                int(digits) for digits in re.findall(r"\d+", f"{groups['number']} {groups.get('more') or ''}")
            )
            stem = f"{groups['stem']}*{groups.get('rest') or ''}{groups['ending']}"
            return f"{folder}{slash}{_FORMS.index(form)}:{stem}", order
    return name, ()


def families(names: Iterable[str]) -> list[list[str]]:
    """The names by family, each in the order of their places; families in the order of their first names."""
    out: dict[str, list[tuple[tuple[int, ...], str]]] = {}
    for name in sorted(names):
        key, order = family(name)
        out.setdefault(key, []).append((order, name))
    return [[name for _, name in sorted(members)] for members in out.values()]


def plan(
    names: Iterable[str], time_range: Callable[[str], TimeRange | None], mode: str = AUTO
) -> list[list[list[str]]]:
    """The files of each capture, in order; those of an inner list overlap in time and are merged frame by frame.

    Args:
        names: Paths relative to the directory, with /.
        time_range: Gives the times of a file: asked only where it matters, as it takes time. None: it has no frames.
        mode: AUTO, ONE or SEPARATE.
    """
    if mode == SEPARATE:
        return [[[name]] for name in sorted(names)]
    grouped = families(names)
    if mode == ONE:
        parts = [FamilyMember(name, time_range(name)) for members in grouped for name in members]
        return [overlapping(parts)] if parts else []
    out = []
    for members in grouped:
        parts = [FamilyMember(name, time_range(name) if len(members) > 1 else None) for name in members]
        out += [[[name] for name in capture] for capture in captures(parts)]
    return out


def captures(parts: Sequence[FamilyMember]) -> list[list[str]]:
    """The captures that the files of a family make up, each with its files in order."""
    out = [[part.name] for part in parts if part.time_range is None]
    known = [
        (part.time_range, position, part.name) for position, part in enumerate(parts) if part.time_range is not None
    ]
    clusters = _clusters(sorted(known))
    chain: list[str] = []
    for cluster in clusters:
        if len(cluster) == 1:
            chain.append(cluster[0])
        else:
            out += [chain] if chain else []
            out += [[name] for name in cluster]
            chain = []
    out += [chain] if chain else []
    return sorted(out)


def overlapping(parts: Sequence[FamilyMember]) -> list[list[str]]:
    """The files in order of time; those that overlap are together: `--one-capture` merges them frame by frame."""
    known = [
        (part.time_range, position, part.name) for position, part in enumerate(parts) if part.time_range is not None
    ]
    return [[part.name] for part in parts if part.time_range is None] + _clusters(sorted(known))


def _clusters(known: list[tuple[TimeRange, int, str]]) -> list[list[str]]:
    """Names, grouped by overlapping time ranges."""
    out: list[list[str]] = []
    end: TimeRange | None = None
    for time_range, _, name in known:
        if end is not None and _overlap(end, time_range):
            out[-1].append(name)
            end = TimeRange(end.first_ns, max(end.last_ns, time_range.last_ns))
        else:
            out.append([name])
            end = time_range
    return out


def _overlap(before: TimeRange, after: TimeRange) -> bool:
    """Whether the later file begins before the other has ended, by more than frames may be out of order."""
    shorter = min(before.last_ns - before.first_ns, after.last_ns - after.first_ns)
    tolerance = min(max(shorter // 20, 0), TOLERANCE_NS)
    return before.last_ns - after.first_ns > tolerance
