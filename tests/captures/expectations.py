"""What captures hold, counted from their dissection as others counted it before: for expectations by name."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.observed import Observed, Row
from zdissect.capture.capture_file import open_capture
from zdissect.capture.errors import CaptureError
from zdissect.pipeline import dissect
from zdissect.records import Frame

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"
SHARED = ROOT.parent / "shared"
"""Captures that only the developers' machine has."""


def frames_of(paths: Iterable[Path]) -> Iterator[Frame]:
    """The frames of files in order; a file that is cut short gives what it has."""
    for path in paths:
        try:
            with open_capture(str(path)) as capture:
                yield from capture
        except CaptureError:
            continue


@cache
def read(*paths: Path) -> Observed:
    """Dissects a capture once."""
    return Observed(list(dissect(frames_of(paths))))


def kind(row: Row) -> str:
    """How the expectations name a message: `PUSH.PUT`, `RESPONSE.ERR`, `REQUEST`."""
    name, body = row["message"], row.get("reply_body") or row.get("body")
    plain = name == "REQUEST" or body is None
    return name if plain else f"{name}.{body}"


def counts(found: Observed) -> dict[str, Any]:
    """Messages of every kind, and samples by their keys."""
    rows = [row for row in found.rows if not _cut(row)]
    network = [row for row in rows if row["layer"] == "network"]
    out: dict[str, Any] = {
        "transport": Counter(row["message"] for row in rows if row["layer"] != "network"),
        "network": Counter(map(kind, network)),
        "push_puts_per_key": _keys(network, "PUSH.PUT"),
        "push_deletes_per_key": _keys(network, "PUSH.DEL"),
    }
    whole = sum(row["buffer"] == "reassembled" for row in network)
    return {**out, "messages_reassembled_from_fragments": whole}


def _cut(row: Row) -> bool:
    """Whether a message is only the beginning of one: a byte too many may look like that."""
    return any(finding["code"] == "truncated" for finding in row.get("findings", ()))


def _keys(rows: list[Row], name: str) -> Counter[str]:
    return Counter(row["key_expr"] for row in rows if kind(row) == name and row.get("key_expr") is not None)


def agrees(found: Observed, expected: dict[str, Any]) -> None:
    """Compares with an expectation; what it doesn't mention isn't looked at."""
    mine = counts(found)
    for name, value in expected.items():
        if name in mine:
            assert mine[name] == value, name


def severe(found: Observed) -> list[str]:
    """Codes of warnings and errors."""
    return [finding.rule.code for finding in found.findings if finding.rule.severity != "note"]
