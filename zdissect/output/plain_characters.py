"""What is shown where an encoding lacks a character: a likeness in ASCII for those that the output is drawn with."""

import codecs

_LIKE = {
    "→": ">", "←": "<", "─": "-", "━": "=", "│": "|", "┃": "|", "…": "~", "µ": "u", "×": "x", "–": "-", "·": ".",
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╯╰┏┓┗┛┡┩╇╈╞╡╪", "+"), **dict(zip("▁▂▃▄▅▆▇█", "_.-=+*%#", strict=True)),
}  # fmt: skip

HANDLER = "zdissect-plain"
"""The name of the error handler for streams."""


def _plain(problem: UnicodeError) -> tuple[str | bytes, int]:
    """The likeness of what can't be encoded, or else its escape."""
    assert isinstance(problem, UnicodeEncodeError)
    text = problem.object[problem.start : problem.end]
    return "".join(_LIKE.get(char) or _escaped(char) for char in text), problem.end


def _escaped(char: str) -> str:
    return char.encode("ascii", "backslashreplace").decode()


codecs.register_error(HANDLER, _plain)
