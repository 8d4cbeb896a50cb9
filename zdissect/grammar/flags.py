"""Bit fields that many messages have: their id, flags, and bits that are reserved."""

from zdissect.grammar.types import Bit

ID_BITS = 0x1F
"""The bits of a message's header byte that hold its id; its flags are above them."""


def named(bits: tuple[Bit, ...], name: str) -> Bit:
    """The bit field with a name, among several."""
    return next(bit for bit in bits if bit.name == name)


def flag(name: str, bit: int, on: str, off: str, column: str = "") -> Bit:
    """A header flag; `on` and `off` word what 1 and 0 mean."""
    return Bit(name, bit, on[0].upper() + on[1:] + ".", says=(off, on), column=column)


def reserved(bit: int, width: int = 1) -> Bit:
    """Bits that must be zero (notes 9, rule 6)."""
    name = "X" if width == 1 else "reserved"
    return Bit(f"{name}{bit}", bit, "Reserved, zero.", width=width, reserved=True)


Z = flag("Z", 7, on="extensions follow", off="no extensions")
