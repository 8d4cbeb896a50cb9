"""Values to bytes, by the grammar alone. `values.py` says what values look like.

Values that follow from others may be left out: flags, bits that say what is present, lengths and counts
(`inference.py`). Reserved bits and single flags are 0 unless something says otherwise. A value that is given is used,
even if it is wrong, so that messages with faults can be made.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from zdissect.engine import vle
from zdissect.engine.encoder_input import EncodeError, EncoderInput, content, items, number
from zdissect.engine.inference import infer, level, names, single, variant
from zdissect.grammar import conditions
from zdissect.grammar.registry import PlacedMessage, PlacedNode, place
from zdissect.grammar.types import (
    UNIT,
    Z64,
    ZBUF,
    Bit,
    Bits,
    Blob,
    Choice,
    Extension,
    Extensions,
    Fixed,
    Group,
    Message,
    Repeat,
    Rest,
    Text,
    Unit,
    Vle,
)


def encode(entry: Message | Unit, values: Mapping[str, Any], **inputs: int) -> bytes:
    """The bytes of a message or unit in their shortest form, extensions in the order given.

    Args:
        entry: What to write, as for `interpret`.
        values: Its values by the names of the grammar.
        inputs: Values that the framing of a unit sets (`prefix`, `compression`, `low_latency`).

    Raises:
        EncodeError: A value is missing, is of a wrong type or too large, or has no place here.
    """
    here = EncoderInput(values, entry.name)
    if isinstance(entry, Message):
        return _message((entry,), here)
    name = here.take("unit")
    if name not in (None, entry.name):
        raise EncodeError(here.path, f"is a {name}, not a {entry.name}")
    placed = place(entry)
    return _Writer(placed, inputs).all(placed.inside, here)


def _message(messages: tuple[Message, ...], here: EncoderInput) -> bytes:
    """One of several messages, identified by its name or by the name of a variant."""
    name = here.take("message") if len(messages) == 1 else here.need("message")
    named = {label: message for message in messages for pair in message.labels.values() for label in pair}
    named |= {message.name: message for message in messages}
    message = messages[0] if name is None else named.get(name)
    if message is None:
        raise EncodeError(here.at("message"), f"{name!r} isn't a message here; there are {', '.join(sorted(named))}")
    placed = place(message)
    return _Writer(placed, {}).with_header(message, here, variant(name, message.labels))


class _Writer:
    """Writes one message or unit. Conditions inside see the names of all its fields, as in the interpreter."""

    def __init__(self, placed: PlacedMessage, inputs: Mapping[str, int]) -> None:
        self.placed = placed
        self.flags: dict[str, int] = {}
        self.seen: dict[str, int] = dict(inputs)

    def with_header(self, message: Message, here: EncoderInput, implied: Mapping[str, int]) -> bytes:
        """A message: the header byte, then the fields."""
        here.values = {**implied, **here.values}
        header = self.bits(message.flags, here, self.placed.inside) | message.id
        self.flags = {flag.name: (header & flag.mask) >> flag.low for flag in message.flags}
        return bytes((header,)) + self.all(self.placed.inside, here)

    def holds(self, condition: str) -> bool:
        """Whether a condition holds for the values written so far."""
        simple = conditions.flag_test(condition) if condition else None
        if simple and simple[0] in self.flags:
            return bool(self.flags[simple[0]]) is simple[1]
        return not condition or bool(conditions.test(condition)(self.seen))

    def all(self, places: tuple[PlacedNode, ...], here: EncoderInput) -> bytes:
        """All fields of a level, which must use up its values."""
        data = self.some(places, here, places)
        here.finish([name for placed in level(places) for name in names(placed)])
        return data

    def some(self, places: tuple[PlacedNode, ...], here: EncoderInput, siblings: tuple[PlacedNode, ...]) -> bytes:
        """Some fields of a level. `siblings` are all fields of the level, from which missing values are inferred."""
        return b"".join(self.field(placed, here, siblings) for placed in places)

    def field(self, placed: PlacedNode, here: EncoderInput, siblings: tuple[PlacedNode, ...]) -> bytes:
        """The bytes of one place; none if its condition doesn't hold."""
        node = placed.node
        assert not isinstance(node, Extension)
        if not self.holds(node.when):
            return b""
        if isinstance(node, Bits):
            whole = here.take(node.name)
            value = self.bits(node.bits, here, siblings) if whole is None else number(whole, 8, here.at(node.name))
            self.keep(node.bits, value)
            return bytes((value,))
        if isinstance(node, Vle):
            return vle.encode(self.integer(node, node.bits, 64, here, siblings))
        if isinstance(node, Fixed):
            return self.fixed(node, here, siblings)
        if isinstance(node, Text | Blob | Rest):
            data = content(here.need(node.name), here.at(node.name))
            return data if isinstance(node, Rest) else vle.encode(len(data)) + data
        if isinstance(node, Extensions):
            return self.chain(placed, here)
        if isinstance(node, Choice):
            return self.choice(node, here)
        return self.repeat(placed, node, here) if isinstance(node, Repeat) else self.group(placed, here, siblings)

    def keep(self, bits: tuple[Bit, ...], value: int) -> None:
        """Keeps the values of bit fields for conditions."""
        for bit in bits:
            self.seen[bit.name] = (value & bit.mask) >> bit.low

    def bits(self, bits: tuple[Bit, ...], here: EncoderInput, siblings: tuple[PlacedNode, ...]) -> int:
        """An integer from its bit fields."""
        total = 0
        for bit in bits:
            value = here.take(bit.name)
            if value is None and not bit.reserved:
                value = self.inferred(bit.name, here, siblings)
            if value is None:
                if bit.width > 1 and not bit.reserved:
                    raise EncodeError(here.at(bit.name), "is missing")
                value = 0
            total |= number(value, bit.width, here.at(bit.name)) << bit.low
            self.seen[bit.name] = value
        return total

    def inferred(self, name: str, here: EncoderInput, siblings: tuple[PlacedNode, ...]) -> int | None:
        """A value that follows from other values of its level."""
        return infer(name, here.values, siblings, lambda placed: self.size(placed, here))

    def size(self, placed: PlacedNode, here: EncoderInput) -> int | None:
        """Size in bytes of the content of a place that has its size in front; None if it isn't present."""
        node = placed.node
        if isinstance(node, Group):
            return len(_Writer.trial(self).some(placed.inside, here, placed.inside)) if self.holds(node.when) else None
        assert isinstance(node, Fixed)
        value = here.values.get(node.name)
        return None if value is None else len(content(value, here.at(node.name)))

    def trial(self) -> "_Writer":
        """A copy that writes ahead without changing this writer."""
        copy = _Writer(self.placed, self.seen)
        copy.flags = self.flags
        return copy

    def integer(
        self, node: Vle | Fixed, bits: tuple[Bit, ...], width: int, here: EncoderInput, siblings: tuple[PlacedNode, ...]
    ) -> int:
        """The value of a number that is given as a whole, by its bit fields, or not at all."""
        whole = here.take(node.name)
        if whole is None:
            whole = self.inferred(node.name, here, siblings)
        if whole is None and bits:
            whole = self.bits(bits, here, siblings)
        if whole is None:
            raise EncodeError(here.at(node.name), "is missing")
        value = number(whole, width, here.at(node.name))
        self.keep(bits, value)
        self.seen[node.name] = value
        return value

    def fixed(self, node: Fixed, here: EncoderInput, siblings: tuple[PlacedNode, ...]) -> bytes:
        """A number of a fixed size, or bytes: those given, even if there are more or fewer than announced."""
        if node.raw:
            return content(here.need(node.name), here.at(node.name))
        size = node.size if isinstance(node.size, int) else conditions.test(node.size)(self.seen)
        return self.integer(node, (), 8 * size, here, siblings).to_bytes(size, "little")

    def group(self, placed: PlacedNode, here: EncoderInput, siblings: tuple[PlacedNode, ...]) -> bytes:
        """Fields that belong together, with their length if they have one."""
        node = placed.node
        assert isinstance(node, Group)
        if not node.name or node.size:
            return self.some(placed.inside, here, siblings)
        inner = EncoderInput(here.need(node.name), here.at(node.name))
        return self.region(placed, inner) if node.length else self.all(placed.inside, inner)

    def region(self, placed: PlacedNode, inner: EncoderInput) -> bytes:
        """Fields with their length in front: the actual length, unless another one is given."""
        length = inner.take("length")
        data = self.all(placed.inside, inner)
        return vle.encode(len(data) if length is None else number(length, 64, inner.at("length"))) + data

    def repeat(self, placed: PlacedNode, node: Repeat, here: EncoderInput) -> bytes:
        """The same fields several times, with their number if that comes first."""
        turns = items(here.take(node.name), here.at(node.name))
        if isinstance(node.count, str):
            times = conditions.test(node.count)(self.seen)
            if times != len(turns):
                raise EncodeError(here.at(node.name), f"has {len(turns)} items, not {times}")
            front = b""
        else:
            count = here.take(node.count.name)
            times = len(turns) if count is None else number(count, 64, here.at(node.count.name))
            self.seen[node.count.name] = times
            front = vle.encode(times)
        out = bytearray(front)
        for index, item in enumerate(turns):
            path = f"{here.at(node.name)}[{index}]"
            value = {getattr(placed.inside[0].node, "name", ""): item} if single(placed) else item
            out += self.all(placed.inside, EncoderInput(value, path))
        return bytes(out)

    def choice(self, node: Choice, here: EncoderInput) -> bytes:
        """A message, or as many as are given."""
        if not node.many:
            return _message(node.messages, EncoderInput(here.need(node.name), here.at(node.name)))
        several = items(here.take(node.name), here.at(node.name))
        paths = (f"{here.at(node.name)}[{index}]" for index in range(len(several)))
        return b"".join(
            _message(node.messages, EncoderInput(item, path)) for item, path in zip(several, paths, strict=True)
        )

    def chain(self, placed: PlacedNode, here: EncoderInput) -> bytes:
        """A chain of extensions."""
        exts = items(here.take("extensions"), here.at("extensions"))
        known = {inside.node.name: inside for inside in placed.inside if isinstance(inside.node, Extension)}
        out = bytearray()
        for index, item in enumerate(exts):
            inner = EncoderInput(item, f"{here.at('extensions')}[{index}]")
            ext, more = inner.need("ext"), inner.take("more")
            more = index < len(exts) - 1 if more is None else number(more, 1, inner.at("more"))
            if isinstance(ext, str) and ext not in known:
                near = get_close_matches(ext, known, 1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise EncodeError(inner.at("ext"), f"{ext!r} isn't known for this message{hint}")
            head, body = self.extension(known[ext], inner) if isinstance(ext, str) else _unknown(ext, inner)
            out.append(more << 7 | head)
            out += body
        return bytes(out)

    def extension(self, placed: PlacedNode, inner: EncoderInput) -> tuple[int, bytes]:
        """Header and body of a known extension."""
        node = placed.node
        assert isinstance(node, Extension)
        structured = node.enc == ZBUF and bool(node.fields)
        body = self.region(placed, inner) if structured else self.all(placed.inside, inner)
        self.seen[node.name] = 1
        return node.key, body


def _unknown(ident: Any, inner: EncoderInput) -> tuple[int, bytes]:
    """Header and body of an extension that is given by its id. The encoding, if not given, follows from the value."""
    value, enc = inner.take("value"), inner.take("enc")
    mandatory = number(inner.take("mandatory") or 0, 1, inner.at("mandatory"))
    if enc is None:
        enc = UNIT if value is None else Z64 if isinstance(value, int) else ZBUF
    head = number(enc, 2, inner.at("enc")) << 5 | mandatory << 4 | number(ident, 4, inner.at("ext"))
    inner.finish(())
    if enc == Z64:
        return head, vle.encode(number(inner.need("value"), 64, inner.at("value")))
    if enc == ZBUF:
        data = content(inner.need("value"), inner.at("value"))
        return head, vle.encode(len(data)) + data
    if value is not None:
        raise EncodeError(inner.at("value"), f"an extension of encoding {enc} has no value")
    return head, b""
