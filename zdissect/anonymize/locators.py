"""Other locators of the same length: `tcp/192.0.2.1:7447?rel=1`. The protocol and the port stay."""

import re

from zdissect.anonymize.addresses import Addresses
from zdissect.anonymize.texts import Texts

_METADATA = frozenset({"rel", "prio"})
"""Metadata that say nothing of anybody."""
_PORT = re.compile(r"(.*?)((?::\d+)?)", re.DOTALL)


def locator(text: str, addresses: Addresses, texts: Texts) -> str:
    """Another locator."""
    protocol, slash, rest = text.partition("/")
    if not slash:
        return texts.text(text, "locator")
    where, question, metadata = rest.partition("?")
    new = addresses.place(where)
    if new is None:
        match = _PORT.fullmatch(where)
        assert match is not None  # it takes any text
        new = texts.text(match[1], "host") + match[2]
    return f"{protocol}/{new}{question}{';'.join(_pair(pair, texts) for pair in metadata.split(';'))}"


def _pair(pair: str, texts: Texts) -> str:
    """A piece of metadata: its name stays."""
    name, equals, value = pair.partition("=")
    return pair if name in _METADATA else name + equals + texts.text(value, "metadata")
