"""How much of each payload the tables keep, as users say it: `full`, `none` or a number of bytes."""

FULL, NONE = "full", "none"
NO_BYTES = -1
"""The column `payload` stays null; with 0, a payload becomes an empty one."""


def parse_payload_limit(text: str) -> int | None:
    """`Settings.payload`: None for `full`, -1 for `none`. Raises ValueError, in words for people."""
    if text in (FULL, NONE):
        return None if text == FULL else NO_BYTES
    if not text.isascii() or not text.isdecimal():
        raise ValueError(f"{text!r} is neither full, none nor a number of bytes")
    return int(text)
