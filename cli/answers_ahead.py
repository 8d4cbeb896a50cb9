"""What became of requests, for outputs that say so where they show the request: from the same files, read ahead."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zdissect.dissection import Dissection, Item

from .first_pass import can_be_read_twice, first_pass
from .options import CaptureOptions

if TYPE_CHECKING:
    from zdissect.filters import LookAhead
    from zdissect.filters.ahead import Answers


class LaterAnswers:
    """Knows what comes of requests: all of it, read at once when it is asked about the first one, or what it is fed."""

    def __init__(self, read: "Callable[[LookAhead], None]") -> None:
        self.read = read
        """Reads all that is to be known."""
        self._ahead: LookAhead | None = None
        self.complete = False
        """Whether it knows all of the capture."""

    def feed(self, item: Item) -> "list[Answers]":
        """Takes an item of which it will be asked later; gives what comes for the requests in it, as far as that is
        known by then."""
        if self._ahead is None:
            if not (isinstance(item, Dissection) and any(one.shared["message"] == "REQUEST" for one in item.messages)):
                return []
            self._ahead = _look_ahead()
        return self._ahead.feed(item)

    def read_all(self) -> None:
        """Reads all files, up to their ends."""
        ahead = _look_ahead()
        self.read(ahead)
        if self._ahead is not None:
            ahead.go_on(self._ahead)
        self._ahead, self.complete = ahead, True

    def columns(self, row: dict[str, Any]) -> dict[str, Any]:
        """What is known of the message of a full row: nothing if it isn't a REQUEST."""
        if row.get("message") != "REQUEST":
            return {}
        if self._ahead is None:
            self.read_all()
        assert self._ahead is not None
        return self._ahead.columns(row)

    def tell(self, item: Dissection) -> None:
        """Adds what became of requests to the rows of a dissection."""
        for message in item.messages:
            if message.shared["message"] == "REQUEST":
                row = message.row
                row.update(self.columns({**row, "frame_number": item.frame.number}))


def _look_ahead() -> "LookAhead":
    from zdissect.filters.ahead import LookAhead  # only here: many captures have no request

    return LookAhead()


def later_answers(capture: CaptureOptions) -> LaterAnswers | None:
    """What is to come in the files of a command; None where these can be read only once."""
    if not capture.files or not all(map(can_be_read_twice, capture.files)):
        return None
    return LaterAnswers(lambda ahead: first_pass(ahead, capture, capture.pipeline()))
