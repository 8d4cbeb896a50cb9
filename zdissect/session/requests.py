"""Requests and their answers: which belong together, and the time between them (notes 7.3)."""

from collections import OrderedDict
from dataclasses import dataclass, field

from zdissect.engine.messages import DecodedMessage, Row
from zdissect.session.deadlines import due
from zdissect.session.keyexprs import intersects
from zdissect.session.message_checks import shown

DEFAULT_TIMEOUT_MS = 10_000
SLACK_MS = 2_000
"""Time beyond the timeout after which a RESPONSE_FINAL is missing, or late."""
REMEMBERED = 4096
"""Ended requests that are remembered, to recognise late answers."""


def answers(row: Row, request_frame: int, response_time_ns: int) -> None:
    """Links an answer (RESPONSE, RESPONSE_FINAL, HELLO) to what it answers.

    Args:
        row: The row of the answer.
        request_frame: Number of the frame with the request.
        response_time_ns: Time since the request, as deadlines count it: leaps of the capture's clock aren't time.
    """
    row["request_frame"] = request_frame
    row["response_time_ns"] = response_time_ns


@dataclass(slots=True)
class Request:
    """A request and its answers so far."""

    ident: int
    frame: int
    ts_ns: int
    key: str | None
    parameters: str
    budget: int | None
    timeout_ms: int
    answers: int = 0
    overdue: bool = False
    """Whether it was reported that its end hasn't come in time."""

    @property
    def size(self) -> int:
        """The memory that it takes."""
        return 500 + len(self.key or "") + len(self.parameters)

    @property
    def due_ns(self) -> int | None:
        """When its end is overdue; None if the querier waits for ever."""
        return due(self.ts_ns, self.timeout_ms, SLACK_MS)


@dataclass(slots=True)
class Requests:
    """The requests of one side of a session."""

    open: OrderedDict[int, Request] = field(default_factory=OrderedDict)
    ended: OrderedDict[int, Request] = field(default_factory=OrderedDict)
    size: int = 0
    """The memory that both take."""

    def ask(self, message: DecodedMessage, frame: int, ts_ns: int, rid_bits: int) -> Request | None:
        """Takes a REQUEST."""
        row = message.row
        ident = row.get("request_id")
        if ident is None:
            return None
        if ident >> min(rid_bits, 32):
            text = f"request_id {ident} has more than {rid_bits} bits"
            message.remark("request-id-range", text, "request.request_id")
        before = self.open.get(ident)
        if before is not None and not before.overdue:  # after its timeout, the querier has forgotten it
            text = f"request {ident} of frame {before.frame} isn't answered yet"
            message.remark("request-id-reused", text, "request.request_id")
        timeout = row.get("timeout_ms") or DEFAULT_TIMEOUT_MS
        key, parameters = row.get("key_expr"), row.get("parameters") or ""
        request = Request(ident, frame, ts_ns, key, parameters, row.get("budget"), timeout)
        self.size += request.size - (before.size if before is not None else 0)
        self.open[ident] = request
        if (ended := self.ended.pop(ident, None)) is not None:
            self.size -= ended.size
        return request

    def answer(self, message: DecodedMessage, ts_ns: int, complete: bool) -> Request | None:
        """Takes a RESPONSE; returns the request that it answers."""
        row = message.row
        ident = row.get("request_id")
        request = self.open.get(ident) if ident is not None else None
        if request is None:
            self.unknown(message, ident, "response-after-final", complete)
            return None
        answers(row, request.frame, ts_ns - request.ts_ns)
        self.late(message, request, ts_ns)
        request.answers += 1
        if request.budget and request.answers > request.budget:
            message.remark("over-budget", f"answer {request.answers} of {request.budget}")
        key = row.get("key_expr")
        if request.key and key and "_anyke" not in request.parameters and not intersects(request.key, key):
            message.remark("reply-key", f"{shown(key)} doesn't answer {shown(request.key)}", "response.suffix")
        return request

    def final(self, message: DecodedMessage, ts_ns: int, complete: bool) -> Request | None:
        """Takes a RESPONSE_FINAL; returns the request that it ends."""
        ident = message.row.get("request_id")
        request = self.open.pop(ident, None) if ident is not None else None
        if ident is None or request is None:
            self.unknown(message, ident, "second-final", complete)
            return None
        answers(message.row, request.frame, ts_ns - request.ts_ns)
        self.late(message, request, ts_ns)
        self.ended[ident] = request
        if len(self.ended) > REMEMBERED:
            self.size -= self.ended.popitem(last=False)[1].size
        return request

    def shrink(self) -> None:
        """Forgets those that have ended, and the older half of the others: together they take too much memory."""
        self.ended.clear()
        for _ in range((len(self.open) + 1) // 2):
            self.open.popitem(last=False)
        self.size = sum(request.size for request in self.open.values())

    def forget(self, before_ns: int) -> None:
        """Forgets the requests from before a time whose end hasn't come in time: a session may last for months."""
        for ident in [ident for ident, one in self.open.items() if one.overdue and one.ts_ns < before_ns]:
            self.size -= self.open.pop(ident).size

    def unknown(self, message: DecodedMessage, ident: int | None, late: str, complete: bool) -> None:
        """Reports an answer without an open request."""
        if ident is None:
            return
        if ident in self.ended:
            text = f"request {ident} of frame {self.ended[ident].frame} has ended"
            message.remark(late, text)
        elif complete:
            message.remark("response-unknown", f"there is no request {ident}")

    @staticmethod
    def late(message: DecodedMessage, request: Request, ts_ns: int) -> None:
        """Reports an answer that came after the timeout of its request."""
        if request.due_ns is not None and ts_ns >= request.due_ns:
            after_ms = (ts_ns - request.ts_ns) // 1_000_000
            text = f"{after_ms} ms after request {request.ident} of frame {request.frame}, which waits "
            message.remark("answer-late", f"{text}{request.timeout_ms} ms")

    def overdue(self, request: Request) -> str:
        """What is wrong with a request whose timeout is over; empty if its RESPONSE_FINAL has come."""
        if self.open.get(request.ident) is not request:
            return ""
        request.overdue = True
        return (
            f"request {request.ident} of frame {request.frame} has no RESPONSE_FINAL, its timeout is "
            f"{request.timeout_ms} ms"
        )
