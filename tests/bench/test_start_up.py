"""Processor time of each command from start to end, on a small capture. Run with `pytest tests/bench/test_start_up.py`.

Aims: 150 ms for hex, fields and explain, 250 ms for all others, where the bare interpreter takes 15 ms.
"""

import os
import subprocess
import sys

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from tests.test_start_up import COMMANDS

MOST_S = {"hex": 0.150, "fields": 0.150, "explain": 0.150}
OTHERS_S = 0.250
SLACK = 4
"""A machine may be so much slower, and busy, before it counts as a failure."""


def processor_time(arguments: tuple[str, ...]) -> float:
    """Seconds of the processor that one run takes, those of the system included."""
    with subprocess.Popen(
        [sys.executable, "-m", "zdissect_cli", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("name", COMMANDS)
def test_start_up(benchmark: BenchmarkFixture, name: str) -> None:
    arguments = COMMANDS[name][0]
    took = [processor_time(arguments) for _ in range(3)]
    benchmark.extra_info["processor_ms"] = round(1000 * min(took))
    benchmark.pedantic(processor_time, (arguments,), rounds=1)
    assert min(took) < SLACK * MOST_S.get(name, OTHERS_S)
