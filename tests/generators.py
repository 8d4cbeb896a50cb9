"""Makes values of messages and units from the grammar alone.

A `Maker` walks the grammar as the encoder does and asks a `Source` for each choice. The source draws from Hypothesis
(`strategies.py`), or from a seeded random generator where speed and a fixed sequence matter more than small
counter-examples.
"""

from functools import cache
from random import Random
from typing import Any, Protocol

from zdissect.engine.inference import level
from zdissect.grammar import conditions
from zdissect.grammar.checks import CHECKS
from zdissect.grammar.registry import PlacedNode, place
from zdissect.grammar.types import (
    UNIT,
    Z64,
    ZBUF,
    Bit,
    Bits,
    Blob,
    Choice,
    Enum,
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

Entry = Message | Unit
ALPHABET = "ab/*$?;=é€\U0001f600"


class ChoiceSource(Protocol):
    """Where choices come from."""

    def number(self, limit: int) -> int:
        """A number from 0 to `limit`."""

    def bytes(self, size: int) -> bytes:
        """So many bytes."""


class SeededChoices:
    """Choices of a seeded generator."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def number(self, limit: int) -> int:
        return self.random.randint(0, limit)

    def bytes(self, size: int) -> bytes:
        return self.random.randbytes(size)


class ValueGenerator:
    """Makes values of messages and units.

    A `clean` maker makes nothing that a finding is about: values that checks refuse, reserved bits, unknown extensions.
    """

    def __init__(self, source: ChoiceSource, clean: bool = False) -> None:
        self.source = source
        self.clean = clean
        self.depth = 0

    def rarely(self) -> bool:
        """Whether to do something that is wrong."""
        return not self.clean and self.source.number(15) == 15

    def entry(self, entry: Entry, inputs: dict[str, int]) -> dict[str, Any]:
        """Values of a message or unit."""
        seen = dict(inputs)
        out: dict[str, Any] = {"unit" if isinstance(entry, Unit) else "message": entry.name}
        if isinstance(entry, Message):
            flags = self.byte(entry.flags, "", legal=True)
            out |= flags
            seen |= {flag.name: flags.get(flag.name, 0) for flag in entry.flags}
        self.depth += 1
        self.level(place(entry).inside, seen, out)
        self.depth -= 1
        if out.get("Z") and "extensions" not in out:
            out["Z"] = 0  # Z=1 announces an extension at least; nothing else depends on it
        return out

    def byte(self, bits: tuple[Bit, ...], check: str, legal: bool = False) -> dict[str, int]:
        """Values of bit fields; reserved ones only if they are set. A header must be `legal`, or nothing is read."""
        out = {}
        for bit in bits:
            limit = (1 << bit.width) - 1
            value = 0
            if not bit.reserved:
                value = self.among(bit.enum, limit, legal)
            elif self.rarely():
                value = self.source.number(limit)
            if value or not bit.reserved:
                out[bit.name] = value
        if check and not self.rarely():
            names = (bit.name for bit in bits if not bit.reserved)
            while CHECKS[check](_joined(bits, out)):
                out[next(names)] = 1
        return out

    def among(self, enum: Enum | None, limit: int, legal: bool = False) -> int:
        """A number up to a limit; one with a name, where an enum gives names."""
        names = [value for value in enum.names if value <= limit] if enum else []
        if names and (legal or not self.rarely()):
            return names[self.source.number(len(names) - 1)]
        if limit < 256:
            return self.source.number(limit)
        width = self.source.number(limit.bit_length())
        return self.source.number((1 << width) - 1)

    def checked(self, value: Any, check: str, others: list[Any]) -> Any:
        """The value, or the first of others that its check lets pass."""
        if not check or not CHECKS[check](value) or self.rarely():
            return value
        return next(other for other in others if not CHECKS[check](other))

    def size(self) -> int:
        """A length: mostly small, at times one whose VLE has two bytes."""
        return self.source.number(12) if self.source.number(31) else 120 + self.source.number(40)

    def text(self) -> str:
        """A text of 255 bytes at most, the least that a field with a length of 8 bits may hold."""
        return "".join(ALPHABET[byte % len(ALPHABET)] for byte in self.source.bytes(min(self.size(), 255 // 4)))

    def level(self, places: tuple[PlacedNode, ...], seen: dict[str, int], out: dict[str, Any]) -> None:
        """Values of the fields of a level."""
        inferred = {name for one in places if isinstance(one.node, Group) for name in conditions.names(one.node.size)}
        for one in places:
            assert not isinstance(one.node, Extension)
            if one.node.when and not conditions.test(one.node.when)(seen):
                continue
            if getattr(one.node, "name", "") not in inferred:
                self.field(one, seen, out)

    def field(self, one: PlacedNode, seen: dict[str, int], out: dict[str, Any]) -> None:
        """The value of one place."""
        node = one.node
        if isinstance(node, Bits):
            bits = self.byte(node.bits, node.check)
            out |= bits
            seen |= {bit.name: bits.get(bit.name, 0) for bit in node.bits}
        elif isinstance(node, Vle) or (isinstance(node, Fixed) and not node.raw):
            out[node.name] = seen[node.name] = self.number(node, seen)
        elif isinstance(node, Fixed):
            size = node.size if isinstance(node.size, int) else conditions.test(node.size)(seen)
            out[node.name] = self.checked(self.source.bytes(size), node.check, [bytes((1,)) * size])
        elif isinstance(node, Text) or (isinstance(node, Rest) and node.text):
            out[node.name] = self.checked(self.text(), node.check, ["a", "tcp/a"])
        elif isinstance(node, Blob | Rest):
            out[node.name] = self.checked(self.source.bytes(self.size()), node.check, [b"\1"])
        elif isinstance(node, Extensions):
            self.chain(one, seen, out)
        elif isinstance(node, Choice):
            self.choice(node, out)
        elif isinstance(node, Repeat):
            self.repeat(one, node, seen, out)
        elif isinstance(node, Group) and node.name:
            out[node.name] = {}
            self.level(one.inside, seen, out[node.name])
        else:
            self.level(one.inside, seen, out)

    def number(self, node: Vle | Fixed, seen: dict[str, int]) -> int:
        """A number, and its bit fields for the conditions."""
        if isinstance(node, Vle) and node.bits:
            value = _joined(node.bits, bits := self.byte(node.bits, ""))
            seen |= {bit.name: bits.get(bit.name, 0) for bit in node.bits}
            return value
        width = node.width if isinstance(node, Vle) else 8 * int(node.size)
        if isinstance(node, Vle) and node.keeps and not self.rarely():
            width = node.keeps
        value = self.among(node.enum, (1 << width) - 1)
        return int(self.checked(value, node.check, list(range(1, 16))))

    def repeat(self, one: PlacedNode, node: Repeat, seen: dict[str, int], out: dict[str, Any]) -> None:
        if isinstance(node.count, str):
            times = conditions.test(node.count)(seen)
        else:
            times = seen[node.count.name] = self.source.number(3)
        turns = []
        for _ in range(times):
            turn: dict[str, Any] = {}
            self.level(one.inside, seen, turn)
            turns.append(next(iter(turn.values())) if len(one.inside) == 1 else turn)
        if times or one.count:
            out[node.name] = turns

    def choice(self, node: Choice, out: dict[str, Any]) -> None:
        """One message, or some; one that takes the rest of the region comes last."""
        times = self.source.number(3 if self.depth < 2 else 2) if node.many else 1
        found = []
        for _ in range(times):
            messages = [one for one in node.messages if one not in node.refused or self.rarely()]
            message = messages[self.source.number(len(messages) - 1)]
            found.append(self.entry(message, {}))
            if _takes_rest(message):
                break
        if found:
            out[node.name] = found if node.many else found[0]

    def chain(self, one: PlacedNode, seen: dict[str, int], out: dict[str, Any]) -> None:
        """Extensions that are known, in the order of the grammar or against it, and others now and then."""
        assert isinstance(one.node, Extensions)
        exts: list[dict[str, Any]] = []
        picked = [inside for inside in one.inside if self.source.number(1)]
        ordered = picked if self.source.number(3) else picked[::-1]
        for inside in self.followed(ordered) if self.clean else ordered:
            assert isinstance(inside.node, Extension)
            ext: dict[str, Any] = {"ext": inside.node.name}
            self.level(inside.inside, seen, ext)
            seen[inside.node.name] = 1
            exts.append(ext)
        if not self.clean and (not exts or self.source.number(7) == 7):
            self.unknown(exts, {ext.key for ext in one.node.known})
        if exts:
            out["extensions"] = exts

    @staticmethod
    def followed(picked: list[PlacedNode]) -> list[PlacedNode]:
        """The same, but that an extension that must stand directly before another does, or isn't there."""
        out: list[PlacedNode] = []
        for one in picked:
            assert isinstance(one.node, Extension)
            if not one.node.before:
                name = one.node.name
                out += [other for other in picked if isinstance(other.node, Extension) and other.node.before == name]
                out.append(one)
        return out

    def unknown(self, exts: list[dict[str, Any]], known: set[int]) -> None:
        """Puts an extension that isn't known somewhere into the chain."""
        ident, enc, mandatory = self.source.number(15), self.source.number(ZBUF), int(self.rarely())
        while enc << 5 | mandatory << 4 | ident in known:
            ident = (ident + 1) & 15
        ext: dict[str, Any] = {"ext": ident, "enc": enc, "mandatory": mandatory}
        if enc != UNIT:
            ext["value"] = self.among(None, (1 << 64) - 1) if enc == Z64 else self.source.bytes(self.size())
        exts.insert(self.source.number(len(exts)), ext)


def mutate(source: ChoiceSource, data: bytes) -> bytes:
    """Bytes after some edits: bytes changed, put in, taken out, cut off or repeated."""
    out = bytearray(data)
    for _ in range(1 + source.number(3)):
        at, size = source.number(len(out)), source.number(4)
        match source.number(5):
            case 0:
                out[at : at + 1] = bytes((out[at] ^ 1 << source.number(7),)) if at < len(out) else b""
            case 1:
                out[at : at + 1] = source.bytes(1)
            case 2:
                out[at:at] = source.bytes(size)
            case 3:
                del out[at : at + size]
            case 4:
                out[at:at] = out[at : at + 8 * size]
            case 5:
                del out[at + size :]
    return bytes(out)


@cache
def _takes_rest(message: Message) -> bool:
    """Whether a field of the message takes all bytes that are left, so that nothing can follow."""
    return any(isinstance(one.node, Rest) for one in level(place(message).inside))


def _joined(bits: tuple[Bit, ...], values: dict[str, int]) -> int:
    """The integer that bit fields make."""
    return sum(values.get(bit.name, 0) << bit.low for bit in bits)
