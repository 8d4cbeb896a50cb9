"""How much of each payload the tables keep, as users write it: `full`, `none` or a number of bytes."""

FULL, NONE = "full", "none"
NO_BYTES = -1
"""Leaves the column `payload` null; 0 makes payloads empty instead."""


def parse_payload_limit(text: str) -> int | None:
    """`Settings.payload`: None for `full`, -1 for `none`. Raises ValueError with a message for users."""
    if text in (FULL, NONE):
        return None if text == FULL else NO_BYTES
    if not text.isascii() or not text.isdecimal():
        raise ValueError(f"{text!r} is neither full, none nor a number of bytes")
    return int(text)
