"""Proves that the tests would notice: plants each fault in a copy of the package, and runs the tests on it.

    python tests/mutants/run.py             all faults, some minutes
    python tests/mutants/run.py gaps widths     some of them

It prints a line for each: `killed`, with the test that failed, or `survived`. It ends with 1 if any survived, or if the
tests fail without a fault. `test_faults.py` beside it, part of the suite, sees that each fault can still be planted.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.mutants.fault import Fault  # noqa: E402
from tests.mutants.faults import FAULTS  # noqa: E402

TESTS = ("tests/vector/test_walk.py", "tests/engine/test_lazy_messages.py", "tests/engine/test_messages.py",
         "tests/session/test_usual_messages.py", "tests/export/test_message_batches.py",
         "tests/output/test_jsonl.py", "tests/cli/test_forms_of_templates.py",
         "tests/output/test_stencils.py", "tests/output/test_row_cells.py", "tests/filters/test_row_selection.py",
         "tests/stats/test_usual_counts.py", "tests/stats/test_activity.py", "tests/cli/test_forms_of_blocks.py",
         "tests/vector/test_courses.py", "tests/vector/test_blocks.py")  # fmt: skip
SECONDS = 300
"""How long tests may take before a fault counts as found because they don't end; or..."""
TIMES = 4
"""... so many times as long as they take without a fault, if that is longer."""


def main(names: list[str]) -> int:
    """The exit code."""
    unknown = set(names) - {fault.name for fault in FAULTS}
    if unknown:
        print(f"no such fault: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    with TemporaryDirectory() as place:
        copy = Path(place)
        for name in ("zdissect", "tests", "samples", "pyproject.toml"):
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
        for name in ("cli", "zdissect_cli"):  # not what is installed, which may change meanwhile
            shutil.copytree(ROOT / "cli", copy / name)
        chosen = [fault for fault in FAULTS if not names or fault.name in names]
        most_s: dict[tuple[str, ...], float] = {}
        for tests in {fault.tests: None for fault in chosen}:
            begun_s = time.monotonic()
            if (first := failing(copy, tests, SECONDS * TIMES)) is not None:
                print(f"the tests fail without a fault: {first}", file=sys.stderr)
                return 1
            most_s[tests] = max(SECONDS, TIMES * (time.monotonic() - begun_s))
        survived = [fault.name for fault in chosen if survives(copy, fault, most_s[fault.tests])]
    print(f"{len(survived)} survived")
    return int(bool(survived))


def survives(copy: Path, fault: Fault, most_s: float) -> bool:
    """Whether all tests pass in spite of a fault; says so."""
    file = copy / "zdissect" / fault.file
    source = file.read_text()
    file.write_text(source.replace(fault.before, fault.after))
    first = failing(copy, fault.tests, most_s)
    file.write_text(source)
    print(
        f"survived  {fault.name}: {fault.why}" if first is None else f"killed    {fault.name}  by {first}", flush=True
    )
    return first is None


def failing(copy: Path, tests: tuple[str, ...], most_s: float) -> str | None:
    """The first test that fails, of those named or else of the fast ways of reading; None if none does."""
    env = os.environ | {"PYTHONPATH": str(copy), "CI": "true", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-n", "0", *(tests or TESTS)]
    try:
        done = subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, timeout=most_s, check=False)
    except subprocess.TimeoutExpired:
        return f"no end after {most_s:.0f} s"
    if done.returncode == 0:
        return None
    found = re.search(r"^(?:FAILED|ERROR) tests/(\S+)", done.stdout, re.MULTILINE)
    return found[1] if found else (done.stdout + done.stderr)[-500:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
