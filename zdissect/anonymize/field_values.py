"""Other values for the fields of a unit, decided by the kind of each field in the grammar.

Numbers and headers stay: they say how to read the rest. Everything else is replaced, so that a field that is new in the
grammar is too. Bytes that no field owns are overwritten.
"""

from collections.abc import Iterator

from zdissect.anonymize.addresses import Addresses
from zdissect.anonymize.fills import ZEROS, unlike
from zdissect.anonymize.locators import locator
from zdissect.anonymize.secret import Secret
from zdissect.anonymize.texts import Texts
from zdissect.dissection import Dissection
from zdissect.engine import vle
from zdissect.engine.messages import Row
from zdissect.engine.tape import Span
from zdissect.grammar.field import EXT_NUMBER, UNDECODED, Field

PERIOD = 8
"""Bytes after which a replaced payload repeats itself: it says nothing, and may be compressed."""
_KEPT = frozenset({"header", "bits", "uint"})


class Values:
    """Replaces values."""

    def __init__(self, secret: Secret, texts: Texts, addresses: Addresses) -> None:
        self.secret = secret
        self.texts = texts
        self.addresses = addresses

    def unit(self, item: Dissection, period: int = PERIOD, fill: bytes = ZEROS, kept: int = 0) -> bytearray:
        """The bytes of a unit with other values.

        Args:
            period: Bytes after which bytes of the application repeat themselves.
            fill: What takes the place of bytes that aren't understood, all but the first `kept` of them.
        """
        data = item.buffer.data
        out = bytearray(fill * len(data))
        for span, row in _leaves(item):
            field, _, start, stop, value = span
            if field is UNDECODED:
                out[start : start + kept] = data[start : min(start + kept, stop)]
            elif field.kind in _KEPT:
                out[start:stop] = data[start:stop]
            elif field.kind == "vle":
                out[start:stop] = self.number(field, data[start:stop])
            else:
                size = len(value.encode(errors="surrogateescape") if isinstance(value, str) else value)
                out[start:stop] = data[start : stop - size] + self.content(field, value, row, period)
        return out

    def number(self, field: Field, data: bytes) -> bytes:
        """An integer: a secret, or one that isn't understood, becomes another of the same length; others stay."""
        if not (field is EXT_NUMBER or field.render == "hex") or len(data) == 1:
            return data
        low, high = (1 << 7 * (len(data) - 1)), 1 << min(64, 7 * len(data))
        return vle.encode(low + self.secret.number("number", data, high - low))

    def content(self, field: Field, value: str | bytes, row: Row, period: int) -> bytes:
        """What takes the place of a text or of bytes: as many bytes."""
        if isinstance(value, str):
            new = self.text(field, value, row).encode(errors="surrogateescape")
        elif field.render == "zid":
            return self.addresses.zid(value)
        else:
            new = self.bytes(value, period)
        return new

    def text(self, field: Field, text: str, row: Row) -> str:
        """Another text."""
        if field.column == "key_suffix":
            known = row.get("key_expr") if row.get("key_suffix") == text else None
            return self.texts.suffix(known, text)
        if field.check == "locator":
            return locator(text, self.addresses, self.texts)
        if field.column == "parameters":
            return self.texts.parameters(text)
        return self.texts.text(text, field.name)

    def bytes(self, data: bytes, period: int = PERIOD) -> bytes:
        """Other bytes: a few, again and again; letters for what is text."""
        size = len(data)
        new = self.secret.random("bytes", data, period)
        if data.isascii() and data.decode("ascii").isprintable():
            new = bytes(ord("a") + byte % 26 for byte in new)
        new = unlike(data[:period], new) or new
        return (new * (size // len(new) + 1))[:size]


def _leaves(item: Dissection) -> Iterator[tuple[Span, Row]]:
    """The spans that own bytes, each with the row of its message."""
    starts = {message.first: message.row for message in item.messages}
    row: Row = {}
    for index, span in enumerate(item.tape.spans):
        row = starts.get(index, row)
        if span[0].leaf:
            yield span, row
