"""Requests and their answers (notes 7.3)."""

from collections import OrderedDict
from dataclasses import dataclass, field

from zdissect.engine.messages import Message
from zdissect.session.keyexprs import intersects

DEFAULT_TIMEOUT_MS = 10_000
SLACK_MS = 2_000
"""Time past the timeout after which a missing RESPONSE_FINAL is reported."""
REMEMBERED = 4096
"""Ended requests that are remembered, to know late answers."""
MOST_OPEN = 100_000
"""Open requests of one side; the oldest are forgotten."""


@dataclass(slots=True)
class Request:
    """A request on its way."""

    frame: int
    ts_ns: int
    key: str | None
    parameters: str
    budget: int | None
    timeout_ms: int
    answers: int = 0
    first_ns: int | None = None
    """When the first answer came."""
    final_ns: int | None = None


@dataclass(slots=True)
class Requests:
    """The requests of one side of a session."""

    open: OrderedDict[int, Request] = field(default_factory=OrderedDict)
    ended: OrderedDict[int, Request] = field(default_factory=OrderedDict)
    due_ns: int = 1 << 63
    """When the next open request is overdue."""

    def ask(self, message: Message, frame: int, ts_ns: int, rid_bits: int) -> Request | None:
        """Takes a REQUEST."""
        row = message.row
        ident = row.get("request_id")
        if ident is None:
            return None
        if ident >> min(rid_bits, 32):
            text = f"request_id {ident} has more than {rid_bits} bits"
            message.remark("request-id-range", text, "request.request_id")
        if ident in self.open:
            text = f"request {ident} of frame {self.open[ident].frame} isn't answered yet"
            message.remark("request-id-reused", text, "request.request_id")
        timeout = row.get("timeout_ms") or DEFAULT_TIMEOUT_MS
        request = Request(frame, ts_ns, row.get("key_expr"), row.get("parameters") or "", row.get("budget"), timeout)
        self.open[ident] = request
        self.ended.pop(ident, None)
        self.due_ns = min(self.due_ns, self.due(request))
        if len(self.open) > MOST_OPEN:
            self.open.popitem(last=False)
        return request

    @staticmethod
    def due(request: Request) -> int:
        """When a request without its end is overdue."""
        return request.ts_ns + (request.timeout_ms + SLACK_MS) * 1_000_000

    def answer(self, message: Message, ts_ns: int, complete: bool) -> Request | None:
        """Takes a RESPONSE; the request that it answers."""
        row = message.row
        ident = row.get("request_id")
        request = self.open.get(ident) if ident is not None else None
        if request is None:
            self.unknown(message, ident, "response-after-final", complete)
            return None
        request.answers += 1
        if request.first_ns is None:
            request.first_ns = ts_ns
        if request.budget and request.answers > request.budget:
            message.remark("over-budget", f"answer {request.answers} of {request.budget}")
        key = row.get("key_expr")
        if request.key and key and "_anyke" not in request.parameters and not intersects(request.key, key):
            message.remark("reply-key", f"{key} doesn't answer {request.key}", "response.suffix")
        return request

    def final(self, message: Message, ts_ns: int, complete: bool) -> Request | None:
        """Takes a RESPONSE_FINAL; the request that it ends."""
        ident = message.row.get("request_id")
        request = self.open.pop(ident, None) if ident is not None else None
        if ident is None or request is None:
            self.unknown(message, ident, "second-final", complete)
            return None
        request.final_ns = ts_ns
        self.ended[ident] = request
        if len(self.ended) > REMEMBERED:
            self.ended.popitem(last=False)
        return request

    def unknown(self, message: Message, ident: int | None, late: str, complete: bool) -> None:
        """An answer without an open request."""
        if ident is None:
            return
        if ident in self.ended:
            text = f"request {ident} of frame {self.ended[ident].frame} has ended"
            message.remark(late, text)
        elif complete:
            message.remark("response-unknown", f"there is no request {ident}")

    def overdue(self, message: Message, ts_ns: int) -> None:
        """Reports the requests whose time is over, at the message that shows it."""
        if ts_ns < self.due_ns:
            return
        for ident, request in list(self.open.items()):
            if self.due(request) <= ts_ns:
                text = f"request {ident} of frame {request.frame} has no RESPONSE_FINAL after {request.timeout_ms} ms"
                message.remark("no-final", text)
                self.ended[ident] = self.open.pop(ident)
        self.due_ns = min((self.due(request) for request in self.open.values()), default=1 << 63)
