"""What overwrites bytes that aren't understood."""

from zdissect.flow.verdict import Verdict

ZEROS, ONES = b"\0", b"\xff"
"""Ones overwrite whole payloads: as a length they are more than most batches have, so nothing is read into them."""

MARKS = {
    Verdict.TLS: b"\x16\x03\x01\xff\xff\x01", Verdict.HTTP: b"HTTP/1.", Verdict.SSH: b"SSH-",
    Verdict.MQTT: b"\x10\xff\0\x04MQTT\x04",
}  # fmt: skip
"""How connections that aren't Zenoh begin, so that they aren't taken for it when they are overwritten."""


def differing(new: bytes, first: bytes, again: bytes) -> bytes:
    """New bytes for a copy: other ones where the copy has others than what was copied."""
    if first == again:
        return new
    return bytes(n if a == b else n ^ 0xFF for n, a, b in zip(new, first, again, strict=True))


def unlike(old: bytes, new: bytes) -> bytes:
    """New bytes of which none is the old one."""
    return bytes(n if n != o else n ^ 1 for o, n in zip(old, new, strict=False))
