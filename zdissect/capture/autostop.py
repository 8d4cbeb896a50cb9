"""When a capture ends and its next file begins: the conditions of `-a` and `-b`, spelled as in tshark and dumpcap."""

from collections.abc import Iterable
from dataclasses import dataclass

KILO = 1000
"""Bytes of a kB, as dumpcap counts them."""


@dataclass(slots=True)
class Bounds:
    """The limits of a capture, or of one of its files; None where there is no limit."""

    duration: float | None = None
    """Seconds."""
    packets: int | None = None
    """Frames."""
    filesize: int | None = None
    """Size of a file, kB."""
    files: int | None = None
    """Number of files after which a capture ends, or the oldest file is removed."""

    def met(self, seconds: float, packets: int, size: int) -> bool:
        """Whether a capture, or file, that has lasted this long and holds this much is at its end. `size` in bytes."""
        return (
            (self.duration is not None and seconds >= self.duration)
            or (self.packets is not None and packets >= self.packets)
            or (self.filesize is not None and size >= self.filesize * KILO)
        )

    def bounds_a_file(self) -> bool:
        """Whether any of the limits can end a file."""
        return self.duration is not None or self.packets is not None or self.filesize is not None


def bounds_of(conditions: Iterable[str]) -> Bounds:
    """Reads `duration:60`, `packets:1000`, `filesize:10000`, `files:5`. Raises ValueError, which says what is wrong."""
    out = Bounds()
    for condition in conditions:
        name, colon, value = condition.partition(":")
        if not colon or name not in Bounds.__slots__:
            known = ", ".join(f"{known}:N" for known in Bounds.__slots__)
            raise ValueError(f"{condition!r} is none of {known}")
        try:
            number = float(value) if name == "duration" else int(value)
        except ValueError:
            number = 0
        if not 0 < number < 1e15:
            raise ValueError(f"{condition!r}: {value!r} isn't a number above 0")
        setattr(out, name, number)
    return out
