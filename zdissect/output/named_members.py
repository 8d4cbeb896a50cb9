"""A tape as objects whose members are named after fields: what `-T json` prints.

Which members are arrays is a matter of the grammar, never of how many there are: `messages` of a batch and of a FRAME,
`extensions`, `undecoded`, and what the grammar repeats. docs/json.md describes the form, json_schema.json defines it.

The text of a span is a format made once for its field, or for field and value where it tells the bits of a byte; what
is left to fill in is its place, and its value.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

from zdissect.engine.messages import DecodedMessage, Row
from zdissect.engine.tape import Span, Tape
from zdissect.grammar.field import Field
from zdissect.grammar.short_cache import short_cache
from zdissect.grammar.transport import FRAME
from zdissect.output.nested import bit, derived, means
from zdissect.output.printable import dumps

_RANGE = '"_range":[%s,%s]'
_LISTS = {"extension": "extensions", "undecoded": "undecoded", "message": "messages"}
_NAMED = frozenset({"unit", "message", "extension"})
"""Kinds whose objects begin with their name."""
_MOST_KEPT = 4096
"""Bytes of bits, and values, whose texts are kept."""


def unit_text(tape: Tape, messages: Sequence[DecodedMessage] = (), hidden: Iterable[int] = ()) -> str:
    """A tape as JSON: a unit, or a message alone, with what comes after it; `null` if there is nothing.

    Args:
        messages: The messages of which it is said what the session knows.
        hidden: Indices of spans that are left out.
    """
    spans = tape.spans
    writer = MemberWriter(spans, tape.start, {message.first: message.shared for message in messages}, hidden)
    first = next((at for at in range(len(spans)) if at not in writer.hidden), None)
    if first is None:
        return "null"
    writer.put("{")
    writer.head(first)
    writer.members(first + 1, -1, holds_messages(spans[first][0]))
    writer.put("}")
    return "".join(writer.pieces) % tuple(writer.args)


class MemberWriter:
    """Walks over spans: gathers formats, and what they are filled with.

    Args:
        spans: The spans.
        start: Where places count from.
        known: Of messages of which it is said what the session knows, the rows, by the indices of their spans.
        hidden: Indices of spans that are left out.
    """

    def __init__(self, spans: list[Span], start: int, known: Mapping[int, Row], hidden: Iterable[int] = ()) -> None:
        self.spans, self.start = spans, start
        self.known = known
        self.hidden = {*hidden}
        self.pieces: list[str] = []
        self.put = self.pieces.append
        self.args: list[int | str] = []
        """Places and sizes in bits as numbers, all else as text."""

    def members(self, at: int, depth: int, many: bool) -> int:
        """The members of an object at a depth: the spans from `at` on that are deeper. Returns the index after them.

        If it holds `many` messages, these are a list; otherwise one is its body.
        """
        spans, put, args, hidden, origin = self.spans, self.put, self.args, self.hidden, self.start
        open_list = ""
        while at < len(spans):
            field, level, start, stop, value = spans[at]
            if level <= depth:
                break
            if at in hidden:
                at += 1
                continue
            member, _, says, name = _texts(field)
            if open_list and open_list != name:
                put("]")
                open_list = ""
            if name == "undecoded":
                self.undecoded(at, depth)
            elif says is not None:
                put(member)
                args += says(value), start - origin << 3, stop - start << 3
                at += 1
            elif field.bits:
                member, _, places = _bits(field, value)
                put(member)
                begin = start - origin << 3
                args += begin, stop - start << 3, *[begin + place for place in places]
                at += 1
            else:
                if name and (many or name != "messages"):
                    member = ",{" if open_list else f',"{name}":[{{'
                    open_list = name
                put(member)
                at = self.elements(at) if field.kind == "repeat" else self.object(at)
        if open_list:
            put("]")
        return at

    def undecoded(self, at: int, depth: int) -> None:
        """The list of an object's bytes that no field owns: those at `at`, and those that come after other members,
        as they do where several parts in it are of known size. They count as hidden from then on."""
        level = self.spans[at][1]
        start = ',"undecoded":[{'
        for index in range(at, len(self.spans)):
            field, other, *_ = self.spans[index]
            if other <= depth:
                break
            if other <= level and field.kind == "undecoded" and index not in self.hidden:
                self.put(start)
                start = ",{"
                self.head(index)
                self.put("}")
                self.hidden.add(index)
        self.put("]")

    def object(self, at: int) -> int:
        """The rest of an object, from its first member on; returns the index after its spans."""
        field, depth, *_ = self.spans[at]
        self.head(at)
        at = self.members(at + 1, depth, holds_messages(field))
        self.put("}")
        return at

    def elements(self, at: int) -> int:
        """The rest of an array, for what the grammar repeats; returns the index after its spans."""
        depth = self.spans[at][1]
        start = "{"
        at += 1
        while at < len(self.spans) and self.spans[at][1] > depth:
            self.put(start)
            start = ",{"
            at = self.object(at)
        self.put("]")
        return at

    def head(self, at: int) -> None:
        """What an object says of its own span: its name or value, its place, and what the session knows of it."""
        field, _, start, stop, value = self.spans[at]
        begin, size = start - self.start << 3, stop - start << 3
        _, body, says, _ = _texts(field)
        if field.kind in _NAMED:
            self.args += _json(field.name.removeprefix("ext_") if value is None else value), begin, size
        elif says is not None:
            self.args += says(value), begin, size
        elif field.bits:
            _, body, places = _bits(field, value)
            self.args += begin, size, *[begin + place for place in places]
        else:
            self.args += begin, size
        self.put(body)
        row = self.known.get(at)
        if row is not None:
            self.put(',"derived":{%s}')
            self.args.append(derived_text(row))


def derived_text(row: Row) -> str:
    """The members of what the session knows of a message, by its row."""
    return ",".join([f'"{name}":{_json(known)}' for name, known in derived(row).items()])


class _FieldTexts(NamedTuple):
    """How the spans of a field are written, but for those with bits."""

    member: str
    """A comma, the name of the member and what it is: the whole object of a leaf, of others the brace or bracket."""
    body: str
    """What the object begins with, or, of a leaf, all that is in it."""
    says: Callable[[Any], str] | None
    """What the value of a leaf puts into the first place of `body`."""
    listed: str
    """The name of the list that it is an element of, if it is."""


@cache
def _texts(field: Field) -> _FieldTexts:
    """How the spans of a field are written."""
    kind, listed = field.kind, _LISTS.get(field.kind, "")
    if kind in _NAMED:
        return _FieldTexts(',"body":{', f'"{kind}":%s,{_RANGE}', None, listed)
    opening = f',"{field.name}":'
    if field.leaf and not field.bits:
        body = f'"value":%s,{_RANGE}'
        return _FieldTexts(f"{opening}{{{body}}}", body, saying(field), listed)
    return _FieldTexts(opening + ("[" if kind == "repeat" else "{"), _RANGE, None, listed)


def saying(field: Field) -> Callable[[Any], str]:
    """A function from a value of a leaf to its text, with that of its meaning if it has one."""
    says = partial(_said, field)
    if field.kind == "text":
        return short_cache(_MOST_KEPT)(says)
    return says if field.enum is None else lru_cache(_MOST_KEPT)(says)


def _said(field: Field, value: Any) -> str:
    """The value of a leaf, and its meaning if it has one."""
    meaning = means(field, value)
    return _json(value) if meaning is None else f'{_json(value)},"meaning":{dumps(meaning)}'


def _json(value: Any) -> str:
    kind = type(value)
    if kind is int:
        return str(value)
    if kind is bytes:
        return f'"{value.hex()}"'
    return _text(value) if kind is str else dumps(value)


_text: Callable[[str], str] = short_cache(_MOST_KEPT)(dumps)


@lru_cache(_MOST_KEPT)
def _bits(field: Field, value: int) -> tuple[str, str, tuple[int, ...]]:
    """A byte or integer with bits: the member, what its object holds, and where those of its bits begin that have a
    place of their own."""
    out, places = [], []
    for one in field.bits:
        known = bit(one, value, 0, in_place=field.kind != "vle")
        if known is None:
            continue
        members = {name: known[name] for name in ("value", "meaning") if name in known}
        text = f'"{one.name}":{_format(dumps(members))}'
        if "start" in known:
            places.append(known["start"])
            text = f'{text[:-1]},"_range":[%s,{known["bits"]}]}}'
        out.append(text)
    bits = f',"bits":{{{",".join(out)}}}' if out else ""
    body = f'"value":{_format(_said(field, value))},{_RANGE}{bits}'
    return f',"{field.name}":{{{body}}}', body, tuple(places)


def _format(text: str) -> str:
    """A text as a part of a format."""
    return text.replace("%", "%%")


def holds_messages(field: Field) -> bool:
    """Whether the messages in it are listed: otherwise a message has one, its body."""
    return field.kind == "unit" or field.node is FRAME
