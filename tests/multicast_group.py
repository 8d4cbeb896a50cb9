"""What isn't said on a link of two nodes: multicast groups and scouting, for tests."""

from dataclasses import dataclass, field
from typing import Any, Self

from tests.packets import SECOND, CaptureBuilder, Parties, udp_packet
from zdissect.engine.encoder import encode
from zdissect.flow.framing import DATAGRAM
from zdissect.grammar.batch import BATCH, SCOUTING_DATAGRAM

Values = dict[str, Any]


@dataclass
class MulticastGroup:
    """Nodes that talk to a multicast group."""

    capture: CaptureBuilder = field(default_factory=CaptureBuilder)

    def send(self, node: int, *messages: Values) -> Self:
        """A datagram of a member to the group."""
        parties = Parties((f"10.0.0.{node + 1}", "224.0.0.225"), (50000 + node, 7450))
        self.capture.record(udp_packet(parties, 0, encode(BATCH, {"messages": list(messages)}, **DATAGRAM.inputs)))
        return self

    def join(self, node: int, sn: int = 100, zid: bytes | None = None, **values: Any) -> Self:
        """A JOIN."""
        lease = {"T": 1, "lease": 10, "next_sn_reliable": sn, "next_sn_best_effort": sn}
        own = {"message": "JOIN", "version": 9, "zid": zid or bytes((node + 1, 0xAA)), "whatami": 1}
        return self.send(node, {**own, **lease, "extensions": [{"ext": "patch", "value": 1}], **values})

    def wait(self, seconds: float) -> Self:
        """Lets time pass."""
        self.capture.now_ns += int(seconds * SECOND)
        return self


def scouting(parties: Parties, side: int, capture: CaptureBuilder, **message: Any) -> None:
    """A scouting datagram."""
    capture.record(udp_packet(parties, side, encode(SCOUTING_DATAGRAM, {"messages": [message]})))
