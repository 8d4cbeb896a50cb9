"""Values that differ from session to session though nothing is different: ids, numbers, times, ZenohIDs, secrets.

Each is replaced by what stands for all of its kind, so that two captures of the same session have the same values.
"""

import re
from collections.abc import Iterable

from zdissect.engine.messages import Row
from zdissect.grammar.field import Field
from zdissect.grammar.primitives import zid_text
from zdissect.grammar.structures import ZID_LEN

NUMBERED = frozenset({
    "sn", "initial_sn", "request_id", "expr_id", "entity_id", "interest_id", "source_eid", "source_sn",
    "responder_eid", "node_id",
})  # fmt: skip
"""Columns of numbers that are given out as a session goes."""
COUNTED = frozenset({
    "sn", "next_sn_reliable", "next_sn_best_effort", "psid", "link", "segment", "index", "generation", "lane",
})  # fmt: skip
"""Names of fields that hold such numbers and have no column."""
SECRET = frozenset({"cookie", "challenge", "nonce", "mac", "modulus", "exponent"})
"""Names of fields with random or secret values."""

TIME, NUMBER, SECRET_TEXT, OTHER_NODE = "<time>", "<number>", "<secret>", "<another node>"
SENDER, RECEIVER = "<sender>", "<receiver>"
"""What stands for values."""

_ADDRESS = re.compile(r"^([a-z-]+)/(?:\[[^\]]*\]|[^/?#:]*)(:\d+)?")
_UNRESOLVED = re.compile(r"^\?\d+")
_LEAST_ZID = 8
"""Digits from which on a ZenohID is looked for in texts: shorter ones may be anything."""


class Names:
    """What stands for the ZenohIDs of a message."""

    def __init__(self, sender: str | None, receiver: str | None, others: Iterable[str] = ()) -> None:
        self.known = dict.fromkeys(others, OTHER_NODE)
        if receiver:
            self.known[receiver] = RECEIVER
        if sender:
            self.known[sender] = SENDER
        long = sorted((zid for zid in self.known if len(zid) >= _LEAST_ZID), key=len, reverse=True)
        self.pattern = re.compile("|".join(map(re.escape, long))) if long else None

    def zid(self, zid: str) -> str:
        """What stands for a ZenohID."""
        return self.known.get(zid, OTHER_NODE)

    def text(self, text: str) -> str:
        """A text in which ZenohIDs that are known are replaced."""
        return text if self.pattern is None else self.pattern.sub(lambda found: self.known[found[0]], text)

    def key(self, key: str | None) -> str:
        """A key expression, as two captures have it alike; empty if there is none."""
        return _UNRESOLVED.sub("?", self.text(key or ""))


def stands_for(field: Field, value: object, names: Names) -> str | None:
    """What stands for a value; None if it is compared as it is.

    Args:
        field: Where it is.
        value: What is there.
        names: What stands for ZenohIDs.
    """
    if field.render == "zid" and isinstance(value, bytes):
        return names.zid(zid_text(value))
    if field.render == "ntp64":
        return TIME
    if field.column in NUMBERED or field.name in COUNTED:
        return NUMBER
    if field.name in SECRET or (field.render == "hex" and not field.check):
        return SECRET_TEXT
    if field.column == "key_scope":
        return "<declared id>" if value else "0"
    if field.check == "locator" and isinstance(value, str):
        return _ADDRESS.sub(lambda found: f"{found[1]}/<address>", value)
    return names.text(value) if isinstance(value, str) else None


def varies(bit: Field) -> bool:
    """Whether a bit field follows from what varies."""
    return bit.name == ZID_LEN.name


def names_of(row: Row, others: Iterable[str]) -> Names:
    """What stands for the ZenohIDs of a message, by its row."""
    return Names(row.get("src_zid") or row.get("zid"), row.get("dst_zid"), others)
