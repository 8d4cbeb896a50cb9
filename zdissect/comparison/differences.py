"""The differences of two captures: sessions that belong together, in them messages that do, in these the fields.

Sessions belong together by the roles of both ends, in the order in which they began. Messages belong together by side,
kind and key, in their order: declarations may come in any order, and differ only in that. A report has:

- `same`: whether there is no difference;
- `sessions`: `a` and `b` (their numbers; 0 is scouting), `title` of both, `differences`, and `order`: kinds that one
  side says in another order, which isn't a difference;
- `only`: sessions of one capture that have none in the other (`capture`: a or b, `session`, `title`).

A difference has `side`, `message`, `key`, and either `field` with `a` and `b` (each `text`, `bytes`, `frame`; null
where the field is missing) and `count`, how many pairs of messages have it; or `messages`, how many each capture has
(`a`, `b`), with the `frames` of the first.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase

from zdissect.comparison.message_content import Content, ContentPart
from zdissect.comparison.recording import Compared, Kind, Said, Side
from zdissect.listing.listing import Entry

Pairs = list[tuple[Compared, Compared]]
Rest = tuple[list[Compared], list[Compared]]

SIDES = ("opener", "acceptor")
_MOST_ALIGNED = 300
"""Messages of a kind that are aligned by content; more are compared one by one in their order."""
_TIMED = ("SCOUT", "HELLO", "JOIN")
"""Messages that are repeated as time passes: how many there are says nothing."""


def stands_for(pattern: str, name: str) -> bool:
    """Whether a pattern is, or has wildcards for, the name of a field, which may begin with `zenoh.`."""
    return name == pattern or fnmatchcase(name, pattern) or fnmatchcase(f"zenoh.{name}", pattern)


def compare(
    a: Sequence[Compared],
    b: Sequence[Compared],
    ignored: Sequence[str] = (),
    chosen: Sequence[tuple[int, int]] = (),
    any_key: bool = False,
) -> Entry:
    """The report.

    Args:
        a: The sessions of the first capture.
        b: Those of the second.
        ignored: Names of fields that aren't compared, with wildcards.
        chosen: Numbers of sessions that are compared, of each capture; empty: all that belong together.
        any_key: Whether messages are compared whatever their keys, which aren't compared then.
    """
    if any_key:
        a, b = ([one.without_keys() for one in some] for some in (a, b))
        ignored = [*ignored, "*.scope", "*.suffix", "*.m"]
    pairs, only = _chosen(a, b, chosen) if chosen else _matched(a, b)
    sessions = [_session(one, other, ignored) for one, other in pairs]
    alone = [
        {"capture": name, "session": one.number, "title": one.title}
        for name, rest in zip("ab", only, strict=True)
        for one in rest
    ]
    return {
        "format": "zdissect-diff",
        "version": 1,
        "same": not alone and not any(one["differences"] for one in sessions),
        "sessions": sessions,
        "only": alone,
    }


def _chosen(a: Sequence[Compared], b: Sequence[Compared], numbers: Sequence[tuple[int, int]]) -> tuple[Pairs, Rest]:
    """Those that were asked for."""
    first, second = ({one.number: one for one in some} for some in (a, b))
    return [(first[one], second[other]) for one, other in numbers], ([], [])


def _matched(a: Sequence[Compared], b: Sequence[Compared]) -> tuple[Pairs, Rest]:
    """Those with the same roles, in their order; and if one of each is left then, these two."""
    left: dict[tuple[bool, tuple[str | None, str | None]], list[Compared]] = {}
    for one in b:
        left.setdefault((bool(one.number), one.roles), []).append(one)
    pairs, alone = [], []
    for one in a:
        others = left.get((bool(one.number), one.roles))
        if others:
            pairs.append((one, others.pop(0)))
        else:
            alone.append(one)
    rest = [one for one in b if any(one in others for others in left.values())]
    sessions = [[one for one in some if one.number] for some in (alone, rest)]
    if len(sessions[0]) == len(sessions[1]) == 1:
        pairs.append((sessions[0][0], sessions[1][0]))
        alone.remove(sessions[0][0])
        rest.remove(sessions[1][0])
    return sorted(pairs, key=lambda pair: pair[0].number), (alone, rest)


def _session(a: Compared, b: Compared, ignored: Sequence[str]) -> Entry:
    """The entry of two sessions."""
    differences: list[Entry] = []
    order: list[Entry] = []
    for name, one, other in zip(SIDES, a.sides, b.sides, strict=True):
        differences += [{"side": name, **entry} for entry in _side(one, other, ignored)]
        order += [{"side": name, **entry} for entry in _order(one, other)]
    return {
        "a": a.number,
        "b": b.number,
        "title": {"a": a.title, "b": b.title},
        "lacks": {"a": a.lacks, "b": b.lacks},
        "differences": differences,
        "order": order,
    }


def _side(a: Side, b: Side, ignored: Sequence[str]) -> Iterator[Entry]:
    """What one side says otherwise."""
    for kind in dict.fromkeys((*a, *b)):
        first, second = a.get(kind, Said()), b.get(kind, Said())
        where = {"message": kind[0], "key": kind[1] or None}
        pairs = [*_pairs(first, second)]
        for entry in _fields(first, second, pairs, ignored):
            yield {**where, **entry}
        timed = kind[0].split()[0] in _TIMED and first.count and second.count
        if first.count != second.count and not timed:
            frames = {"a": first.frames[:3], "b": second.frames[:3]}
            yield {**where, "messages": {"a": first.count, "b": second.count}, "frames": frames}


def _pairs(a: Said, b: Said) -> Iterator[tuple[int, int]]:
    """The places of messages of a kind that belong together, and differ."""
    first, second = a.contents, b.contents
    if max(len(first), len(second)) > _MOST_ALIGNED:
        yield from ((at, at) for at in range(min(len(first), len(second))) if first[at] != second[at])
        return
    for how, a0, a1, b0, b1 in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if how == "replace":
            yield from zip(range(a0, a1), range(b0, b1), strict=False)


def _fields(a: Said, b: Said, pairs: Sequence[tuple[int, int]], ignored: Sequence[str]) -> Iterator[Entry]:
    """The fields that differ in pairs of messages: each difference once, with how often it is there."""
    times: Counter[tuple[str | None, ...]] = Counter()
    firsts: dict[tuple[str | None, ...], tuple[ContentPart | None, ContentPart | None, int, int]] = {}
    for one, other in pairs:
        for name, first, second in _differing(a.contents[one], b.contents[other], ignored):
            key = (name, *(None if part is None else part.text for part in (first, second)))
            times[key] += 1
            firsts.setdefault(key, (first, second, a.frames[one], b.frames[other]))
    for key, (first, second, frame, other_frame) in firsts.items():
        yield {"field": key[0], "count": times[key], "a": _part(first, frame), "b": _part(second, other_frame)}


def _part(part: ContentPart | None, frame: int) -> Entry | None:
    return None if part is None else {"text": part.text, "bytes": part.data.hex(), "frame": frame}


def _differing(
    a: Content, b: Content, ignored: Sequence[str]
) -> Iterator[tuple[str, ContentPart | None, ContentPart | None]]:
    """(name, part of each) for fields that differ. What is inside of a missing extension isn't told by itself."""
    first, second = ({part.name: part for part in one} for one in (a, b))
    missing: list[str] = []
    scoped = any(first.get(name) != second.get(name) for name in first if name.endswith(".scope"))
    for name in dict.fromkeys((*first, *second)):
        one, other = first.get(name), second.get(name)
        if one == other:
            continue
        if any(stands_for(pattern, name) for pattern in ignored):
            continue
        if (one is None or other is None) and any(name.startswith(above) for above in missing):
            continue
        if scoped and name.endswith((".suffix", ".m")):  # the key is the same, and written with an id in one of both
            continue
        if one is None or other is None:
            missing.append(f"{name}.")
        yield name, one, other


def _order(a: Side, b: Side) -> Iterator[Entry]:
    """Kinds that come in another order than in the other capture."""
    first, second = [kind for kind in a if kind in b], [kind for kind in b if kind in a]
    if first == second or len(first) > _MOST_ALIGNED:
        return
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    kept: set[Kind] = {
        first[at] for start, _, size in matcher.get_matching_blocks() for at in range(start, start + size)
    }
    for kind in first:
        if kind not in kept:
            yield {"message": kind[0], "key": kind[1] or None, "a": first.index(kind) + 1, "b": second.index(kind) + 1}
