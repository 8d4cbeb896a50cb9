"""What no rule can see: what is encrypted, what the capture lacks, what only one side is there of."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from zdissect.flow.unopened import noteworthy
from zdissect.flow.verdict import Verdict
from zdissect.grammar.checks import VERSION
from zdissect.grammar.rules import RULES
from zdissect.listing.listing import Entry
from zdissect.pipeline import Pipeline

ENCRYPTED = (Verdict.TLS, Verdict.QUIC, Verdict.DTLS)
"""What Zenoh may be inside of, and can't be read."""

HANDSHAKE = "handshake"
"""The handshake of a session isn't in the capture, or not all of it."""
ONE_DIRECTION = "one-direction"
"""Only one side of a session is in the capture."""

OTHER_VERSION = "other-version"
"""A session of another version of the protocol, whose messages may mean something else."""

_HANDSHAKES = {
    "none": "the handshake isn't in the capture: what was agreed on isn't known, so no rule about resolution, batch "
    "size, lease, QoS or first sequence numbers applies",
    "partial": "only a part of the handshake is in the capture, or it was never completed: what was agreed on may not "
    "be known",
}


def _entry(what: str, text: str, count: int = 1) -> Entry:
    return {"what": what, "count": count, "text": text}


def of_capture(pipeline: Pipeline, lacks: Counter[str]) -> list[Entry]:
    """What can't be seen of a capture as a whole.

    Args:
        pipeline: After its end.
        lacks: What the capture lacks outside of sessions, by rule.

    Returns:
        A list of `what` (`encrypted`, `unopened`, or a rule about captures), `count` and `text`.
    """
    out = []
    others = pipeline.others()
    for verdict in ENCRYPTED:
        if count := others[verdict.value]:
            what = "conversation is" if count == 1 else "conversations are"
            text = f"{count} {what} {verdict.value}: whatever is in there is encrypted"
            out.append(_entry("encrypted", text, count))
    for what, frames in noteworthy(pipeline.decoder.unopened.total()).items():
        out.append(_entry("unopened", f"{frames} {'frame' if frames == 1 else 'frames'} not opened: {what}", frames))
    return [*out, *_lacking(lacks)]


def of_session(session: dict[str, Any], lacks: Counter[str]) -> list[Entry]:
    """What can't be seen of a session, an entry of `SessionStats.report`. Returns the same as `of_capture`."""
    out: list[Entry] = []
    versions = [end["version"] for end in session["ends"] if end["version"] not in (None, VERSION)]
    if versions:
        text = f"protocol version 0x{versions[0]:02x}: the rules of 0x{VERSION:02x} don't apply to its messages"
        out.append(_entry(OTHER_VERSION, text))
    if session["handshake"] in _HANDSHAKES:
        out.append(_entry(HANDSHAKE, _HANDSHAKES[session["handshake"]]))
    silent = [end for end in session["ends"] if not end["messages"]]
    if len(silent) == 1 and session["handshake"] != "join":
        text = "only one direction has messages in the capture: nothing is known of what the other side said"
        out.append(_entry(ONE_DIRECTION, text))
    if size := session["skipped_bytes"]:
        out.append(_entry("skipped", f"{size} bytes couldn't be read as batches", size))
    return [*out, *_lacking(lacks)]


def _lacking(lacks: Counter[str]) -> Iterator[Entry]:
    """What the findings about the capture say."""
    for code, count in sorted(lacks.items()):
        first = RULES[code].text.partition(". ")[0].rstrip(".")
        text = first if first[1].isupper() else f"{first[0].lower()}{first[1:]}"
        yield _entry(code, text if count == 1 else f"{text} ({count} times)", count)
