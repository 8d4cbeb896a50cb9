"""How links end: by CLOSE, or with their stream (notes 4.1, 4.2 and 4.6)."""

from collections.abc import Iterator

from zdissect.dissection import Dissection, Notice
from zdissect.engine.messages import DecodedMessage
from zdissect.records import Frame
from zdissect.session.liveness import Pulse
from zdissect.session.model import Link

REFUSED = "handshake-refused"


def close(link: Link, message: DecodedMessage, item: Dissection) -> bool:
    """Takes a CLOSE; returns whether it refuses a handshake."""
    link.handshake.ends[item.direction].closed = True
    reason = message.row.get("close_reason")
    if reason not in (None, "GENERIC"):
        message.remark("close-reason", f"closed with {reason}", "close.reason")
    pulse, lease_ms = heard(link, 1 - item.direction)
    if reason == "EXPIRED" and lease_ms:
        pulse.expired(message, item.frame.now_ns, lease_ms)
    text = link.refused(1)
    if text:
        message.remark(REFUSED, f"refused: the {text}")
    return bool(text)


def hang_up(link: Link, direction: int, frame: Frame) -> Iterator[Notice]:
    """Takes a stream that ends without a CLOSE: after silence of the other side, after a refusal, or by choice."""
    pulse, lease_ms = heard(link, 1 - direction)
    if lease_ms and pulse.silent_ms(frame.now_ns) >= lease_ms and (text := pulse.exceeded(frame.now_ns, lease_ms)):
        yield Notice(frame, link.flow, 1 - direction, text, "lease-exceeded")
    if text := link.refused(0):
        yield Notice(frame, link.flow, direction, f"the connection ends: the {text}", REFUSED)


def heard(link: Link, direction: int) -> tuple[Pulse, int]:
    """When a side was last heard, and its lease, which is 0 if it isn't known how long the side was silent."""
    pulse, lease_ms = link.pulses[direction], link.handshake.ends[direction].lease_ms
    return pulse, 0 if pulse.last_ns < 0 or link.gaps[direction] else lease_ms or 0
