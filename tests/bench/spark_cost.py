"""What `zdissect batch --spark` costs next to `batch`: `python -m tests.bench.spark_cost [-n RUNS] DIR...`.

For each directory of captures, `batch -j 1`, `batch -j 2` and `batch --spark --master 'local[2,2]'` run by turns;
medians are printed. The processor time of each process is what it had when it was last seen, a tenth of a second before
its end at most. Linux only.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
PAUSE_S = 0.05
WAYS = {"-j 1": ["-j", "1"], "-j 2": ["-j", "2"], "--spark": ["--spark", "--master", "local[2,2]"]}
DRIVER, WORKERS, JVM = "driver", "workers", "JVM"


class Cost(NamedTuple):
    """What one run took."""

    start_s: float
    """Until it began to convert: its temporary directory was there."""
    wall_s: float
    """From then on."""
    processor_s: dict[str, float]
    """Of the user and the system, by kind of process."""
    peak_mb: dict[str, float]
    """Resident memory of the largest process of each kind."""


class Seen(NamedTuple):
    """A process, when it was last seen."""

    kind: str
    processor_s: float
    peak_mb: float


def processes(root: int) -> dict[int, Seen]:
    """A process and all that descend from it."""
    found = {}
    parents, seen = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
                status = (entry / "status").read_text()
            except OSError:  # it has ended
                continue
            values = rest.split()
            peak = next((int(line.split()[1]) / 1e3 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)
            pid = int(entry.name)
            parents[pid] = int(values[1])
            seen[pid] = Seen(JVM if name == "java" else WORKERS, (int(values[11]) + int(values[12])) / TICKS, peak)
    below = {root}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    for pid in below & seen.keys():
        found[pid] = seen[pid]._replace(kind=DRIVER) if pid == root else seen[pid]
    return found


def cost(directory: str, way: list[str]) -> Cost:
    """Runs one conversion."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "zdissect_cli", "batch", directory, "-o", f"{place}/out", "-q", *way]
        begun, started = time.perf_counter(), 0.0
        seen: dict[int, Seen] = {}
        process = subprocess.Popen(command)
        while process.poll() is None:
            if not started and any(Path(place).iterdir()):
                started = time.perf_counter()
            for pid, now in processes(process.pid).items():
                before = seen.get(pid, now)
                seen[pid] = now._replace(peak_mb=max(now.peak_mb, before.peak_mb))  # it has none once it has ended
            time.sleep(PAUSE_S)
        ended = time.perf_counter()
        if process.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    processor: dict[str, float] = defaultdict(float)
    peak: dict[str, float] = defaultdict(float)
    for one in seen.values():
        processor[one.kind] += one.processor_s
        peak[one.kind] = max(peak[one.kind], one.peak_mb)
    return Cost(started - begun, ended - started, processor, peak)


def report(directory: str, costs: dict[str, list[Cost]]) -> None:
    """Prints the medians of all ways, and their ratio to `batch -j 1`."""
    print(f"\n{directory}\n{'':8} {'start s':>8} {'wall s':>8} {'processor s':>12} {'ratio':>6}  by kind: s, peak MB")
    least = 0.0
    for way, runs in costs.items():
        total = median(sum(one.processor_s.values()) for one in runs)
        least = least or total
        kinds = [
            f"{kind} {median(one.processor_s.get(kind, 0) for one in runs):.1f} s "
            f"{median(one.peak_mb.get(kind, 0) for one in runs):.0f} MB"
            for kind in (DRIVER, WORKERS, JVM)
            if any(one.processor_s.get(kind) for one in runs)
        ]
        start, wall = median(one.start_s for one in runs), median(one.wall_s for one in runs)
        print(f"{way:8} {start:8.1f} {wall:8.1f} {total:12.1f} {total / least:6.2f}  {', '.join(kinds)}", flush=True)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.spark_cost", description="What --spark costs.")
    parser.add_argument("directories", nargs="+", metavar="DIR")
    parser.add_argument("-n", dest="runs", type=int, default=3, help="runs of each")
    given = parser.parse_args()
    for directory in given.directories:
        costs: dict[str, list[Cost]] = {way: [] for way in WAYS}
        for _ in range(given.runs):
            for way, words in WAYS.items():
                costs[way].append(cost(directory, words))
        report(directory, costs)


if __name__ == "__main__":
    main()
