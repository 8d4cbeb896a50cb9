"""Checks of single messages against the session's parameters and the clock (notes 9)."""

from typing import Any

from zdissect.engine.messages import DecodedMessage, Row
from zdissect.grammar.enums import DATA
from zdissect.grammar.primitives import ntp64_ns
from zdissect.grammar.short_cache import LONGEST, short_cache
from zdissect.records import Frame
from zdissect.session import keyexprs
from zdissect.session.handshake import Parameters

_DATA = bytes([DATA])

FAR_NS = 3600 * 10**9
"""Difference from the clock of the capture beyond which a timestamp gets a note."""
_NEAR_S = FAR_NS // 10**9 - 1
"""Difference in whole seconds up to which a timestamp is certainly within that."""
MOST_KEYS = 10_000
"""Keys whose newest sample a session remembers."""
_SHOWN = 80
"""Characters of a longer one that a finding shows."""


def key(message: DecodedMessage) -> None:
    """Notes 9, rule 45: key expressions are valid and canonical; those of answers have no wildcards."""
    row = message.row
    text = row.get("key_expr")
    if text is None or (text == "" and not row.get("key_scope")):
        return
    problem = _fault(text)
    if problem:
        message.remark("invalid-keyexpr", f"'{shown(text)}' {problem}", key_field(row, "suffix"))
    elif row["message"] == "RESPONSE" and keyexprs.has_wildcard(text):
        message.remark("wildcard-reply", f"{shown(text)} has a wildcard", key_field(row, "suffix"))


def key_field(row: Row, name: str) -> str:
    """The field `name` of the message or declaration that holds the wire expression."""
    owner: str = row.get("body", "") if row["message"] == "DECLARE" else row["message"]
    return f"{owner.lower()}.{name}"


def shown(text: str | None) -> str:
    """A key in a finding: the beginning of a long one."""
    return str(text) if text is None or len(text) <= LONGEST else f"{text[:_SHOWN]}..."


@short_cache(1 << 14)
def _fault(text: str) -> str:
    """What is wrong with a key expression; empty if nothing is."""
    problem = keyexprs.check(text)
    if problem is not None:
        return f"isn't valid: {problem}"
    return "" if keyexprs.is_canonical(text) else f"isn't canonical: {shown(keyexprs.canonical(text))}"


def shared_memory(message: DecodedMessage, agreed: Parameters | None) -> None:
    """Notes 9, rule 55: payloads are in shared memory only where that was negotiated."""
    if agreed is None or agreed.shm:
        return
    for ext in message.row.get("extensions", ()):
        if ext["name"] in ("shm", "body_shm"):
            message.remark("shm-unnegotiated", "shared memory wasn't negotiated on this session")


def defaults(message: DecodedMessage) -> None:
    """Notes 9, rule 57: defaults written out, and QoS left out where the pages give another default (13 no. 3)."""
    row = message.row
    written_out = []
    has_qos = False
    if "extensions" in row:
        for ext in row["extensions"]:
            if ext["name"] == "qos":
                has_qos = True
                if ext["value"] == _DATA:
                    written_out.append(f"QoS {DATA}")
    if row.get("node_id") == 0:
        written_out.append("NodeId 0")
    if row.get("consolidation") == "Auto":
        written_out.append("consolidation Auto")
    if row.get("encoding_value") == 0 and row.get("body") != "QUERY":  # which always writes the encoding of its body
        written_out.append("encoding 0")
    for what in written_out:
        message.remark("explicit-default", f"{what} is the default")
    if not has_qos and row["message"] in ("REQUEST", "DECLARE", "INTEREST"):
        message.remark("no-qos", f"{row['message']} without QoS: Data, Drop")


def sample_of(row: Row) -> tuple[str, str] | None:
    """Key and clock of a sample, which is a PUSH whose key is known; None for anything else."""
    if row["message"] != "PUSH" or row.get("key_expr") is None:
        return None
    return row["key_expr"], row.get("timestamp_id", "")


def near(stamp_s: Any, time_s: Any) -> Any:
    """Whether a timestamp is certainly near the clock of the capture, both in whole seconds; or arrays of them."""
    return abs(stamp_s - time_s) < _NEAR_S


class Timestamps:
    """Notes 9, rule 56: timestamps far from the capture's clock, and samples older than the one before on the same key
    and session.
    """

    def __init__(self) -> None:
        self.newest: dict[tuple[str, str], int] = {}
        self.size = 0
        """The memory that they take."""

    def take(self, sample: tuple[str, str], stamp: int) -> bool:
        """Takes the timestamp of a sample; returns whether it is at least as new as the one before."""
        if stamp < self.newest.get(sample, 0):
            return False
        if sample in self.newest:
            self.newest[sample] = stamp
        elif len(self.newest) < MOST_KEYS:
            self.newest[sample] = stamp
            self.size += 250 + len(sample[0])
        return True

    def shrink(self) -> None:
        """Forgets all, because there is too much to be remembered."""
        self.newest.clear()
        self.size = 0

    def feed(self, message: DecodedMessage, frame: Frame) -> None:
        """Takes a message that may have a timestamp. After a leap of the capture's clock, either time may be right."""
        row = message.row
        stamp = row.get("timestamp_ntp64")
        if stamp is None:
            return
        at = f"{(row.get('reply_body') or row.get('body') or '').lower()}.timestamp.time"
        time_ns = ntp64_ns(stamp)
        away = min(time_ns - frame.ts_ns, time_ns - frame.now_ns, key=abs)
        if frame.ts_ns and abs(away) > FAR_NS:
            message.remark("timestamp-far", f"{away // 10**9} s from the time of the capture", at)
        sample = sample_of(row)
        if sample is not None and not self.take(sample, stamp):
            message.remark("timestamp-older", "older than the sample before it on this key", at)
