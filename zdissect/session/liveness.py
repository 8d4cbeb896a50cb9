"""Leases: how long a side was silent (notes 4.6)."""

from dataclasses import dataclass

from zdissect.engine.messages import DecodedMessage
from zdissect.session.deadlines import due

SLACK_MS = 500
"""Tolerated delay of the network and of timers."""
OTHER_SIDE = "the other side"
"""A finding begins with it that is about what a message's receiver awaits, or doesn't say."""
OTHER = f"{OTHER_SIDE} was "


def late_ms(lease_ms: int) -> int:
    """The longest silence that is usual: signs of life are due several times in a lease."""
    return lease_ms // 3 + SLACK_MS


@dataclass(slots=True)
class Pulse:
    """When one side of a link was last heard."""

    last_ns: int = -1
    watched: bool = False
    """Whether its silence will be checked when its lease is over."""
    overdue: bool = False
    """Whether its silence was reported."""

    def silent_ms(self, now_ns: int) -> int:
        """How long it has been silent."""
        return (now_ns - self.last_ns) // 1_000_000

    def due_ns(self, lease_ms: int) -> int | None:
        """When its silence will have lasted too long; None if that never happens, or if it was never heard."""
        return None if self.last_ns < 0 else due(self.last_ns, lease_ms, SLACK_MS)

    def feed(self, message: DecodedMessage, ts_ns: int, lease_ms: int | None) -> None:
        """Takes the first message of a batch."""
        last, self.last_ns = self.last_ns, ts_ns
        reported, self.overdue = self.overdue, False
        if last < 0 or not lease_ms or reported:
            return
        silent_ms = (ts_ns - last) // 1_000_000
        if silent_ms > lease_ms + SLACK_MS:
            message.remark("lease-exceeded", f"silent for {silent_ms} ms, its lease is {lease_ms} ms")
        elif silent_ms > late_ms(lease_ms) and message.row["message"] != "CLOSE":
            message.remark("keep-alive-late", f"silent for {silent_ms} ms, its lease is {lease_ms} ms")

    def exceeded(self, now_ns: int, lease_ms: int, who: str = "") -> str:
        """What is wrong with its ongoing silence, once; empty if nothing is."""
        if self.overdue:
            return ""
        self.overdue = True
        return f"{who}silent for {self.silent_ms(now_ns)} ms, its lease is {lease_ms} ms"

    def expired(self, message: DecodedMessage, now_ns: int, lease_ms: int) -> None:
        """Takes a CLOSE in which the other side says that this one was silent for too long."""
        silent_ms = self.silent_ms(now_ns)
        if silent_ms < lease_ms:
            text = f"{OTHER}silent for {silent_ms} ms, but its lease is {lease_ms} ms: another lease was applied"
            message.remark("expired-early", text, "close.reason")
        elif text := self.exceeded(now_ns, lease_ms, OTHER):
            message.remark("lease-exceeded", text)
