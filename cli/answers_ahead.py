"""What became of requests, for outputs that say so where they show the request: read ahead in the same files."""

from typing import TYPE_CHECKING, Any

from .first_pass import can_be_read_twice, first_pass
from .options import CaptureOptions

if TYPE_CHECKING:
    from zdissect.dissection import Dissection
    from zdissect.filters import LookAhead


class LaterAnswers:
    """Reads the files a second time as soon as the first request is asked about: where there is none, nothing is."""

    def __init__(self, capture: CaptureOptions) -> None:
        self._capture = capture
        self._ahead: LookAhead | None = None

    def columns(self, row: dict[str, Any]) -> dict[str, Any]:
        """What is known of the message of a full row: nothing if it isn't a REQUEST."""
        if row.get("message") != "REQUEST":
            return {}
        if self._ahead is None:
            from zdissect.filters.ahead import LookAhead  # only here: many captures have no request

            self._ahead = LookAhead()
            first_pass(self._ahead, self._capture, self._capture.pipeline())
        return self._ahead.columns(row)

    def tell(self, item: "Dissection") -> None:
        """Adds what became of requests to the rows of a dissection."""
        for message in item.messages:
            if message.shared["message"] == "REQUEST":
                row = message.row
                row.update(self.columns({**row, "frame_number": item.frame.number}))


def later_answers(capture: CaptureOptions) -> LaterAnswers | None:
    """What is to come in the files of a command; None where these can be read only once."""
    return LaterAnswers(capture) if capture.files and all(map(can_be_read_twice, capture.files)) else None
