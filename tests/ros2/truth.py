"""What ROS 2 applications did, as they saw it, and whether `zdissect ros2 --json` says the same."""

import json
import math
from pathlib import Path
from typing import Any

from tests.cli.listings import run

ROS = Path(__file__).parents[2] / "samples-ros2"
NAMES = sorted(path.stem for path in ROS.glob("*.pcap"))

Entry = dict[str, Any]


def report(*arguments: str | Path) -> Any:
    """What `zdissect ros2 --json` prints."""
    done = run("ros2", "--json", *arguments)
    assert done.exception is None, done.exception
    return json.loads(done.stdout)


def truth(name: str) -> Entry:
    """What the applications of a sample did."""
    found: Entry = json.loads((ROS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def same(want: Any, have: Any) -> bool:
    """Whether a decoded value is what the application gave: floats to six digits, long arrays by their length."""
    if isinstance(want, dict) and "sha256" in want:
        return len(have) == want["len"] if isinstance(have, list) else have["len"] == want["len"]
    if isinstance(want, dict):
        return want.keys() == have.keys() and all(same(value, have[name]) for name, value in want.items())
    if isinstance(want, list):
        return len(want) == len(have) and all(map(same, want, have))
    if isinstance(want, float) or isinstance(have, float):
        return math.isclose(float(want), float(have), rel_tol=1e-5, abs_tol=1e-9) or (want != want and have != have)
    return bool(want == have)


def by(entries: list[Entry], *names: str) -> dict[tuple[Any, ...], Entry]:
    """Entries by some of their values, which no two have in common."""
    out = {tuple(entry[name] for name in names): entry for entry in entries}
    assert len(out) == len(entries)
    return out
