"""Names of files for payloads: safe on every file system, whatever a key or an encoding says."""

import re

from zdissect.grammar.enums import ENCODING

LONGEST_KEY = 80
"""Most characters of a key in a name."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._@+=-]+")
_EXTENSIONS = {
    "zenoh/string": "txt", "text/plain": "txt", "application/json": "json", "text/json": "json", "text/json5": "json5",
    "application/cdr": "cdr", "application/cbor": "cbor", "application/yaml": "yaml", "text/yaml": "yaml",
    "application/python-serialized-object": "pickle", "application/protobuf": "pb",
    "application/openmetrics-text": "txt",
    "image/jpeg": "jpg", "text/html": "html", "text/javascript": "js", "text/markdown": "md",
    "application/x-www-form-urlencoded": "txt", "application/java-serialized-object": "ser",
}  # fmt: skip
_REGISTERED = frozenset(ENCODING.names.values())
"""Other names may hold whatever a sender chooses."""
_LIKE_THEIR_SUBTYPE = re.compile(r"(?:image|audio|video|text|application)/(?:x-)?([a-z0-9]{2,5})(?:\+[a-z]+)?")


def payload_name(number: int, key: str | None, encoding: str | None) -> str:
    """The name of the file of a payload: its number in the output, so that no two are the same, and its key.

    Only ASCII letters, digits and a few others are used, so that it is one name, in one directory, on every system.
    """
    words = _UNSAFE.sub("_", (key or "").replace("/", "-")).strip("._-")[:LONGEST_KEY].rstrip("._-")
    return f"{number:06d}{'-' * bool(words)}{words}.{extension(encoding)}"


def extension(encoding: str | None) -> str:
    """The usual file extension for an encoding; `bin` if unknown."""
    name = (encoding or "").partition(";")[0].strip().lower()
    known = _EXTENSIONS.get(name)
    if known is None and name in _REGISTERED and (match := _LIKE_THEIR_SUBTYPE.fullmatch(name)):
        known = match[1]
    return known or "bin"
