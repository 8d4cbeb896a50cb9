"""The one table of colours."""

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
