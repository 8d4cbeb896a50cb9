"""Derived fields: what a session adds to a message. They own no bytes, and are shown in brackets.

Each is a column of the message table; the session fills the column, everything else reads it from there.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from zdissect.grammar.registry import Field


class Derived(NamedTuple):
    """A derived field."""

    field: Field
    column: str
    label: str
    """How the tree names it."""
    show: Callable[[Any], str]
    """Its value as text."""


def _frame(value: int) -> str:
    return f"frame {value}"


def _time(value: int) -> str:
    return f"{value / 1_000_000:.3f} ms"


def _frames(value: list[int]) -> str:
    shown = ", ".join(map(str, value[:8]))
    return shown if len(value) <= 8 else f"{shown} ... {value[-1]} ({len(value)} frames)"


def _derived(path: str, column: str, label: str, doc: str, show: Callable[[Any], str] = str) -> Derived:
    return Derived(Field(f"zenoh.{path}", "derived", doc, "zdissect"), column, label, show)


DERIVED = (
    _derived("key_expr", "key_expr", "Key expression", "Full key expression of a message."),
    _derived("key_declared_in", "key_frame", "Declared in", "Frame that declared its prefix or entity.", _frame),
    _derived("request_in", "request_frame", "Request in", "Frame with the request that is answered.", _frame),
    _derived("response_time", "response_time_ns", "Response time", "Time since the request.", _time),
    _derived("interest_in", "interest_frame", "Interest in", "Frame with the interest that is answered.", _frame),
    _derived("node_zid", "node_zid", "Node", "ZenohID of the node that NodeId stands for."),
    _derived("reassembled_from", "fragments", "Reassembled from frames", "Frames with its fragments.", _frames),
    _derived("src_zid", "src_zid", "Source ZID", "ZenohID of the sender."),
    _derived("dst_zid", "dst_zid", "Destination ZID", "ZenohID of the receiver."),
)

SHOWN_ONCE = frozenset({"src_zid", "dst_zid"})
"""Columns that the tree shows once per batch, not once per message."""
