"""How reading ends where it can't go on, and the words for it."""

from zdissect.grammar.field import Field


class Malformed(Exception):
    """Reading can't go on in this region. `at` is where the bytes begin that no field owns."""

    def __init__(self, at: int, code: str = "", text: str = "", short: bool = False) -> None:
        super().__init__(text)
        self.at = at
        self.code = code
        self.text = text
        self.short = short
        """Bytes were missing: no error of its own where the region was cut."""


def count(number: int) -> str:
    return "1 byte" if number == 1 else f"{number} bytes"


def named(field: Field) -> str:
    return field.path.removeprefix("zenoh.")


def called(field: Field) -> str:
    """The name of a number in a text; one that is all that an extension or a group holds has theirs."""
    if field.name not in ("value", "number"):
        return field.name
    return field.path.split(".")[-2].removeprefix("ext_")


def short_of(field: Field, pos: int, stop: int, size: int = 1) -> Malformed:
    """A field of which not a byte, or not all of a fixed size, is there."""
    if size > 1 and pos < stop:
        return Malformed(pos, "truncated", f"{field.name} needs {count(size)}, {stop - pos} left", short=True)
    return Malformed(pos, "truncated", f"{field.name} is missing", short=True)
