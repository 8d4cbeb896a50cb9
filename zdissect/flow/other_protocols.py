"""Recognises other protocols by the form of their messages, so that traffic on Zenoh's ports isn't taken for Zenoh.

Each form is one that Zenoh doesn't have: a magic number, or lengths and counts that fit to the last byte.
"""

import re

from zdissect.flow.verdict import Verdict

_HTTP = tuple(
    word.encode()
    for word in ("GET ", "PUT ", "POST ", "HEAD ", "OPTIONS ", "DELETE ", "PATCH ", "HTTP/1.", "PRI * HTTP/2.0\r\n")
)
_SSDP = (b"M-SEARCH * HTTP/1.1\r\n", b"NOTIFY * HTTP/1.1\r\n", b"HTTP/1.1 200 OK\r\n")
_QUIC_VERSIONS = (0x00000001, 0x6B3343CF)
_QUIC_SHORT = 21
"""Bytes of the shortest QUIC packet (RFC 9000, 10.3)."""
_DNS_HEADER = 12
_DNS_MOST = 512
"""Most records of a message that is looked at."""
_NTP_SIZES = (48, 52, 68, 72)
"""Sizes of a message: the header alone, or with a key id and a digest."""
_WIREGUARD = {1: 148, 2: 92, 3: 64}
_REMOTE_JSON = re.compile(rb'\s*\{\s*"(Control|Data)"\s*:')
_REMOTE_PING = re.compile(rb"\x99\0{4}|[\x80-\xff].{4}\x24[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.DOTALL)
"""The ping that a client of the remote API sends first, and its answer with a UUID as text."""


def of_stream(data: bytes) -> Verdict | None:
    """The protocol that the first bytes of a stream belong to; None for any other."""
    if data[:2] == b"\x16\x03" and len(data) > 5 and data[5] in (1, 2):
        return Verdict.TLS
    if data.startswith(_HTTP):
        return Verdict.HTTP
    if data.startswith(b"SSH-"):
        return Verdict.SSH
    if data[:1] == b"\x10" and data[2:9] in (b"\x00\x04MQTT\x04", b"\x00\x04MQTT\x05"):
        return Verdict.MQTT
    return None


def of_datagram(data: bytes, *, cut: bool = False) -> Verdict | None:
    """The protocol that a datagram has the form of; None for any other.

    Args:
        cut: Its end isn't in the capture.
    """
    if len(data) < 8:
        return None
    if is_quic(data):
        return Verdict.QUIC
    if data.startswith((b"RTPS", b"RTPX")):
        return Verdict.RTPS
    if data.startswith(_SSDP):
        return Verdict.SSDP
    if data[4:8] == b"\x21\x12\xa4\x42" and data[0] < 64 and _size(data, 2, 20) in (len(data), cut and -1):
        return Verdict.STUN
    if is_dtls(data, cut):
        return Verdict.DTLS
    if is_dns(data, cut):
        return Verdict.DNS
    if is_ntp(data):
        return Verdict.NTP
    if data[1:4] == bytes(3) and _WIREGUARD.get(data[0]) == len(data):
        return Verdict.WIREGUARD
    if is_mavlink(data):
        return Verdict.MAVLINK
    if int.from_bytes(data[4:8]) == len(data) - 8 and len(data) >= 16 and data[12] == 1:
        return Verdict.SOMEIP
    return None


def is_remote_api(message: bytes) -> bool:
    """Whether the first message of a WebSocket is from zenoh-plugin-remote-api, which has a protocol of its own."""
    return bool(_REMOTE_JSON.match(message) or _REMOTE_PING.fullmatch(message))


def is_quic(data: bytes) -> bool:
    """Whether a datagram has QUIC's long header (RFC 9000, 17.2) of a released version, a draft or a negotiation."""
    if len(data) < 7 or not data[0] & 0x80:
        return False
    version = int.from_bytes(data[1:5], "big")
    return version in _QUIC_VERSIONS or version >> 8 == 0xFF0000 or (version == 0 and len(data) > 14)


def may_be_quic(data: bytes) -> bool:
    """Whether a datagram may be one from the middle of a QUIC connection, whose short header says next to nothing."""
    return len(data) >= _QUIC_SHORT and data[0] & 0xC0 == 0x40


def is_dtls(data: bytes, cut: bool) -> bool:
    """Whether a datagram is made of DTLS records (RFC 6347, 4.1)."""
    at = 0
    while at < len(data):
        if len(data) - at < 13:
            return cut and at > 0
        if not 20 <= data[at] <= 26 or data[at + 1 : at + 3] not in (b"\xfe\xff", b"\xfe\xfd"):
            return False
        at += 13 + int.from_bytes(data[at + 11 : at + 13])
    return at == len(data) or cut


def is_dns(data: bytes, cut: bool) -> bool:
    """Whether a datagram is a DNS message (RFC 1035, 4.1; mDNS and LLMNR have the same form), to its last byte."""
    if len(data) < _DNS_HEADER or data[2] >> 3 & 15 > 6 or data[3] & 0x40:
        return False
    questions, *others = (int.from_bytes(data[at : at + 2]) for at in (4, 6, 8, 10))
    records = sum(others)
    if not questions + records or questions + records > _DNS_MOST:
        return False
    at = _DNS_HEADER
    for number in range(questions + records):
        at = _name_end(data, at)
        if at < 0:
            return False
        at += 4
        if number >= questions:
            at += 6 + int.from_bytes(data[at + 4 : at + 6])
        if at > len(data):
            return cut
    return at == len(data)


def _name_end(data: bytes, at: int) -> int:
    """Where a domain name ends; -1 if there is none. A name that is cut off ends after the data."""
    while at < len(data):
        size = data[at]
        if size >= 0xC0:
            return at + 2
        if size > 63:
            return -1
        at += 1 + size
        if not size:
            return at
    return len(data) + 1


def is_ntp(data: bytes) -> bool:
    """Whether a datagram is an NTP message (RFC 5905, 7.3)."""
    return (
        len(data) in _NTP_SIZES
        and 1 <= data[0] >> 3 & 7 <= 4
        and 1 <= data[0] & 7 <= 5
        and data[1] <= 16
        and data[2] <= 17
        and (data[3] >= 0xE0 or not data[3])
    )


def is_mavlink(data: bytes) -> bool:
    """Whether a datagram is a MAVLink message, of version 1 or 2."""
    if data[0] == 0xFE:
        return len(data) == 8 + data[1]
    return data[0] == 0xFD and data[2] <= 1 and len(data) == 12 + data[1] + 13 * (data[2] & 1)


def _size(data: bytes, at: int, more: int) -> int:
    """Size of a datagram according to a length in it, of two bytes in network order."""
    return more + int.from_bytes(data[at : at + 2])
