"""Key expressions: validity, canonical form, intersection and inclusion (notes 8).

Two expressions are compared chunk by chunk. For each chunk of one, all matching positions in the other are tracked at
once, as the bits of an integer. So the time is bounded by the product of the numbers of chunks, whatever wildcards they
hold, and nothing recurses. Chunks are compared as text, which for UTF-8 is the same as byte by byte.

Where that product is far beyond what keys have, only the chunks before the first `**` and after the last one are
compared, in linear time: if they fit, the expressions count as intersecting, or as one including the other.

An expression on the wire must be canonical. `intersects` and `includes` never raise: a valid expression that isn't
canonical counts as its canonical form, and an invalid one is taken chunk by chunk as it stands.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from zdissect.grammar.short_cache import LONGEST, short_cache

ANY = "**"
ONE = "*"
SOME = "$*"
VERBATIM = "@"

_CHUNK = re.compile(r"\*\*?+|(?:[^*$#?/]++|\$\*)++")
_CHUNKS = re.compile(rf"(?:{_CHUNK.pattern})(?:/(?:{_CHUNK.pattern}))*+")
_GOOD = re.compile(r"(?:[^*$#?]|\$\*)*")
_SOMES = re.compile(r"(?:\$\*){2,}")
_MOST_WORK = 64 * 64
"""Most pairs of chunks that are compared; few keys have more than a dozen chunks."""


class KeyExprError(ValueError):
    """The text isn't a key expression; the message says why and where."""


def check(text: str) -> str | None:
    """Why a text isn't a key expression, canonical or not, with the place in bytes of UTF-8; None if it is one."""
    start = 0
    for chunk in () if _CHUNKS.fullmatch(text) else text.split("/"):
        if not _CHUNK.fullmatch(chunk):
            at, why = _fault(chunk)
            return f"{why} at byte {len(text[: start + at].encode('utf-8', 'surrogatepass'))}"
        start += len(chunk) + 1
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"not UTF-8 at byte {len(text[: error.start].encode())}"
    return None


def _fault(chunk: str) -> tuple[int, str]:
    """Where in a chunk the error is, and what it is."""
    if not chunk:
        return 0, "empty chunk"
    good = _GOOD.match(chunk)
    at = good.end() if good else 0
    char = chunk[at]
    if char == "$":
        return at, "'$' without '*'"
    if char == "*":
        return at, "'*' that is neither alone in its chunk nor after '$'"
    return at, f"forbidden character '{char}'"


def is_canonical(text: str) -> bool:
    """Whether a text is a key expression in the form that may stand on the wire."""
    return check(text) is None and (ONE not in text or "/".join(_canonical(text)) == text)


def canonical(text: str) -> str:
    """The canonical form of a key expression.

    Raises:
        KeyExprError: The text isn't a key expression, for the reason that `check` gives.
    """
    why = check(text)
    if why is not None:
        raise KeyExprError(why)
    return "/".join(_canonical(text))


def _canonical(text: str) -> list[str]:
    """Canonical chunks: in each run of `*` and `**`, all `*` come first, then one `**` if there is any."""
    out: list[str] = []
    pending = False
    for chunk in _SOMES.sub(SOME, text).split("/"):
        if chunk == ANY:
            pending = True
            continue
        single = chunk in (ONE, SOME)
        if pending and not single:
            out.append(ANY)
            pending = False
        out.append(ONE if single else chunk)
    if pending:
        out.append(ANY)
    return out


def has_wildcard(text: str) -> bool:
    """Whether an expression contains a wildcard, even a verbatim one that matches only itself: then it isn't a key."""
    return ONE in text


def intersects(a: str, b: str) -> bool:
    """Whether some key matches both expressions."""
    if a == b:
        return True
    if ONE not in a and ONE not in b:
        return False
    return _related(a, b, both=True)


def includes(a: str, b: str) -> bool:
    """Whether every key that matches `b` matches `a`."""
    if a == b:
        return True
    if ONE not in a:
        return False
    return _related(a, b, both=False)


def _related(a: str, b: str, both: bool) -> bool:
    """Whether two expressions intersect (`both`), or the first includes the second; of usual length, the pair is
    remembered."""
    if len(a) + len(b) <= LONGEST:
        return _usual(a, b, both)
    if (a.count("/") + 1) * (b.count("/") + 1) > _MOST_WORK:
        return _ends_fit(_canonical(a), _canonical(b), both)
    return _reach(_columns(a), _columns(b), _chunks_intersect if both else _chunk_includes, both)


@lru_cache(maxsize=4096)
def _usual(a: str, b: str, both: bool) -> bool:
    return _reach(_columns(a), _columns(b), _chunks_intersect if both else _chunk_includes, both)


