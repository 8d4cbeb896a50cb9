"""The errors of this layer: a capture that can't be read, or can't be made."""

from enum import Enum


class Defect(Enum):
    """What is wrong with a capture."""

    UNREADABLE = "unreadable"
    """There is no such capture, or it can't be read (any further)."""
    CUT = "cut"
    """It ends too early."""
    DAMAGED = "damaged"
    """Something in it can't be right."""


class CaptureError(Exception):
    """A capture that cannot be read, or not to its end.

    `path` is the name that the user gave (`-` for standard input). `message` says what is wrong, where (record and byte
    offset) and what to do about it. The text of the exception is both.
    """

    def __init__(self, path: str, message: str, kind: Defect = Defect.UNREADABLE) -> None:
        super().__init__(path, message, kind)  # all, so that it can be pickled on its way from another process
        self.path = path
        self.message = message
        self.kind = kind

    def __str__(self) -> str:
        return f"{'standard input' if self.path == '-' else self.path}: {self.message}"


class UsageProblem(CaptureError):
    """The request makes no sense here: there is no such interface, or the capture filter has an error in it."""


class Forbidden(CaptureError):
    """This user may not capture."""
