"""The ways in which bytes of unknown origin can be read.

    >>> readings(bytes.fromhex("010907"))[0].name
    'scouting'

Every kind of reading (`kinds`) decodes the bytes to their end, and `evidence` measures in bits how unlikely the outcome
is by chance. The best reading is the one with the most evidence. It usually decodes to its last byte, but not always:
`06` followed by any bytes at all is a FRAGMENT, which proves nothing, while a batch whose length prefix fits is still a
batch if it holds one byte too many. Where evidence is equal, the order of `NAMES` decides.

Pure and total: any bytes, never an exception but `UnknownName`.
"""

from typing import NamedTuple

from zdissect.readings.attempt import Attempt, DecodedUnit
from zdissect.readings.evidence import errors, total, undecoded, versions
from zdissect.readings.kinds import ALIASES, KINDS, message_names, one_message
from zdissect.readings.named_structures import one_structure, structure_names

__all__ = ["NAMES", "DecodedUnit", "Reading", "UnknownName", "canonical", "read_as", "readings"]

NAMES = {name: kind.doc for name, kind in KINDS.items()}
"""The kinds of readings, most usual first, with what they are. `read_as` takes names of messages and structures too."""


LOOK = 1 << 14
"""Bytes of a first part that decides between the kinds for data with more than..."""
MOST = 4 * LOOK
"""... this many bytes."""


class UnknownName(ValueError):
    """No reading and no message has this name."""

    def __init__(self, name: str, near: str) -> None:
        super().__init__(f"no reading is called {name!r}" + (f"; did you mean {near}?" if near else ""))
        self.near = near
        """The nearest name; empty if none is near."""


class Reading(NamedTuple):
    """One way to read some bytes."""

    name: str
    """The name that forces it."""
    title: str
    """What it is, for people: `2 batches with their length prefixes`."""
    units: tuple[DecodedUnit, ...]
    """Batches, datagrams or messages in order, each with the buffer it is in."""
    score: float
    """Evidence, in bits."""
    complete: bool
    """Whether it decodes to its end without an error."""
    why: str
    """What speaks for it and against it, for people."""

    @property
    def messages(self) -> list[str]:
        """Names of the outermost messages."""
        return [name for part in self.units for name in _outermost(part)]

    @property
    def plausible(self) -> bool:
        """Whether it is complete and more speaks for it than against it."""
        return self.complete and self.score > 0


def readings(data: bytes) -> list[Reading]:
    """The best attempt of every kind of reading that can be tried, best first; at least one, none twice.

    For much data a first part decides between the kinds, and only the best is tried on all of it, or the second best if
    that yields nothing: the others are readings of the first part, and so may end incomplete.
    """
    if len(data) <= MOST:
        return _tried(data)
    ranked = _tried(data[:LOOK])
    whole: list[Reading] = []
    for reading in ranked[:2]:
        kind = KINDS[reading.name]
        attempts = (kind.guess or kind.force)(data)
        if attempts:
            whole.append(_judge(reading.name, attempts))
            if whole[-1].complete:
                break
    best = max(whole, key=lambda reading: reading.score) if whole else ranked[0]
    return [best, *(reading for reading in ranked if reading.name != best.name)]


def _tried(data: bytes) -> list[Reading]:
    """The best attempt of every kind on all of the data."""
    judged = []
    for name, kind in KINDS.items():
        attempts = (kind.guess or kind.force)(data)
        if attempts:
            judged.append(_judge(name, attempts))
    out: list[Reading] = []
    for reading in sorted(judged, key=lambda reading: -reading.score):  # stable: equals stay in the order of NAMES
        if not any(_same(reading, other) for other in out):
            out.append(reading)
    return out


def _same(reading: Reading, other: Reading) -> bool:
    """Whether two readings found the same, as with framings that differ only in what isn't present."""
    pairs = zip(reading.units, other.units, strict=False)
    return 0 < len(reading.units) == len(other.units) and all(a.tape.spans == b.tape.spans for a, b in pairs)


def read_as(data: bytes, name: str) -> Reading:
    """The bytes read as what the user says they are: a kind of reading, a message, or a structure.

    Raises:
        UnknownName: There is no such name.
    """
    word = canonical(name)
    attempts = KINDS[word].force(data) if word in KINDS else one_message(data, word) or one_structure(data, word)
    if not attempts:  # a packet can't be forced
        return Reading(word, f"not {KINDS[word].doc}", (), 0.0, False, "no IP header where there could be one")
    return _judge(word, attempts)


def canonical(name: str) -> str:
    """The name of a kind of reading, a message or a structure in its usual spelling, from any. Raises UnknownName."""
    word = name.strip().lower().replace("-", "_")
    word = ALIASES.get(word, word)
    if word in KINDS or word in message_names() or word in structure_names():
        return word
    from difflib import get_close_matches  # only here: few words are mistyped

    known = [*KINDS, *ALIASES, *message_names(), *structure_names()]
    raise UnknownName(name, next(iter(get_close_matches(word, known, 1)), ""))


def _judge(name: str, attempts: list[Attempt]) -> Reading:
    """The reading from the best of some attempts, with the reasons."""
    score, attempt = max(((total(attempt), attempt) for attempt in attempts), key=lambda pair: pair[0])
    faults = sum(errors(unit.tape) for unit in attempt.units)
    left = sum(undecoded(unit.tape) for unit in attempt.units)
    complete = not faults and not left
    why = [attempt.fit] if attempt.fit else []
    if known := versions(attempt):
        why.append(f"protocol version {known}")
    if complete and attempt.units:
        why.append("decodes to its last byte")
    if faults:
        why.append("1 error" if faults == 1 else f"{faults} errors")
    if left:
        why.append("1 byte not decoded" if left == 1 else f"{left} bytes not decoded")
    return Reading(name, attempt.title, tuple(attempt.units), score, complete, ", ".join(why))


def _outermost(unit: DecodedUnit) -> list[str]:
    """Names of the messages of a part that stand in no other message."""
    spans = [span for span in unit.tape.spans if span[0].kind == "message"]
    top = min((span[1] for span in spans), default=0)
    return [str(span[4]) for span in spans if span[1] == top]
