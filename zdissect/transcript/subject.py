"""What is to be followed, as people name it."""

import re
from dataclasses import dataclass

from zdissect.session.keyexprs import check

FORMS = (
    "a session (its number, a flow as tcp.0, the beginning of a ZenohID), a key expression, a query (the frame of its "
    "request, or ZenohID:request id), a message in fragments (the frame of one of them)"
)
"""What may be followed, for people."""

_KINDS = ("session", "flow", "zid", "key", "frame", "request")
_REQUEST = re.compile(r"([0-9a-fA-F]{1,32}):(\d{1,10})")
_FLOW = re.compile(r"[a-z]+\.\d{1,18}")
_ZID = re.compile(r"[0-9a-fA-F]{1,32}")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a word may stand for: several of these can be there, and the capture tells which it is."""

    text: str
    session: int | None = None
    flow: str | None = None
    zid: str | None = None
    """First digits of a ZenohID."""
    key: str | None = None
    frame: int | None = None
    request: tuple[str, int] | None = None
    """First digits of the ZenohID of a node that asks, and the id of its request."""


def parse(text: str) -> Subject:
    """What a word may stand for; `frame:17`, `key:a`, `zid:3f`... say which it is.

    Raises:
        ValueError: It can't stand for anything; the message says why.
    """
    kind, colon, rest = text.partition(":")
    if colon and kind in _KINDS and rest:
        subject = _of(rest, (kind,))
        if subject is None:
            raise ValueError(f"{rest!r} is no {kind}")
        return subject
    subject = _of(text, _KINDS)
    if subject is None:
        raise ValueError(f"{text!r} is none of these: {FORMS}. As a key expression: {check(text)}")
    return subject


def _of(text: str, kinds: tuple[str, ...]) -> Subject | None:
    """What a word may stand for, of some kinds; None if it is nothing."""
    number = int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None
    request = _REQUEST.fullmatch(text)
    subject = Subject(
        text,
        session=number if "session" in kinds else None,
        flow=text if "flow" in kinds and _FLOW.fullmatch(text) else None,
        zid=text.lower() if "zid" in kinds and _ZID.fullmatch(text) else None,
        key=text if "key" in kinds and check(text) is None else None,
        frame=number if "frame" in kinds else None,
        request=(request[1].lower(), int(request[2])) if "request" in kinds and request else None,
    )
    return None if subject == Subject(text) else subject
