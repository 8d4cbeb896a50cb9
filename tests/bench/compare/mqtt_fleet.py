"""The same fleet over MQTT 3.1.1, for which tshark and scapy have dissectors of their own."""

from struct import pack

from tests.bench.compare.links import CaptureFile, Link
from tests.bench.compare.shapes import ROBOTS, Exchange, Parcel, Sample
from tests.conversation import CLIENT, ROUTER

PORT = 1883
CONNACK, DISCONNECT = bytes((0x20, 2, 0, 0)), bytes((0xE0, 0))


class MqttFleet:
    """Connections of all robots with one broker; every sample is a PUBLISH of QoS 0."""

    def __init__(self, capture: CaptureFile) -> None:
        self.links = [Link(capture, (CLIENT, ROUTER), robot, PORT) for robot in range(ROBOTS)]
        for robot, link in enumerate(self.links):
            link.raw(0, connect(f"robot{robot}")).raw(1, CONNACK)

    def say(self, what: Parcel | Exchange) -> int:
        """Sends it; the number of MQTT packets in it. MQTT has no queries: those are left out."""
        if isinstance(what, Exchange):
            return 0
        self.links[what.robot].raw(what.side, b"".join(publish(sample) for sample in what.samples))
        return len(what.samples)

    def close(self) -> None:
        """Ends all connections."""
        for link in self.links:
            link.raw(0, DISCONNECT).hang_up()


def connect(client: str) -> bytes:
    """CONNECT with a clean session and 60 s of keep alive."""
    body = b"\0\4MQTT\4\2" + pack(">H", 60) + _text(client)
    return b"\x10" + _length(len(body)) + body


def publish(sample: Sample) -> bytes:
    """PUBLISH of QoS 0."""
    body = _text(sample.key) + sample.payload
    return b"\x30" + _length(len(body)) + body


def _text(text: str) -> bytes:
    return pack(">H", len(text)) + text.encode()


def _length(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes((*out, value))
