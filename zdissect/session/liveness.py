"""Leases: how long a side was silent (notes 4.6)."""

from dataclasses import dataclass

from zdissect.engine.messages import Message

SLACK_MS = 500
"""Delay of the network and of timers that is forgiven."""


@dataclass(slots=True)
class Pulse:
    """When one side of a link was last heard."""

    last_ns: int = -1

    def feed(self, message: Message, ts_ns: int, lease_ms: int | None) -> None:
        """Takes the first message of a batch."""
        last, self.last_ns = self.last_ns, ts_ns
        if last < 0 or not lease_ms:
            return
        silent_ms = (ts_ns - last) // 1_000_000
        if silent_ms > lease_ms + SLACK_MS:
            message.remark("lease-exceeded", f"silent for {silent_ms} ms, its lease is {lease_ms} ms")
        elif silent_ms > lease_ms // 3 + SLACK_MS and message.row["message"] != "CLOSE":
            message.remark("keep-alive-late", f"silent for {silent_ms} ms, its lease is {lease_ms} ms")
