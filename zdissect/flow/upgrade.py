"""The HTTP heads by which a connection becomes a WebSocket one (RFC 6455, 4).

They aren't read by `h11`, which is made for the ends of a connection: it reads an answer only after a request of its
own, refuses a head with one damaged field or without Host, and takes seconds for a head full of blanks.
"""

MOST_HEAD = 1 << 16
"""Bytes of the longest HTTP head that is waited for."""
BLANK = b"\r\n\r\n"
_STARTS = (b"GET ", b"HTTP/1.1 ")


def is_upgrade(head: bytes) -> bool | None:
    """Whether bytes start with the HTTP head, of a request or a response, of an upgrade to WebSocket.

    None if that depends on bytes to come.
    """
    if not may_be_head(head):
        return False
    end = head.find(BLANK)
    if end < 0:
        return None if len(head) < MOST_HEAD else False
    ours = head.startswith(b"GET ") or head[9:12] == b"101"
    return ours and b"websocket" in [
        protocol.strip().lower() for protocol in header(head[:end], b"upgrade").split(b",")
    ]


def may_be_head(head: bytes | bytearray) -> bool:
    """Whether bytes are, or may become, the start of an HTTP head."""
    return any(head.startswith(start) or start.startswith(head) for start in _STARTS)


def header(head: bytes, name: bytes) -> bytes:
    """Value of a header of an HTTP head; empty if it has none."""
    lines = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    return b",".join(value.strip() for key, _, value in lines if key.strip().lower() == name)
