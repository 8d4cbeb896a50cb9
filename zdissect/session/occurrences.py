"""How often something happened, and in which frames first."""

from dataclasses import dataclass, field
from typing import Any

from zdissect.records import Frame

SHOWN = 5
"""Most frames that are named."""


@dataclass(slots=True)
class Occurrences:
    """The occurrences of one kind of event."""

    count: int = 0
    frames: list[int] = field(default_factory=list)
    """Numbers of the first frames."""

    def add(self, frame: Frame) -> None:
        """Counts an occurrence in this frame."""
        self.count += 1
        if len(self.frames) < SHOWN and frame.number not in self.frames:
            self.frames.append(frame.number)

    def merge(self, others: "Occurrences") -> None:
        """Adds occurrences that came later."""
        self.count += others.count
        new = [number for number in others.frames if number not in self.frames]
        self.frames += new[: SHOWN - len(self.frames)]

    def report(self) -> dict[str, Any]:
        """The entry of a report."""
        return {"count": self.count, "frames": self.frames}

    def __str__(self) -> str:
        """`(frames 3, 7, 12, ...)`."""
        more = ", ..." if len(self.frames) == SHOWN < self.count else ""
        return f"(frame{'s' * (len(self.frames) != 1)} {', '.join(map(str, self.frames))}{more})"
