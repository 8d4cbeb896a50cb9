"""How reading ends where it can't go on, and the words for it."""

from zdissect.grammar.field import Field


class Malformed(Exception):
    """Reading can't go on in this region. The bytes from `at` on belong to no field."""

    def __init__(self, at: int, code: str = "", text: str = "", short: bool = False) -> None:
        super().__init__(text)
        self.at = at
        self.code = code
        self.text = text
        self.short = short
        """Whether bytes were missing, which isn't an error if the region was cut off."""


def count(number: int) -> str:
    return "1 byte" if number == 1 else f"{number} bytes"


def named(field: Field) -> str:
    return field.path.removeprefix("zenoh.")


def called(field: Field) -> str:
    """The name of a number, for texts; the only number in an extension or group goes by its name."""
    if field.name not in ("value", "number"):
        return field.name
    return field.path.split(".")[-2].removeprefix("ext_")


def short_of(field: Field, pos: int, stop: int, size: int = 1) -> Malformed:
    """The error for a field that is missing, or shorter than its fixed size."""
    if size > 1 and pos < stop:
        return Malformed(pos, "truncated", f"{field.name} needs {count(size)}, {stop - pos} left", short=True)
    return Malformed(pos, "truncated", f"{field.name} is missing", short=True)
