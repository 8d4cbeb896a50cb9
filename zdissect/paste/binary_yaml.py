"""Reads what Wireshark's "Follow Stream" saves as YAML: base64 below `!!binary`. Every packet is a piece."""

import re

from .digits import from_base64
from .pasted import PastedText, Piece

_BINARY = re.compile(
    r"^(?P<indent>[ \t]*)[^\n]*?:[ \t]*!!binary[ \t]*(?:\|[-+0-9]*[ \t]*$|(?P<inline>\S[^\n]*))", re.MULTILINE
)
_LINE = re.compile(r"\n(?P<indent>[ \t]*)(?P<text>[A-Za-z0-9+/=]*)[ \t]*(?=\n|$)", re.ASCII)


def read_yaml(pasted: PastedText) -> list[Piece] | None:
    """Every binary in the text, or None if it holds none."""
    pieces: list[Piece] = []
    if "!!binary" not in pasted.text:
        return None
    for match in _BINARY.finditer(pasted.text):
        start, stop = match.span("inline") if match["inline"] else _block(pasted.text, match)
        data = from_base64(pasted.text[start:stop].strip("\"' \t"))
        if data is None:
            raise pasted.error(max(start, match.end()), "this isn't base64; copy it whole")
        if data:
            pieces.append(Piece(data, "YAML", pasted.where(start, stop)))
    return pieces or None


def _block(text: str, head: re.Match[str]) -> tuple[int, int]:
    """Where the lines below `!!binary |` are: those further to the right."""
    at = head.end()
    start = at + 1
    while (line := _LINE.match(text, at)) and (not line["text"] or len(line["indent"]) > len(head["indent"])):
        at = line.end()
    return min(start, at), at
