"""Calls of services: each with its request, what came back, and when.

A request is known by the gid of its client and its sequence number; it may be on several links, and on one link more
than once. What comes back is known by the same, or by the request that Zenoh's ids name.
"""

from dataclasses import dataclass, field
from typing import Any

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.ros2.attachment import RosAttachment, parse_attachment
from zdissect.ros2.content import Content, Contents
from zdissect.ros2.graph import Sighting, sighting
from zdissect.ros2.rmw_keys import RosKey, ros_key

MOST_CALLS = 100_000
"""Calls that are listed; further ones are counted."""
_MOST_HOPS = 8 * MOST_CALLS
MOST_RESPONSES = 64
_TIMEOUT = b"Timeout"
"""The text of the error by which Zenoh itself ends a query whose time is over (docs/ros2.md)."""
_SDK_ENCODING = "application/cdr"
_SDK_CLOCK_NS = 256
"""What tells a client of zenoh-ros2-sdk: the encoding that it names, and times from a float."""
_NO_TIMEOUT_MS = 1 << 62


@dataclass(slots=True, eq=False)
class RosCall:
    """A call."""

    key: RosKey
    attachment: RosAttachment
    asked: Sighting
    client: str
    """ZenohID, or address, of who sent the first copy of the request."""
    request: Content
    payload: bytes
    timeout_ms: int | None
    """How long the query lives, as the request says."""
    patience_ns: int | None
    """How long the client waits; None if that isn't known."""
    copies: int = 1
    answered: Sighting | None = None
    answer_payload: bytes | None = None
    response: Content | None = None
    took_ns: int | None = None
    server: str | None = None
    error: str | None = None
    error_frame: int | None = None
    expired: bool = False
    """Zenoh said that its time is over."""
    finals: int = 0
    final: Sighting | None = None
    responses: set[tuple[str, int]] = field(default_factory=set)
    """Responses that came, by who sent them and the time inside."""

    @property
    def late(self) -> bool:
        """Whether the response came after the client had given up, as far as that is known."""
        return self.took_ns is not None and self.patience_ns is not None and self.took_ns > self.patience_ns

    def state(self, now_ns: int) -> str:
        """`answered`, `late`, `error`, `timed out`, `no answer` (ended without one) or `open`.

        Args:
            now_ns: The time of the last frame.
        """
        if self.answered is not None:
            return "late" if self.late else "answered"
        if self.error is not None and not self.expired:
            return "error"
        if self.expired or (self.patience_ns is not None and now_ns - self.asked.ts_ns > self.patience_ns):
            return "timed out"
        return "no answer" if self.finals >= self.copies else "open"

    def entry(self, node: str | None, now_ns: int) -> dict[str, Any]:
        """As JSON has it."""
        key, answered = self.key, self.answered
        response = self.response or Content(None)
        return {
            "service": key.name, "type": key.type, "domain": key.domain, "hash": key.hash, "node": node,
            "client_gid": self.attachment.gid, "seq": self.attachment.seq, "client": self.client,
            "source_timestamp_ns": self.attachment.source_ts_ns, "state": self.state(now_ns),
            "request": self.request.value, "request_missing": self.request.why or None,
            "response": response.value, "response_missing": response.why or None, "late": self.late,
            "error": self.error, "took_ns": self.took_ns, "timeout_ms": self.timeout_ms,
            "patience_ns": self.patience_ns, "request_copies": self.copies, "responses": len(self.responses),
            "server": self.server, "frame": self.asked.frame, "ts_ns": self.asked.ts_ns,
            "response_frame": answered.frame if answered else None, "error_frame": self.error_frame,
            "final_frame": self.final.frame if self.final else None,
        }  # fmt: skip


