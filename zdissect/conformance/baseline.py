"""What was known before: violations by a fingerprint that doesn't change from one capture to the next.

It is made of the rule, of who broke it (opener or acceptor, role), with which message, at which field; not of frames,
times, ZenohIDs, numbers or keys.
"""

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from zdissect.listing.listing import Entry

_FORMAT = "zdissect-baseline"
_VERSION = 1
_MEMBERS = ("rule", "side", "role", "message", "field")
"""Members of a violation that a fingerprint is made of."""


class BaselineError(ValueError):
    """A text that isn't a baseline, and why."""


def fingerprint(violation: Entry) -> str:
    """The fingerprint of a violation: 16 hexadecimal digits."""
    text = "\0".join(str(violation[name] or "") for name in _MEMBERS)
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def written(violations: Iterable[Entry]) -> Entry:
    """The baseline that has these violations, as JSON has it: each once, in an order that doesn't change."""
    known = {one["fingerprint"]: one for one in violations}
    ordered = sorted(known.values(), key=lambda one: [one[name] or "" for name in _MEMBERS])
    entries = [{name: one[name] for name in (*_MEMBERS, "fingerprint")} for one in ordered]
    return {"format": _FORMAT, "version": _VERSION, "violations": entries}


def read(text: str) -> dict[str, Entry]:
    """The violations in a baseline, by their fingerprints. Raises BaselineError."""
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise BaselineError(f"it isn't JSON: {problem}") from None
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise BaselineError("it isn't a baseline: `zdissect check --write-baseline FILE` writes one")
    if found.get("version") != _VERSION:
        raise BaselineError(f"its version is {found.get('version')!r}, and this reads version {_VERSION}")
    entries = found.get("violations")
    if not isinstance(entries, list) or not all(_is_entry(one) for one in entries):
        raise BaselineError("`violations` isn't a list of objects with a `fingerprint` each")
    return {one["fingerprint"]: one for one in entries}


def _is_entry(one: object) -> bool:
    return isinstance(one, dict) and isinstance(one.get("fingerprint"), str) and isinstance(one.get("rule"), str)


def mark(violations: Iterable[Entry], known: dict[str, Entry]) -> list[Entry]:
    """Marks the violations that a baseline has; returns those of the baseline that weren't found."""
    seen = set()
    for one in violations:
        one["known"] = one["fingerprint"] in known
        seen.add(one["fingerprint"])
    return [entry for name, entry in known.items() if name not in seen]
