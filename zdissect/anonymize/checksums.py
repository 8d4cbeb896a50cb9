"""Checksums of IP, TCP and UDP (RFC 1071)."""

IPV4_SUM, TCP_SUM, UDP_SUM = 10, 16, 6
"""Where the checksum stands in each header."""
_PROTOCOLS = {TCP_SUM: 6, UDP_SUM: 17}


def checksum(*parts: bytes) -> int:
    """The checksum of bytes, which are in order; all but the last have an even number."""
    total = sum(int.from_bytes(part + b"\0" * (len(part) % 2)) % 0xFFFF for part in parts) % 0xFFFF
    return 0xFFFF - total if total or not any(map(any, parts)) else 0


def set_ipv4(data: bytearray, start: int, body: int) -> None:
    """Sets the checksum of an IPv4 header."""
    at = start + IPV4_SUM
    data[at : at + 2] = bytes(2)
    data[at : at + 2] = checksum(bytes(data[start:body])).to_bytes(2)


def pseudo_header(addresses: bytes, size: int, place: int) -> bytes:
    """What counts besides a TCP segment or UDP datagram; `place`: where its checksum stands."""
    if len(addresses) == 8:
        return addresses + bytes([0, _PROTOCOLS[place]]) + (size & 0xFFFF).to_bytes(2)
    return addresses + size.to_bytes(4) + bytes([0, 0, 0, _PROTOCOLS[place]])


def transport(addresses: bytes, content: bytes, place: int) -> bytes:
    """The checksum of a TCP segment or UDP datagram, whose own stands at `place` and isn't counted."""
    blank = content[:place] + bytes(2) + content[place + 2 :]
    return (checksum(pseudo_header(addresses, len(content), place), blank) or 0xFFFF * (place == UDP_SUM)).to_bytes(2)
