"""WebSocket connections: the HTTP head by which they begin, and the frame headers between what is dissected."""

import re
from collections.abc import Callable

from zdissect.anonymize.texts import Texts

_LINE = re.compile(rb"([^\r\n]*)(\r?\n)")
_NEEDED = frozenset({b"upgrade", b"connection", b"sec-websocket-version", b"content-length"})
"""HTTP headers whose values stay."""
_REQUEST = re.compile(rb"(GET )(.*)( HTTP/1\.[01])")
_RESPONSE = re.compile(rb"(HTTP/1\.[01] \d{3})(.*)")
_MASKED, _SIZE, _LONG, _VERY_LONG, _CONTROL = 0x80, 0x7F, 126, 127, 8


def head(data: bytes, texts: Texts) -> bytes:
    """Another HTTP head of the same length: its lines, the names of its headers, and what an upgrade needs stay."""
    out, end = b"", 0
    for index, match in enumerate(_LINE.finditer(data)):
        out += (_field(match[1], texts) if index else _first(match[1], texts)) + match[2]
        end = match.end()
    return out + _other(data[end:], texts)


def _first(line: bytes, texts: Texts) -> bytes:
    request, response = _REQUEST.fullmatch(line), _RESPONSE.fullmatch(line)
    if request:
        return request[1] + _other(request[2], texts) + request[3]
    return response[1] + _other(response[2], texts) if response else _other(line, texts)


def _field(line: bytes, texts: Texts) -> bytes:
    name, colon, value = line.partition(b":")
    return line if name.lower() in _NEEDED else name + colon + _other(value, texts)


def _other(data: bytes, texts: Texts) -> bytes:
    return texts.text(data.decode(errors="surrogateescape"), "http").encode(errors="surrogateescape")


def frame_header(data: bytes) -> int:
    """Bytes of the frame header that the bytes begin with, its mask included; 0 if they are too few."""
    if len(data) < 2:
        return 0
    size = 2 + {_LONG: 2, _VERY_LONG: 8}.get(data[1] & _SIZE, 0) + (4 if data[1] & _MASKED else 0)
    return size if len(data) >= size else 0


def payload_size(data: bytes) -> int:
    """Bytes of the payload of the frame whose header the bytes begin with."""
    size = data[1] & _SIZE
    return int.from_bytes(data[2:4]) if size == _LONG else int.from_bytes(data[2:10]) if size == _VERY_LONG else size


def other_frame(data: bytes) -> bytes:
    """A frame that isn't Zenoh, with nothing in it: its header, for a close its code, then zeros as they are masked."""
    size = frame_header(data)
    if not size:
        return bytes(len(data))
    mask = data[size - 4 : size] if data[1] & _MASKED else bytes(4)
    body = bytes(mask[index % 4] for index in range(len(data) - size))
    kept = 2 if data[0] & 15 == _CONTROL else 0
    return data[: size + kept] + body[kept:]


def headers(read: Callable[[int, int], bytes], write: Callable[[int, bytes], None], start: int, stop: int) -> int:
    """Writes the frame headers of a piece of a stream again; where that ends, which is before `stop` if bytes lack.

    Args:
        read: Gives so many bytes from a stream offset on, fewer where they aren't there.
        write: Takes bytes for a stream offset.
    """
    while start < stop:
        data = read(start, 14)
        size = frame_header(data)
        if not size:
            break
        write(start, data[:size])
        start += size + payload_size(data)
    return start
