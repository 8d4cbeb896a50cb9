"""What an expert would say of a capture of ROS 2: a problem, with the evidence for it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

MOST_FRAMES = 16
"""Frames that are named as evidence of one problem."""

KINDS = {
    "domain-mismatch": "error", "type-mismatch": "error", "hash-mismatch": "error", "name-mismatch": "warning",
    "qos-mismatch": "warning", "no-publisher": "warning", "no-subscriber": "note", "service-no-server": "error",
    "action-no-server": "error", "service-error": "error", "service-timeout": "error", "service-late": "error",
    "service-two-servers": "warning", "parameter-refused": "warning", "action-rejected": "warning",
    "action-cancelled": "note", "action-aborted": "error", "loss": "error", "clock-skew": "warning",
    "attachment-mismatch": "error", "no-attachment": "error", "node-gone": "error", "duplicate-node": "warning",
    "discovery-missing": "error", "no-router": "note", "old-tokens": "warning",
}  # fmt: skip
"""Kinds of problems, and how bad each is. docs/ros2.md says what they mean."""


class Problem(NamedTuple):
    """A problem."""

    kind: str
    subject: str
    """What it is about: `topic`, `service`, `action`, `node`, or empty."""
    name: str
    domain: int | None
    text: str
    frames: tuple[int, ...] = ()
    more: tuple[tuple[str, Any], ...] = ()
    """Further members in JSON."""

    @property
    def severity(self) -> str:
        """`error`, `warning` or `note`."""
        return KINDS[self.kind]

    def entry(self) -> dict[str, Any]:
        """As JSON has it."""
        subject = {self.subject: self.name} if self.subject else {}
        return {
            "kind": self.kind, "severity": self.severity, **subject, "domain": self.domain, "text": self.text,
            "frames": list(self.frames), **dict(self.more),
        }  # fmt: skip


def few(frames: Iterable[int]) -> tuple[int, ...]:
    """The first frames, in order, each once."""
    return tuple(sorted({*frames})[:MOST_FRAMES])


def listed(names: Iterable[str], most: int = 4) -> str:
    """`/a, /b and 3 more`."""
    every = list(dict.fromkeys(names))
    if len(every) <= most:
        return " and ".join(filter(None, [", ".join(every[:-1]), every[-1]])) if every else ""
    return f"{', '.join(every[:most])} and {len(every) - most} more"
