"""The one table of colours, in three themes. No two kinds differ by red and green alone; findings say what they are."""

from typing import NamedTuple


class Style(NamedTuple):
    """What comes before and after each kind of text; all empty without colour."""

    offset: str = ""
    raw: str = ""
    bits: str = ""
    message: str = ""
    name: str = ""
    value: str = ""
    dim: str = ""
    derived: str = ""
    frame: str = ""
    note: str = ""
    warning: str = ""
    error: str = ""
    data: str = ""
    query: str = ""
    declaration: str = ""
    transport: str = ""
    forth: str = ""
    """Who opened the conversation speaks; `back`: the other side."""
    back: str = ""
    end: str = ""
    fields: tuple[str, ...] = ("",)
    """The colours that take turns for fields whose bytes are dumped."""

    def severity(self, severity: str) -> str:
        """The colour of a finding."""
        return str(getattr(self, severity))


PLAIN = Style()
COLOUR = Style(
    offset="\x1b[2m",
    raw="\x1b[36m",
    bits="\x1b[2m",
    message="\x1b[1;34m",
    name="",
    value="\x1b[32m",
    dim="\x1b[2m",
    derived="\x1b[35m",
    frame="\x1b[1m",
    note="\x1b[36m",
    warning="\x1b[1;33m",
    error="\x1b[1;31m",
    data="\x1b[1;34m",
    query="\x1b[1;36m",
    declaration="\x1b[35m",
    transport="\x1b[2m",
    forth="\x1b[36m",
    back="\x1b[33m",
    end="\x1b[0m",
    fields=("\x1b[36m", "\x1b[33m", "\x1b[35m", "\x1b[32m", "\x1b[34m", "\x1b[1;36m", "\x1b[1;33m", "\x1b[1;35m"),
)
"""The 16 colours of the terminal, whatever it makes of them."""


def _on(number: int, bold: bool = False) -> str:
    """A colour of the 256 that all terminals have alike."""
    return f"\x1b[{'1;' if bold else ''}38;5;{number}m"


_DARK = Style(
    offset=_on(245),
    raw=_on(110),
    bits=_on(245),
    message=_on(117, True),
    name="",
    value=_on(115),
    dim=_on(245),
    derived=_on(182),
    frame="\x1b[1m",
    note=_on(117),
    warning=_on(227, True),
    error="\x1b[1;38;5;231;48;5;160m",
    data=_on(117, True),
    query=_on(215, True),
    declaration=_on(182),
    transport=_on(245),
    forth=_on(110),
    back=_on(180),
    end="\x1b[0m",
    fields=(*map(_on, (110, 180, 182, 115, 117, 227)), _on(110, True), _on(180, True)),
)
_LIGHT = Style(
    offset=_on(242),
    raw=_on(24),
    bits=_on(242),
    message=_on(25, True),
    name="",
    value=_on(23),
    dim=_on(242),
    derived=_on(90),
    frame="\x1b[1m",
    note=_on(25),
    warning="\x1b[1;38;5;16;48;5;221m",
    error="\x1b[1;38;5;231;48;5;160m",
    data=_on(25, True),
    query=_on(130, True),
    declaration=_on(90),
    transport=_on(242),
    forth=_on(24),
    back=_on(94),
    end="\x1b[0m",
    fields=(*map(_on, (24, 94, 90, 23, 25, 130)), _on(24, True), _on(94, True)),
)
THEMES = {"ansi": COLOUR, "dark": _DARK, "light": _LIGHT}
"""The colours are apart for those who see few, too: blue, orange and purple, light or dark as the background isn't."""
