"""Checks of values, made ready for programs: the named checks of the grammar, and enums that allow no other value."""

from collections.abc import Callable
from typing import Any

from zdissect.grammar.checks import CHECKS, Verdict
from zdissect.grammar.types import Bit, Enum

Check = Callable[[Any], Verdict]


def value_check(node: Any, bits: tuple[Bit, ...] = ()) -> Check | None:
    """The check of a value: its named check, and its enum if that is strict."""
    named = CHECKS[node.check] if node.check else None
    enum = getattr(node, "enum", None)
    if enum is not None and enum.strict:
        return lambda value: None if value in enum.names else _nameless(enum, value)
    of_bits = bits_check(bits)
    if named and of_bits:
        return lambda value: named(value) or of_bits(value)
    return named or of_bits


def _nameless(enum: Enum, value: int) -> Verdict:
    """The finding about a value that has no name but must have one."""
    read = f": receivers read {enum.otherwise}" if enum.otherwise else ""
    return enum.strict, f"{value} isn't a known {enum.title}{read}"


def bits_check(bits: tuple[Bit, ...]) -> Check | None:
    """The check of all strict enums among bit fields; None if there are none."""
    strict = [(bit.low, (1 << bit.width) - 1, bit.enum) for bit in bits if bit.enum is not None and bit.enum.strict]
    if not strict:
        return None

    def check(value: int) -> Verdict:
        for low, mask, enum in strict:
            if value >> low & mask not in enum.names:
                return _nameless(enum, value >> low & mask)
        return None

    return check
