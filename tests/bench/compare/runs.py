"""Runs programs and says what they took."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile
from typing import IO, NamedTuple

ROOT = Path(__file__).parents[3]


ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ZDISSECT"))}
"""That of the programs: PYTHONDONTWRITEBYTECODE would add to their start, PYTHONUNBUFFERED to each line they print."""


class Run(NamedTuple):
    """What one run took."""

    processor_s: float
    """Of the user and the system, of all processes together."""
    wall_s: float
    peak_mb: float
    """Resident memory of the largest process, in MB of 10^6 bytes."""


class Failed(Exception):
    """A program that ended with an error."""


def run(command: Sequence[str], stdin: IO[bytes] | None = None) -> Run:
    """Runs a program to its end; what it prints goes nowhere.

    The system counts as a child's memory what its parent had when it was started: this process has to stay small.
    """
    with TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=errors, cwd=ROOT, env=ENVIRONMENT
        )
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        check(command, process.returncode, errors)
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss * unit / 1e6)


def lines(command: Sequence[str]) -> Iterator[str]:
    """What a program prints, line by line: none of it stays in memory."""
    with TemporaryFile() as errors:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, cwd=ROOT, env=ENVIRONMENT) as process:
            assert process.stdout is not None
            yield from (line.decode(errors="replace").rstrip("\n") for line in process.stdout)
        check(command, process.returncode, errors)


def check(command: Sequence[str], code: int, errors: IO[bytes]) -> None:
    """Fails if a program did."""
    if code:
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()[-500:]
        raise Failed(f"{' '.join(command)} ended with {code}: {said}")


class Figure(NamedTuple):
    """The medians of several runs of the same."""

    series: str
    """What it is about: `start` (an almost empty capture), `tools`, `size`, `cores` or `pipe`."""
    tool: str
    shape: str
    form: str
    jobs: int
    """Processes that share the work; 1 unless it is about cores."""
    messages: int
    size: int
    """Bytes of the capture."""
    processor_s: float
    wall_s: float
    peak_mb: float
    spread: float
    """By how much the slowest run took more processor time than the fastest, as a share of the median."""
    recognised: float = 1.0
    """Which share of what was sent the tool took for the protocol."""


def medians(runs: Sequence[Run]) -> tuple[float, float, float, float]:
    """Processor time, wall time, memory and spread."""
    times = [one.processor_s for one in runs]
    middle = median(times)
    spread = (max(times) - min(times)) / middle if middle else 0.0
    return middle, median(one.wall_s for one in runs), median(one.peak_mb for one in runs), spread
