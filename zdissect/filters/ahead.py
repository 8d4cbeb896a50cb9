"""What is known of a request only when its answers have come: a first pass gathers it for a second one."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from zdissect.dissection import Dissection, Item

_Key = tuple[Any, ...]


@dataclass(slots=True)
class Answers:
    """What came for one request."""

    response_in: int | None = None
    final_in: int | None = None
    answer_time: int | None = None

    def columns(self) -> dict[str, Any]:
        """By the last parts of the names of derived fields (`grammar/derived.py`)."""
        return {
            "response_in": self.response_in,
            "final_in": self.final_in,
            "answered": self.response_in is not None,
            "answer_time": self.answer_time,
        }


class LookAhead:
    """Fed with all items of a first pass, it answers for the messages of a second one, which must come in that order.

    A request has no name that is its own: it is told apart by its frame, its id and who asks whom; and where several
    files have frames of the same number, by the order.
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._known: defaultdict[_Key, list[Answers]] = defaultdict(list)
        self._asked: Counter[_Key] = Counter()
        for item in items:
            self.feed(item)

    def feed(self, item: Item) -> list[Answers]:
        """Takes an item of the first pass; gives what comes for the requests in it, which is filled in later."""
        asked: list[Answers] = []
        if not isinstance(item, Dissection):
            return asked
        frame = item.frame.number
        for message in item.messages:
            name = message.shared["message"]
            if name not in ("REQUEST", "RESPONSE", "RESPONSE_FINAL"):
                continue
            row = message.row
            if name == "REQUEST":
                asked.append(Answers())
                self._known[_key(frame, row)].append(asked[-1])
            elif row.get("request_frame") is not None and (known := self._known.get(_key(frame, row))):
                _take(known[-1], name, frame, row)
        return asked

    def go_on(self, other: "LookAhead") -> None:
        """Answers from now on where another one, which was asked until now, knew less."""
        self._asked = other._asked

    def columns(self, row: dict[str, Any]) -> dict[str, Any]:
        """What is known of the message of a full row, in the second pass: nothing if it isn't a REQUEST."""
        if row.get("message") != "REQUEST":
            return {}
        key = _key(row["frame_number"], row)
        number = self._asked[key]
        self._asked[key] += 1
        known = self._known.get(key, [])
        return known[number].columns() if number < len(known) else {}


def _key(frame: int, row: dict[str, Any]) -> _Key:
    """What tells a request apart, from its frame and row, or from the row of an answer."""
    ends = (row.get("src_zid"), row.get("dst_zid"))
    if row["message"] == "REQUEST":
        return (frame, row.get("request_id"), *ends)
    return (row["request_frame"], row.get("request_id"), *ends[::-1])


def _take(known: Answers, name: str, frame: int, row: dict[str, Any]) -> None:
    if name == "RESPONSE_FINAL":
        known.final_in = frame
    elif known.response_in is None:
        known.response_in = frame
        known.answer_time = row.get("response_time_ns")
