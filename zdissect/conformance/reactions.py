"""What the other side did after a rule was broken: closed the link, hung up, went on, or nothing at all.

Nothing on the wire says that one follows from the other: the report gives the first message of the other side, how many
there were, and how the link ended, each with its time.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from zdissect.dissection import Dissection, Item
from zdissect.flow.conversation import Flow
from zdissect.listing.listed_findings import label
from zdissect.records import Frame

_CARRIERS = ("FRAME", "FRAGMENT")


@dataclass(slots=True)
class _Awaited:
    """A side of a conversation after something happened."""

    side: int
    frame: Frame
    """When it happened."""
    before: int
    """How many messages of the side had been counted by then, without FRAME and FRAGMENT."""
    first: tuple[Frame, str] | None = None
    """Its first message since."""


@dataclass(slots=True)
class _Heard:
    """What both sides of a conversation have said since the first violation in it."""

    flow: Flow
    messages: list[int] = field(default_factory=lambda: [0, 0])
    waiting: list[list[_Awaited]] = field(default_factory=lambda: [[], []])
    """By side: those for which it hasn't said anything yet."""
    closes: list[list[tuple[Frame, str | None]]] = field(default_factory=lambda: [[], []])
    """By side: its CLOSEs, with their reasons."""


_MOST_CLOSES = 100


class Reactions:
    """Follows the conversations in which something was found."""

    def __init__(self) -> None:
        self.heard: dict[str, _Heard] = {}
        self.awaited: dict[Hashable, tuple[_Heard, _Awaited]] = {}

    def await_one(self, key: Hashable, flow: Flow, side: int) -> None:
        """Awaits what a side does from now on.

        Args:
            key: For `of`, an object that has a `frame`.
        """
        heard = self.heard.setdefault(flow.id, _Heard(flow))
        awaited = _Awaited(side, key.frame, heard.messages[side])  # type: ignore[attr-defined]
        heard.waiting[side].append(awaited)
        self.awaited[key] = heard, awaited

    def feed(self, item: Item) -> None:
        """Takes what a pipeline gave, before it is looked at for new findings."""
        heard = self.heard.get(item.flow.id)
        if heard is None or not isinstance(item, Dissection) or not item.messages:
            return
        side = item.direction
        said = [message for message in item.messages if message.shared.get("message") not in _CARRIERS]
        heard.messages[side] += len(said)
        if heard.waiting[side]:
            first = item.frame.bare(), label((said or item.messages)[0].columns())
            for awaited in heard.waiting[side]:
                awaited.first = first
            heard.waiting[side].clear()
        for message in said:
            known = message.shared
            if known.get("message") == "CLOSE" and len(heard.closes[side]) < _MOST_CLOSES:
                heard.closes[side].append((item.frame.bare(), known.get("close_reason")))

    def of(self, key: Hashable) -> dict[str, Any]:
        """What was done: `closed`, `hung up` (the connection was ended without a CLOSE), `went on`, or `nothing`.

        With the first message after it (`message`, `frame`, `after_ns`), how many there were (`messages`; FRAME and
        FRAGMENT only carry others), and the end (`end_frame`, `end_after_ns`, `reason`); None where there is none. A
        stream's end has no frame here.
        """
        heard, awaited = self.awaited[key]
        began_ns, side = awaited.frame.now_ns, awaited.side
        out: dict[str, Any] = dict.fromkeys(("message", "frame", "after_ns", "end_frame", "end_after_ns", "reason"))
        out["messages"] = heard.messages[side] - awaited.before
        if awaited.first is not None:
            frame, name = awaited.first
            out |= {"message": name, "frame": frame.number, "after_ns": frame.now_ns - began_ns}
        close = next((one for one in heard.closes[side] if one[0].now_ns >= began_ns), None)
        ended = [ns for end, how, ns in heard.flow.endings if end == side and how in ("fin", "rst") and ns >= began_ns]
        what = "went on" if awaited.first is not None else "nothing"
        if close is not None:
            what = "closed"
            out |= {"end_frame": close[0].number, "end_after_ns": close[0].now_ns - began_ns, "reason": close[1]}
        elif ended:
            what = "hung up"
            out["end_after_ns"] = ended[0] - began_ns
        return {"what": what, **out}
