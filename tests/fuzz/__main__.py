"""`python -m tests.fuzz TARGET --minutes N`: fuzzes a target; `python -m tests.fuzz all` each in turn.

With atheris (`pip install -e '.[fuzz]'`) inputs are guided by the code that they reach; without it, Hypothesis chooses.
A find is written to tests/fuzz/finds/TARGET, where `pytest tests/fuzz` tries it from then on.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.names import NAMES


def main() -> int:
    """Fuzzes; 1 if something was found."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__, formatter_class=form)
    parser.add_argument("target", choices=[*NAMES, "all"])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    asked = parser.parse_args()
    if asked.target == "all":  # atheris ends the process
        same = ["--minutes", str(asked.minutes), "--seed", str(asked.seed)]
        return max(subprocess.call([sys.executable, "-m", "tests.fuzz", name, *same]) for name in NAMES)
    seed = asked.seed or time.time_ns() % (1 << 31)
    print(f"{asked.target}: seed {seed}", flush=True)
    guided = find_spec("atheris") is not None
    return (_guided if guided else _chosen)(asked.target, asked.minutes * 60, seed)


def _guided(name: str, seconds: float, seed: int) -> int:
    """Fuzzes with atheris, which prints how far it is, and ends the process."""
    import atheris

    with atheris.instrument_imports(include=["zdissect", "zdissect_cli"]):
        from tests.fuzz.targets import TARGETS
    from tests.fuzz.corpus import found

    target = TARGETS[name]
    seeds = [*target.seeds(), *found(name)]

    def change(data: bytes, most: int, number: int) -> bytes:
        random = Random(number)
        one = data if data and random.random() < 0.8 else random.choice(seeds)
        return target.change(one, random.choice(seeds), random)[:most]

    def check(data: bytes) -> None:
        try:
            target.check(data)
        except Exception:
            print(f"found: {keep(name, data)}", flush=True)
            raise

    longest = max(map(len, seeds)) + 4096
    options = [f"-max_total_time={round(seconds)}", f"-seed={seed}", f"-max_len={longest}", "-artifact_prefix=/dev/"]
    with tempfile.TemporaryDirectory() as first:
        for number, data in enumerate(seeds):
            Path(first, str(number)).write_bytes(data)
        options += ["-timeout=60", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=0", first]
        atheris.Setup([sys.argv[0], *options], check, custom_mutator=change)
        atheris.Fuzz()
    return 0


def _chosen(name: str, seconds: float, seed: int) -> int:
    """Fuzzes with what Hypothesis chooses: it makes a find smaller, too."""
    from hypothesis import HealthCheck, given, settings
    from hypothesis import seed as seeded
    from hypothesis import strategies as st

    from tests.fuzz.corpus import found
    from tests.fuzz.targets import TARGETS

    target = TARGETS[name]
    seeds = st.sampled_from([*target.seeds(), *found(name)])
    until, count, last = time.monotonic() + seconds, 0, b""

    def check(one: bytes, other: bytes, random: Any) -> None:
        nonlocal count, last
        last = target.change(one, other, random)
        count += 1
        target.check(last)

    some = settings(max_examples=200, deadline=None, database=None, suppress_health_check=[*HealthCheck])
    rounds = 0
    while time.monotonic() < until:
        try:
            seeded(seed + rounds)(some(given(seeds, seeds, st.randoms(use_true_random=False))(check)))()
        except Exception:
            print(f"found: {keep(name, last)}", flush=True)
            raise
        rounds += 1
    print(f"{count} inputs in {seconds / 60:.1f} minutes, nothing found")
    return 0


def keep(name: str, data: bytes) -> str:
    """Writes a find to where it is tried from now on."""
    from tests.fuzz.corpus import FINDS

    path = FINDS / name / f"{hashlib.sha256(data).hexdigest()[:12]}.bin"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


if __name__ == "__main__":
    sys.exit(main())
