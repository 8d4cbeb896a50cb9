"""Reads one line of a dump: where its bytes end and its ASCII column begins, and the order of bytes in its words."""

import re

_PAIR = re.compile(r"[ \t]*(?:0[xX])?([0-9a-fA-F]{2})", re.ASCII)
_FIRST = re.compile(r"[ \t]*(?:0[xX])?(?:[0-9a-fA-F]{2})+(?![^ \t])", re.ASCII)
_GAP = re.compile(r" {2,}|\t+| (?=[|>])")
_PREFIX = re.compile(r"\b0[xX]")
HEX_AREA = re.compile(r"[0-9a-fA-F \t]*", re.ASCII)
_WHOLE = re.compile(r"(?:[0-9a-fA-F]{2})*")
_TOKEN = re.compile(r"[0-9a-fA-F]+")


def starts_with_byte(body: str) -> bool:
    """Whether the text after an offset begins with a group of hex digits for whole bytes."""
    return _FIRST.match(body) is not None


def _ascii(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)


def agrees(data: bytes, text: str) -> bool:
    """Whether a text is the ASCII column of these bytes. (Spaces at its ends may have gone to the gap around it.)"""
    return bool(data) and _ascii(data).strip() == text.strip()


def from_hex(area: str) -> bytes:
    """The bytes of a text of hex digits, white space and `0x`; anything else ends it, and a digit without partner."""
    digits = _PREFIX.sub("", area) if "x" in area or "X" in area else area
    digits = digits.replace(" ", "").replace("\t", "")
    return bytes.fromhex(_WHOLE.match(digits)[0])  # type: ignore[index]  # it matches always


class Layout:
    """What the lines of one dump have in common, learnt from its first line."""

    def __init__(self, body: str, colon: bool) -> None:
        self._colon = colon
        self.word = 1
        """Bytes to a word, if the words are little-endian; otherwise 1."""
        self.end = 0
        """Column where the bytes of the longest line so far end; 0 while unknown."""
        sizes = {len(token) for token in _TOKEN.findall(body[: self._cut(body)])}
        size = max(sizes, default=2) // 2
        if size == 1 or "x" in body[:4]:
            return
        # hexdump and od print words in the order of the machine; xxd and tcpdump print bytes in groups.
        if not colon:
            usual = len(sizes) == 1 and size in (2, 4, 8)
            self.word = size if usual and not self._matches_ascii(body, 1) else 1
        elif body.startswith("   ") or (not self._matches_ascii(body, 1) and self._matches_ascii(body, size)):
            self.word = size  # xxd -e: it sets a word that isn't full to the right, or the ASCII column gives it away

    def _matches_ascii(self, body: str, word: int) -> bool:
        """Whether a line's bytes, read in words of this size, are those of its ASCII column."""
        before, self.word = self.word, word
        cut = self._cut(body)
        self.word = before
        return agrees(_swap(from_hex(body[:cut]), word), body[cut:])

    def _cut(self, body: str) -> int:
        """Where the bytes of a line end, if nothing but the line itself tells."""
        body = body.rstrip()
        for opening, closing in ("||", "><"):
            fence = body.find(opening)
            # Only a column as long as its bytes is one: the ASCII of xxd or Wireshark may begin and end with a bar too.
            fenced = fence >= 0 and body.endswith(closing) and HEX_AREA.fullmatch(body, 0, fence)
            if fenced and len(from_hex(body[:fence])) == len(body) - fence - 2:
                return fence
        if self.word > 1 and not self._colon and HEX_AREA.fullmatch(body):
            return len(body)  # hexdump -x spaces its words widely
        lead = len(body) - len(body.lstrip(" \t"))
        for gap in _GAP.finditer(body, lead):
            if not self._is_middle(body, gap.start(), gap.end()):
                return gap.start()
        at = lead
        while pair := _PAIR.match(body, at):
            at = pair.end()
        return at

    def _is_middle(self, body: str, start: int, stop: int) -> bool:
        """Whether a gap stands between bytes: after the eighth byte (hexdump -C), before a short word (xxd -e)."""
        if body[start] == "\t" and "x" in body[:start]:
            return True
        if self._colon and self.word > 1:
            token = _TOKEN.match(body, stop)
            return token is not None and stop - start - 1 == 2 * self.word - len(token[0])
        data = from_hex(body[:start]) if HEX_AREA.fullmatch(body, 0, start) else b""
        next_byte = _PAIR.match(body, stop)
        if stop - start != 2 or len(data) != 8 or not next_byte or next_byte.end() - stop != 2:
            return False
        return body[stop + 2 : stop + 3] in ("", " ") and not agrees(data, body[stop:])

    def natural(self, body: str) -> tuple[bytes, int]:
        """The bytes of a line whose length isn't known, and the column where they end."""
        body = body.rstrip()
        cut = self._cut(body)
        if self.end and _GAP.search(body.strip()):
            cut = min(cut, self.end)  # in an aligned dump nothing after the end of a full line is a byte
        area = body[:cut]
        at = 0
        while pair := _PAIR.match(area, at):
            at = pair.end()
        return _swap(from_hex(area[:at]), self.word), at

    def read(self, body: str, count: int) -> tuple[bytes, int]:
        """The first `count` bytes of a line and the column after them; fewer or more if it doesn't hold just these."""
        data, at = self.natural(body)
        if len(data) > count:
            if self.word > len(data) - count:
                data = data[:count]  # the last word is padded
            else:
                data, at = self._squeezed(body, count, data, at)
        if len(data) == count:
            self.end = max(self.end, at)
        return data, at

    def _squeezed(self, body: str, count: int, data: bytes, at: int) -> tuple[bytes, int]:
        """A line whose white space was lost on the way, so that an ASCII column like hex joined the bytes."""
        stop = 0
        for _ in range(count):
            pair = _PAIR.match(body, stop)
            if not pair:
                return data, at
            stop = pair.end()
        return (data[:count], stop) if agrees(data[:count], body[stop:]) else (data, at)


def _swap(data: bytes, word: int) -> bytes:
    """Reverse the bytes of every word."""
    if word == 1:
        return data
    return b"".join(data[at : at + word][::-1] for at in range(0, len(data), word))
