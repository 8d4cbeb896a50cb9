"""Runs `tests.parallel.forced` in a process of its own."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def in_a_process(code: str, *arguments: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


def shared(kind: str, jobs: int, *files: object, block: int = 20) -> int:
    """How often several processes did all, in blocks of some frames, if nothing differs from what one does without
    blocks; and if they have read some on arrays.
    """
    done = in_a_process("from tests.parallel.forced import main; main()", kind, jobs, block, *files)
    assert done.stderr == ""
    *different, last = done.stdout.splitlines()
    assert different == []
    times, usual = map(int, last.split())
    assert usual
    return times
