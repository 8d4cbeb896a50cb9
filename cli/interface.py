"""Frames of an interface as a command gets them: until a condition is met, a signal comes, or nobody reads any more."""

import select
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType, TracebackType

import click

from zdissect.capture.autostop import Bounds, bounds_of
from zdissect.capture.errors import CaptureError, UsageProblem
from zdissect.capture.live import Live
from zdissect.capture.ring import Ring
from zdissect.records import Frame

from .options import LiveOptions

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_S = 0.25
"""Seconds after which it is looked at what may end a capture without a frame."""


class Interface:
    """The frames of an interface, as a context; with the questions that may be asked of `Captures`.

    Iterating over it gives None where nothing has come for a while. Raises click.UsageError for what makes no sense.
    """

    live = endless = True

    def __init__(self, options: LiveOptions, limit: int | None) -> None:
        self.given = options.interface or ""
        self.capture_filter = options.capture_filter
        self.limit = limit
        self.until, bounds = _conditions("-a", options.autostop), _conditions("-b", options.ring)
        _check(options, self.until, bounds)
        self.path, self.bounds = options.write, bounds
        self.frames = 0
        self.problems: list[CaptureError] = []
        self.signal = 0
        """The signal that ended it; 0: none."""
        self.capture: Live | None = None
        self.ring: Ring | None = None
        self.before: dict[int, object] = {}
        self.poll = select.poll()

    def __enter__(self) -> "Interface":
        """Starts to capture. From now on a first signal ends the capture, a second one the program."""
        try:
            self.capture = Live(self.given, self.capture_filter)
            self.ring = Ring(self.path, self.bounds) if self.path else None
        except BaseException as problem:
            self.close()
            if isinstance(problem, UsageProblem):
                raise click.UsageError(str(problem)) from None
            if not isinstance(problem, CaptureError):
                raise
            self.problems.append(problem)
        self.begun_s = time.monotonic()
        for number in _SIGNALS:
            self.before[number] = signal.signal(number, self.end)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
        for number, handler in self.before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def end(self, number: int, _: FrameType | None) -> None:
        """Takes a signal."""
        self.signal = number
        signal.signal(number, self.before[number])  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Frame | None]:
        if self.capture is None or self.problems:
            return
        looked_s = self.begun_s
        try:
            for frame in self.capture:
                if frame is not None:
                    if self.ring is not None:
                        self.ring.write(frame)
                    self.frames += 1
                yield frame
                now_s = time.monotonic()
                if self.signal or self.frames == self.limit or self.ended(now_s):
                    break
                if now_s - looked_s >= _LOOK_S:
                    looked_s = now_s
                    self.look()
        except CaptureError as problem:
            self.problems.append(problem)
        finally:
            self.close()

    def ended(self, now_s: float) -> bool:
        """Whether a condition of `-a` is met."""
        until, ring = self.until, self.ring
        if until.met(now_s - self.begun_s, self.frames, ring.size if ring is not None else 0):
            return True
        return until.files is not None and ring is not None and ring.number >= until.files and ring.full()

    def look(self) -> None:
        """Ends if nobody reads the output any more; lets others read what was written."""
        if self.ring is not None:
            self.ring.flush()
        try:
            self.poll.register(sys.stdout.fileno(), 0)
        except (OSError, ValueError):  # it has no descriptor: it is no pipe
            return
        if any(event & select.POLLERR for _, event in self.poll.poll(0)):
            raise BrokenPipeError

    @property
    def now_ns(self) -> int | None:
        """The time that it surely is by the clock of the capture; None before any frame."""
        return self.capture.now_ns if self.capture is not None else None

    def close(self) -> None:
        """Ends the capture, if it goes on."""
        if self.capture is not None:
            self.capture.stop()
        if self.ring is not None:
            self.ring.close()

    def greeting(self) -> str:
        """What is said when it has begun; empty if it hasn't."""
        if self.capture is None:
            return ""
        return f"capturing on {self.capture.interface} with {self.capture.program}; Ctrl-C ends it"

    def summary(self) -> str:
        """What is said at the end; empty if it has never begun."""
        if self.capture is None:
            return ""
        lost = self.capture.dropped
        more = f"; {lost} more were lost because they came too fast; a capture filter (-f) may help" if lost else ""
        return f"{self.frames} frames captured on {self.capture.interface}{more}"


def _conditions(option: str, given: tuple[str, ...]) -> Bounds:
    try:
        return bounds_of(given)
    except ValueError as problem:
        raise click.BadParameter(str(problem), param_hint=repr(option)) from None


def _check(options: LiveOptions, until: Bounds, bounds: Bounds) -> None:
    """Refuses conditions that can't be met."""
    if options.ring and not options.write:
        raise click.UsageError("-b needs -w FILE: it is about the files that are written")
    if until.filesize is not None and not options.write:
        raise click.UsageError("-a filesize needs -w FILE: it is about the file that is written")
    if (until.files is not None or bounds.files is not None) and not bounds.bounds_a_file():
        raise click.UsageError("files:N needs -b with a condition that ends a file, such as -b filesize:10000")