def _ends_fit(left: list[str], right: list[str], both: bool) -> bool:
    """Whether the chunks before the first `**` fit, and those after the last one."""
    if ANY not in left and (ANY not in right or not both) and len(left) != len(right):
        return False
    for ours, others in ((left, right), (reversed(left), reversed(right))):
        for own, other in zip(ours, others, strict=False):
            if ANY in (own, other):
                if own != ANY and not both:
                    return False
                break
            if own != other and not _chunk_fits(own, other, both):
                return False
    return True


def _chunk_fits(own: str, other: str, both: bool) -> bool:
    """Whether two different chunks, neither of which is `**`, match a text in common, or the first all of the other."""
    if own.startswith(VERBATIM) or other.startswith(VERBATIM):
        return False
    if own == ONE or (both and other == ONE):
        return True
    if other == ONE:
        return False
    if SOME not in own and not (both and SOME in other):
        return False
    return (_chunks_intersect if both else _chunk_includes)(own, other)


class _Columns(NamedTuple):
    """The chunks of an expression, and their kinds as bits of integers."""

    chunks: tuple[str, ...]
    anys: int
    ones: int
    somes: int
    """Chunks that contain `$*` and aren't verbatim."""
    plain: int
    """Chunks that aren't verbatim: those that wildcards may stand for."""
    places: dict[str, int]
    """The positions of each chunk."""


@short_cache(4096)
def _columns(text: str) -> _Columns:
    chunks = tuple(_canonical(text))
    places: dict[str, int] = {}
    somes = plain = 0
    for index, chunk in enumerate(chunks):
        bit = 1 << index
        places[chunk] = places.get(chunk, 0) | bit
        if not chunk.startswith(VERBATIM):
            plain |= bit
            if SOME in chunk:
                somes |= bit
    return _Columns(chunks, places.get(ANY, 0), places.get(ONE, 0), somes, plain, places)


def _reach(left: _Columns, right: _Columns, fits: Callable[[str, str], bool], both: bool) -> bool:
    """Whether the chunks of both can be used up together.

    Bit j of `reached` is set when the chunks of `left` so far can stand for the first j of `right`. With `both`,
    wildcards of `right` may stand for chunks of `left` too; without, they only fall to wildcards that include them.
    """
    reached = 1
    skipped = right.anys if both else 0
    for chunk in left.chunks:
        if chunk == ANY:
            reached = _spread(reached, right.plain)
            continue
        reached = _spread(reached, skipped)
        after = (reached & _fitting(chunk, right, reached, fits, both)) << 1
        if not chunk.startswith(VERBATIM):
            after |= reached & skipped
        if not after:
            return False
        reached = after
    return bool(_spread(reached, skipped) >> len(right.chunks) & 1)


def _spread(bits: int, over: int) -> int:
    """Each bit, and all that follow it up to and including the first one not in `over`: a carry does it."""
    return bits | (((bits & over) + over) ^ over)


def _fitting(chunk: str, right: _Columns, among: int, fits: Callable[[str, str], bool], both: bool) -> int:
    """The single chunks of `right` among `among` that this chunk fits, as bits."""
    if chunk == ONE:
        return right.plain & ~right.anys
    fitting = right.places.get(chunk, 0)
    if chunk.startswith(VERBATIM):
        return fitting
    if both:
        fitting |= right.ones
    left = among & ~fitting & ~right.anys & ~right.ones
    if SOME in chunk:
        left &= right.plain
    elif both:
        left &= right.somes
    else:
        return fitting
    known: dict[str, bool] = {}
    while left:
        bit = left & -left
        left ^= bit
        other = right.chunks[bit.bit_length() - 1]
        if other not in known:
            known[other] = fits(chunk, other)
        if known[other]:
            fitting |= bit
    return fitting


def _chunks_intersect(a: str, b: str) -> bool:
    """Whether two chunks, one of which has `$*`, match a text in common.

    Where both have it, the text between the first and the last `$*` doesn't matter: there is room for all of it.
    """
    if SOME not in a:
        return _chunk_includes(b, a)
    if SOME not in b:
        return _chunk_includes(a, b)
    head, other_head = a[: a.index(SOME)], b[: b.index(SOME)]
    tail, other_tail = a[a.rindex(SOME) + 2 :], b[b.rindex(SOME) + 2 :]
    return (head.startswith(other_head) or other_head.startswith(head)) and (
        tail.endswith(other_tail) or other_tail.endswith(tail)
    )


def _chunk_includes(a: str, b: str) -> bool:
    """Whether a chunk with `$*` matches all that `b` matches. A `$*` in `b` is text that no piece of `a` equals."""
    head, *middle, tail = a.split(SOME)
    stop = len(b) - len(tail)
    if stop < len(head) or not b.startswith(head) or not b.endswith(tail):
        return False
    at = len(head)
    for piece in middle:
        at = b.find(piece, at, stop)
        if at < 0:
            return False
        at += len(piece)
    return True
