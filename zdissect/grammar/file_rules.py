"""Findings about capture files themselves. Only `zdissect batch` makes them, because its tables have rows for files
that can't be read; everywhere else an unreadable file is an error message.
"""

from zdissect.grammar.rule import CAPTURE, ERROR, WARNING, Rule

FILE_RULES = (
    Rule(
        "capture-cut", WARNING, CAPTURE,
        "The file ends in the middle of a record. Everything before it was read. Copy the file again once the capture "
        "has been stopped.",
        "capture",
    ),
    Rule(
        "capture-damaged", ERROR, CAPTURE,
        "The file has an invalid record. Everything before it was read; what follows can't be located.",
        "capture",
    ),
    Rule(
        "capture-unreadable", ERROR, CAPTURE,
        "The file can't be opened, or isn't a capture. None of it is in the tables.",
        "capture",
    ),
    Rule(
        "capture-failed", ERROR, CAPTURE,
        "The process that converted the file died, or hit a bug in zdissect. The tables don't hold all of the file.",
        "capture",
    ),
)  # fmt: skip
"""Codes are `capture-` and the status of the file in the table `captures`."""
