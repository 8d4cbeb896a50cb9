"""What every tape must be, whatever the bytes."""

from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Span, Tape
from zdissect.grammar.field import EXT_LENGTH, UNDECODED
from zdissect.grammar.rules import RULES
from zdissect.grammar.types import Bit, Message, Unit


def read(entry: Message | Unit, data: bytes, **inputs: int) -> Tape:
    """The tape of some bytes, after a look at what all tapes have in common."""
    tape = interpret(entry, data, **inputs)
    check(tape)
    return tape


def check(tape: Tape) -> None:
    """Leaves cover the bytes once and in order; groups hold what is inside; remarks are of known kinds."""
    at = tape.start
    for field, _, start, stop, value in tape.leaves():
        assert start == at, f"{field} starts at {start}, not at {at}"
        assert stop >= start
        at = stop
        if field.kind in ("header", "bits"):
            assert stop == start + 1
            assert bits_cover(field.bits, value, 8)
    assert at == tape.stop, f"bytes {at} to {tape.stop} are in no leaf"
    nested(tape.spans, tape.start, tape.stop)
    for code, start, stop, text in tape.remarks:
        assert code in RULES
        assert tape.start <= start <= stop <= tape.stop
        assert text


def bits_cover(bits: tuple, value: int, size: int) -> bool:
    """Whether bit fields hold each bit of a byte once, the highest first, and make up its value."""
    total, below = 0, size
    for field in bits:
        bit = field.node
        assert isinstance(bit, Bit)
        assert bit.low + bit.width == below
        below = bit.low
        total |= value & bit.mask
    return below == 0 and total == value


def nested(spans: list[Span], start: int, stop: int) -> None:
    """Groups stand before what they hold, which is one level down, inside, and fills them."""
    open_groups = [(None, -1, start, stop)]
    last = start
    for field, depth, begin, end, _ in spans:
        while open_groups[-1][1] >= depth:
            group, _, _, group_end = open_groups.pop()
            assert last == group_end, f"{group} ends at {group_end}, its last field at {last}"
        parent, parent_depth, parent_start, parent_end = open_groups[-1]
        assert depth == parent_depth + 1
        assert parent_start <= begin <= end <= parent_end, f"{field} {begin}..{end} isn't inside {parent}"
        if field.leaf:
            last = end
        else:
            open_groups.append((field, depth, begin, end))
    assert all(group_end == last for _, _, _, group_end in open_groups)


def errors(tape: Tape) -> list[tuple[str, int, int]]:
    """The remarks without their texts."""
    return [remark[:3] for remark in tape.remarks]


def undecoded(tape: Tape) -> list[tuple[int, int]]:
    """Where bytes belong to no field."""
    return [(start, stop) for field, _, start, stop, _ in tape.spans if field is UNDECODED]


def first_doubt(tape: Tape) -> int:
    """Where the first extension begins whose declared length isn't that of its structure; behind the tape if none."""
    extension = tape.stop, tape.stop
    for field, _, start, stop, value in tape.spans:
        if field.kind == "extension":
            extension = start, stop
        elif field is EXT_LENGTH:
            inside = (remark for remark in tape.remarks if extension[0] <= remark[1] and remark[2] <= extension[1])
            if stop + value != extension[1] or any(code in ("truncated", "trailing-bytes") for code, *_ in inside):
                return extension[0]
    return tape.stop + 1


def leaves(tape: Tape, stop: int) -> list[Span]:
    """The decoded leaves that end at `stop` or before."""
    return [span for span in tape.leaves() if span[3] <= stop and span[0] is not UNDECODED]
