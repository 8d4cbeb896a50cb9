"""Bit fields that many messages have: flags, and bits that are reserved."""

from zdissect.grammar.types import Bit


def flag(name: str, bit: int, on: str, off: str, column: str = "") -> Bit:
    """A header flag; `on` and `off` word what 1 and 0 mean."""
    return Bit(name, bit, on[0].upper() + on[1:] + ".", says=(off, on), column=column)


def reserved(bit: int, width: int = 1) -> Bit:
    """Bits that must be zero (notes 9, rule 6)."""
    name = "X" if width == 1 else "reserved"
    return Bit(f"{name}{bit}", bit, "Reserved, zero.", width=width, reserved=True)


Z = flag("Z", 7, on="extensions follow", off="no extensions")
