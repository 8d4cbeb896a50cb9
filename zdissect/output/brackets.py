"""What the session knows of a message: lines in brackets below that of its header."""

from collections.abc import Iterator

from zdissect.engine.messages import Row
from zdissect.grammar.derived import SHOWN, SHOWN_ONCE
from zdissect.output.answers import answers
from zdissect.output.text import prose, safe, unresolved

_SHOWN = tuple((field.column, field.label, field.show) for field in SHOWN if field.column not in SHOWN_ONCE)
"""What is said of each message: column, label, and how its value becomes text."""


def brackets(row: Row, folded: bool = False) -> Iterator[str]:
    """What is said of a message, in lines; of a folded one its key."""
    for column, label, show in _SHOWN[:1] if folded else _SHOWN:
        if column in row and (value := row[column]) is not None:
            yield f"{label}: {safe(show(value))}"
    if "ros2" in row and not folded:
        from zdissect.ros2.naming import told_lines  # slow to load, and few messages are of ROS 2

        yield from map(prose, told_lines(row["ros2"]))
    if "answered" in row and not folded:
        yield from answers(row)
    if "key_scope" in row and row.get("key_expr") is None:
        yield f"Key expression: {unresolved(row)}, not declared in the capture"
