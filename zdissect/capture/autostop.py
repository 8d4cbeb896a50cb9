"""When a capture ends and its next file begins: the conditions of `-a` and `-b`, spelled as in tshark and dumpcap."""

from collections.abc import Iterable
from dataclasses import dataclass

KILO = 1000
"""Bytes of a kB, as dumpcap counts them."""


@dataclass(slots=True)
class Bounds:
    """What bounds a capture, or one of its files. None: nothing of that kind does."""

    duration: float | None = None
    """Seconds."""
    packets: int | None = None
    """Frames."""
    filesize: int | None = None
    """Size of a file, kB."""
    files: int | None = None
    """Files: after so many a capture ends, or the oldest goes."""

    def met(self, seconds: float, packets: int, size: int) -> bool:
        """Whether a capture, or file, that has lasted so long and holds so much is at its end. `size` in bytes."""
        return (
            (self.duration is not None and seconds >= self.duration)
            or (self.packets is not None and packets >= self.packets)
            or (self.filesize is not None and size >= self.filesize * KILO)
        )

    def bounds_a_file(self) -> bool:
        """Whether anything ends a file."""
        return self.duration is not None or self.packets is not None or self.filesize is not None


def bounds_of(given: Iterable[str]) -> Bounds:
    """Reads `duration:60`, `packets:1000`, `filesize:10000`, `files:5`. Raises ValueError with a text that helps."""
    out = Bounds()
    for one in given:
        name, colon, value = one.partition(":")
        if not colon or name not in Bounds.__slots__:
            known = ", ".join(f"{known}:N" for known in Bounds.__slots__)
            raise ValueError(f"{one!r} is none of {known}")
        try:
            number = float(value) if name == "duration" else int(value)
        except ValueError:
            number = 0
        if not 0 < number < 1e15:
            raise ValueError(f"{one!r}: {value!r} is no number above 0")
        setattr(out, name, number)
    return out
