"""The input of the encoder: values are taken one by one and checked, and none may be left unused."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any


class EncodeError(ValueError):
    """Values that can't be written. `path` names the value, such as `PUSH.body.payload`."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class EncoderInput:
    """The values of one level, and which of them were used."""

    def __init__(self, values: Any, path: str) -> None:
        if not isinstance(values, Mapping):
            raise EncodeError(path, f"takes a dict, not {values!r}")
        self.values = {name: value for name, value in values.items() if value is not None}
        self.path = path
        self.used: set[str] = set()

    def at(self, name: str) -> str:
        """The path of a value."""
        return f"{self.path}.{name}"

    def take(self, name: str) -> Any:
        """A value, or None."""
        self.used.add(name)
        return self.values.get(name)

    def need(self, name: str) -> Any:
        """A value that must be there."""
        value = self.take(name)
        if value is None:
            raise EncodeError(self.at(name), "is missing")
        return value

    def finish(self, names: Sequence[str]) -> None:
        """Refuses values that no field took; `names` are the names that are allowed here."""
        for name, value in self.values.items():
            if name in self.used:
                continue
            if name in names:
                if value in ([], ()):
                    continue
                raise EncodeError(self.at(name), "is given, but by the flags and earlier fields it isn't present")
            near = get_close_matches(str(name), {*names, *self.used}, 1)
            raise EncodeError(self.at(name), "no such field here" + (f"; did you mean {near[0]}?" if near else ""))


def items(value: Any, path: str) -> Sequence[Any]:
    """A list; empty if the value isn't given."""
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise EncodeError(path, f"takes a list, not {value!r}")
    return value


def number(value: Any, width: int, path: str) -> int:
    """An unsigned integer of at most `width` bits."""
    if not isinstance(value, int):
        raise EncodeError(path, f"takes a number, not {value!r}")
    if value < 0 or value >> width:
        raise EncodeError(path, f"{value} doesn't fit in {width} bit{'s' * (width > 1)}")
    return int(value)


def content(value: Any, path: str) -> bytes:
    """Bytes, or the bytes of a text; bytes that weren't UTF-8 on the wire are restored."""
    if isinstance(value, str):
        try:
            return value.encode(errors="surrogateescape")
        except UnicodeEncodeError as problem:
            raise EncodeError(path, f"isn't text: {problem.reason}") from None
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise EncodeError(path, f"takes bytes or text, not {value!r}")