class RosCalls:
    """Collects calls."""

    def __init__(self, contents: Contents | None) -> None:
        self.contents = contents
        self.listed: dict[tuple[str, int, str], RosCall] = {}
        self.unlisted = 0
        self.hops: dict[tuple[int, int], RosCall] = {}
        """By frame and id of a REQUEST."""

    def ask(self, item: Dissection, row: Row, key: RosKey) -> None:
        """Takes a REQUEST on a service."""
        data = row.get("attachment")
        attachment = parse_attachment(bytes(data)) if data else None
        if attachment is None:
            return
        name = attachment.gid, attachment.seq, key.name
        call = self.listed.get(name)
        if call is None:
            if len(self.listed) >= MOST_CALLS:
                self.unlisted += 1
                return
            call = self.listed[name] = self.call(item, row, key, attachment)
        else:
            call.copies += 1
        if len(self.hops) < _MOST_HOPS:
            self.hops[item.frame.number, row.get("request_id") or 0] = call

    def call(self, item: Dissection, row: Row, key: RosKey, attachment: RosAttachment) -> RosCall:
        """The call that a request begins."""
        payload, timeout_ms = bytes(row.get("payload") or b""), row.get("timeout_ms")
        if timeout_ms is not None and not 0 < timeout_ms < _NO_TIMEOUT_MS:  # 64 bits with a sign
            timeout_ms = None
        content = self.decoded(key, payload, "_Request")
        client = row.get("src_zid") or item.flow.id
        patience_ns = _patience_ns(row, attachment, timeout_ms)
        return RosCall(key, attachment, sighting(item), client, content, payload, timeout_ms, patience_ns)

    def decoded(self, key: RosKey, payload: bytes, part: str) -> Content:
        """The content of a request or response."""
        if self.contents is None:
            return Content(None)
        return self.contents.decode(payload, key.type, key.hash, part)

    def reply(self, item: Dissection, row: Row) -> None:
        """Takes a RESPONSE or RESPONSE_FINAL."""
        call = self.hops.get((row.get("request_frame") or 0, row.get("request_id") or 0))
        if row["message"] == "RESPONSE_FINAL":
            if call is not None:
                call.finals += 1
                call.final = sighting(item)
        elif row.get("body") == "ERR":
            if call is not None:
                self.failed(call, item, row)
        else:
            self.answer(call, item, row)

    @staticmethod
    def failed(call: RosCall, item: Dissection, row: Row) -> None:
        """Takes an error."""
        payload = bytes(row.get("payload") or b"")
        call.error, call.error_frame = payload.decode("utf-8", "replace"), item.frame.number
        call.expired = payload == _TIMEOUT

    def answer(self, call: RosCall | None, item: Dissection, row: Row) -> None:
        """Takes a response."""
        data = row.get("attachment")
        attachment = parse_attachment(bytes(data)) if data else None
        if attachment is not None:  # it says more than numbers of frames, which several files have
            call = self.listed.get((attachment.gid, attachment.seq, _name(row)), call)
        if call is None:
            return
        payload = bytes(row.get("payload") or b"")
        server = row.get("responder_zid") or row.get("src_zid") or item.flow.id
        if len(call.responses) < MOST_RESPONSES:
            call.responses.add((server if attachment is None else "", attachment.source_ts_ns if attachment else 0))
        if call.answered is None:
            call.answered, call.answer_payload, call.server = sighting(item), payload, server
            call.took_ns = item.frame.ts_ns - call.asked.ts_ns
            call.response = self.decoded(call.key, payload, "_Response")
        elif row.get("request_frame") == call.asked.frame:  # it has come to where the request came from
            call.took_ns = item.frame.ts_ns - call.asked.ts_ns


def _name(row: Row) -> str:
    """The service of a response."""
    key = ros_key(row.get("key_expr") or "")
    return key.name if key is not None else ""


def _patience_ns(row: Row, attachment: RosAttachment, timeout_ms: int | None) -> int | None:
    """How long the client waits.

    zenoh-ros2-sdk counts in milliseconds where Zenoh's Python counts in seconds: what is on the wire is a thousand
    times what its client waits (docs/ros2.md).
    """
    if timeout_ms is None:
        return None
    sdk = row.get("encoding") == _SDK_ENCODING and attachment.source_ts_ns % _SDK_CLOCK_NS == 0
    return timeout_ms * (1000 if sdk else 10**6)
