"""Kinds of usual messages: what is found out once for all that share a row, in one direction of a connection."""

from typing import NamedTuple

from zdissect.engine.templates import Template


class UsualKind(NamedTuple):
    """What messages have in common that share a row, in one direction of a connection."""

    template: Template
    """Has the columns that they share; those that it leaves open are in columns of `UsualBatches`."""
    way: int
    """Index in `UsualBatches.ways`."""
    batch: int
    """The first batch with such a message."""


class Tally(NamedTuple):
    """How many messages of a kind there are."""

    messages: int
    size: int
    """Their bytes."""
    payloads: int
    """Bytes of their payloads."""
    last: int
    """The index of the last one in `UsualBatches`."""
