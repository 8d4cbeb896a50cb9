"""Derived fields: facts that follow from several messages. They own no bytes, and are shown in brackets.

This is the only table of them. From it come their entries in the registry (`registry.fields`), and so what the names of
other tools (`aliases`) stand for; the brackets of the tree and `derived` of `-T json`; `zdissect fields` and `explain`;
and docs/fields.md. The value of each is a column of the message table, which the session fills; everything else reads
it from there.

A field that is `ahead` depends on later messages, and has no column: the session looks back, never ahead. Only an
output that reads the capture twice has its value.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


class Derived(NamedTuple):
    """A derived field."""

    path: str
    """Full name: `zenoh.key_expr`."""
    type: str
    """The type of its column; `none` for a name that only tests for presence."""
    doc: str
    column: str
    """The column of the message table with its value; empty if there is none."""
    label: str = ""
    """How the tree names it; empty if it isn't shown."""
    show: Callable[[Any], str] = str
    """Its value as text."""
    ahead: bool = False
    """Whether it depends on later messages, so that it takes a second pass over the capture."""


def _frame(value: int) -> str:
    return f"frame {value}"


def _time(value: int) -> str:
    return f"{value / 1_000_000:.3f} ms"


def _frames(value: list[int]) -> str:
    shown = ", ".join(map(str, value[:8]))
    return shown if len(value) <= 8 else f"{shown} ... {value[-1]} ({len(value)} frames)"


DERIVED = (
    Derived("zenoh", "none", "Anything of the Zenoh protocol.", ""),
    Derived("zenoh.key_expr", "string", "Full key expression of a message.", "key_expr", "Key expression"),
    Derived("zenoh.key_declared_in", "int64", "Frame that declared its prefix or entity.", "key_frame",
            "Declared in", _frame),
    Derived("zenoh.request_in", "int64", "Frame with the request that is answered.", "request_frame",
            "Request in", _frame),
    Derived("zenoh.response_time", "int64", "Time since the request, nanoseconds.", "response_time_ns",
            "Response time", _time),
    Derived("zenoh.request.response_in", "int64",
            "Frame with the first answer to a request. Takes a second pass over the capture, as it comes later.", "",
            ahead=True),
    Derived("zenoh.request.final_in", "int64", "Frame with the RESPONSE_FINAL to a request.", "", ahead=True),
    Derived("zenoh.request.answered", "bool", "Whether the capture has an answer to a request.", "", ahead=True),
    Derived("zenoh.request.answer_time", "int64", "Time from a request to its first answer, nanoseconds.", "",
            ahead=True),
    Derived("zenoh.interest_in", "int64", "Frame with the interest that is answered.", "interest_frame",
            "Interest in", _frame),
    Derived("zenoh.node_zid", "string", "ZenohID of the node that NodeId stands for.", "node_zid", "Node"),
    Derived("zenoh.reassembled_from", "list<int64>", "Frames with its fragments.", "fragments",
            "Reassembled from frames", _frames),
    Derived("zenoh.src_zid", "string", "ZenohID of the sender.", "src_zid", "Source ZID"),
    Derived("zenoh.dst_zid", "string", "ZenohID of the receiver.", "dst_zid", "Destination ZID"),
)  # fmt: skip

SHOWN = tuple(field for field in DERIVED if field.column)
"""The derived fields that have a column in the message table."""

SHOWN_ONCE = frozenset({"src_zid", "dst_zid"})
"""Columns that the tree shows once per batch, not once per message."""
