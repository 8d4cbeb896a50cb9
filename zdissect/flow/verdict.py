"""What a conversation may turn out to be."""

from enum import Enum


class Verdict(Enum):
    """What a conversation is."""

    ZENOH = "Zenoh"
    MIDDLE = "Zenoh, from the middle of a stream"
    TLS = "TLS"
    QUIC = "QUIC"
    HTTP = "HTTP"
    WEBSOCKET = "WebSocket"
    TEXT = "WebSocket without Zenoh, where it was expected"
    REMOTE_API = "WebSocket (remote API of zenoh-ts)"
    SSH = "SSH"
    MQTT = "MQTT"
    DTLS = "DTLS"
    DNS = "DNS"
    STUN = "STUN"
    RTPS = "RTPS (DDS)"
    NTP = "NTP"
    SSDP = "SSDP"
    WIREGUARD = "WireGuard"
    MAVLINK = "MAVLink"
    SOMEIP = "SOME/IP"
    OTHER = "not Zenoh"
    UNDECIDED = "undecided"
