"""Blocks of LZ4 of a given size: compressed as well as a quick search can, then made longer by spelling out.

A match that is made one byte shorter, with one literal more before it, makes a block one byte longer. So nearly every
size between the best and the worst can be had.
"""

from typing import NamedTuple

_LEAST = 4
"""Bytes of the shortest match."""
_FURTHEST = 65535
_LITERAL_END = 12
"""Before the end so many bytes no match may start; the last five aren't in one."""
_LAST = 5
_CANDIDATES, _LONG = 16, 64
"""Places that are compared, and what is long enough."""
_FULL = 15
_MORE = 255


class _Sequence(NamedTuple):
    """Literals, then a match; the last one of a block has no match (size 0)."""

    literals: int
    match: int
    offset: int

    @property
    def cost(self) -> int:
        """Bytes that it takes."""
        out = 1 + self.literals + _extra(self.literals)
        return out + 2 + _extra(self.match - _LEAST) if self.match else out


def compress(data: bytes, size: int) -> bytes | None:
    """A block of `size` bytes that holds `data`; None if there is none that the search finds."""
    sequences = _search(data)
    missing = size - sum(one.cost for one in sequences)
    if missing < 0:
        return None
    if missing:
        sequences, missing = _spell_out(sequences, missing, len(data) - _LITERAL_END)
    return None if missing else _write(data, sequences)


def _extra(length: int) -> int:
    """Bytes of a length beside its half of the token."""
    return 0 if length < _FULL else 1 + (length - _FULL) // _MORE


def _search(data: bytes) -> list[_Sequence]:
    """Long matches: at each place the longest of some, unless the next place has a longer one."""
    out: list[_Sequence] = []
    seen: dict[bytes, list[int]] = {}
    start = at = noted = 0
    last = len(data) - _LITERAL_END
    while at <= last:
        noted = _note(data, noted, at, seen)
        size, before = _longest(data, at, seen)
        if not size:
            at += 1
            continue
        if size < _LONG and at < last:
            noted = _note(data, noted, at + 1, seen)
            if _longest(data, at + 1, seen)[0] > size:
                at += 1
                continue
        out.append(_Sequence(at - start, size, at - before))
        at += size
        start = at
    out.append(_Sequence(len(data) - start, 0, 0))
    return out


def _note(data: bytes, start: int, stop: int, seen: dict[bytes, list[int]]) -> int:
    """Notes which words the places start..stop begin; `stop`."""
    for place in range(start, stop):
        places = seen.setdefault(data[place : place + _LEAST], [])
        places.append(place)
        if len(places) > 2 * _CANDIDATES:
            del places[:_CANDIDATES]
    return stop


def _longest(data: bytes, at: int, seen: dict[bytes, list[int]]) -> tuple[int, int]:
    """(size, place) of the longest match for a place; no size if there is none."""
    size, best = 0, 0
    for before in reversed(seen.get(data[at : at + _LEAST], ())[-_CANDIDATES:]):
        if at - before > _FURTHEST:
            break
        found = _match(data, before, at)
        if found > size:
            size, best = found, before
            if size >= _LONG:
                break
    return size, best


def _match(data: bytes, before: int, at: int) -> int:
    """How many bytes are the same at both places."""
    size, most = _LEAST, len(data) - _LAST - at
    step = most - size
    while step > 0:  # in large steps while they fit
        if data[before + size : before + size + step] == data[at + size : at + size + step]:
            size += step
            step = min(step, most - size)
        else:
            step //= 2
    return min(size, most)


def _spell_out(sequences: list[_Sequence], missing: int, last: int) -> tuple[list[_Sequence], int]:
    """The same with matches made shorter, until they take so many bytes more; and how many are missing then.

    Args:
        last: Where the last match may start.
    """
    out: list[_Sequence] = []
    at = carried = 0  # where the match is; literals of matches that are gone
    for index, one in enumerate(sequences):
        before = one.cost
        one = one._replace(literals=one.literals + carried)
        missing -= one.cost - before
        at += one.literals - carried
        stop = at + one.match
        carried = 0
        while missing > 0 and one.match > _LEAST and stop - one.match < last:
            shorter = _Sequence(one.literals + 1, one.match - 1, one.offset)
            if shorter.cost - one.cost > missing:
                break
            missing -= shorter.cost - one.cost
            one = shorter
        if missing > 0 and one.match == _LEAST and index + 1 < len(sequences):
            following = sequences[index + 1]
            merged = following._replace(literals=following.literals + one.literals + _LEAST)
            if merged.cost - following.cost - one.cost <= missing:
                carried = one.literals + _LEAST
                missing += one.cost
                at = stop
                continue
        out.append(one)
        at = stop
    return out, missing


def _write(data: bytes, sequences: list[_Sequence]) -> bytes:
    out = bytearray()
    at = 0
    for literals, match, offset in sequences:
        length = match - _LEAST if match else 0
        out.append(min(literals, _FULL) << 4 | min(length, _FULL))
        out += _long(literals) + data[at : at + literals]
        at += literals + match
        if match:
            out += offset.to_bytes(2, "little") + _long(length)
    return bytes(out)


def _long(length: int) -> bytes:
    """What of a length doesn't fit into the token."""
    return b"" if length < _FULL else b"\xff" * ((length - _FULL) // _MORE) + bytes([(length - _FULL) % _MORE])
