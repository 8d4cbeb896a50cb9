"""ROS 2 in a capture: graph, messages, calls, goals, problems. Fed with the items of a pipeline."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from zdissect.dissection import Dissection, Item, Skip
from zdissect.engine.messages import Row
from zdissect.pipeline import Pipeline
from zdissect.records import Frame
from zdissect.ros2.calls import RosCalls
from zdissect.ros2.content import Contents
from zdissect.ros2.goals import RosGoals
from zdissect.ros2.graph import RosGraph
from zdissect.ros2.publications import RosMessages, SentMessage
from zdissect.ros2.rmw_keys import RosKey, ros_key
from zdissect.ros2.tokens import SPACE
from zdissect.stats.extent import Extent
from zdissect.stats.sessions import SessionStats

_WANTED = frozenset({"PUSH", "REQUEST", "RESPONSE", "RESPONSE_FINAL", "DECLARE", "INTEREST", "CLOSE"})
MOST_TOLD = 100_000
"""Tokens that each session was told of, as far as they are remembered, and sessions."""


class RosView:
    """Collects all there is of ROS 2.

    Args:
        contents: Decodes payloads; None: contents aren't wanted.
        new: Called with each message that isn't a copy, and its payload.
    """

    def __init__(
        self, contents: Contents | None = None, new: Callable[[SentMessage, bytes], None] | None = None
    ) -> None:
        self.contents = contents
        self.also = new
        self.graph = RosGraph()
        self.messages = RosMessages(contents, self.new_message)
        self.calls = RosCalls(contents)
        self.goals = RosGoals()
        self.sessions = SessionStats()
        self.extent = Extent()
        self.holes = 0
        """Places where bytes weren't dissected."""
        self.told: dict[str, set[str]] = defaultdict(set)
        """Tokens that each session was told of."""
        self.asked: dict[tuple[str, int], int] = {}
        """When a session asked for the tokens of a domain."""
        self.heard: set[RosKey] = set()
        """Topics and services that something was sent on."""

    def frame(self, frame: Frame) -> None:
        """Takes a frame, whatever is in it."""
        self.extent.frame(frame)

    def feed(self, item: Item) -> None:
        """Takes what a pipeline gave."""
        self.sessions.feed(item)
        if isinstance(item, Skip):
            self.holes += 1
        if not isinstance(item, Dissection):
            return
        for message in item.messages:
            if message.shared["message"] in _WANTED:
                self.message(item, message.columns())

    def message(self, item: Dissection, row: Row) -> None:
        """Takes a message that may be about ROS 2."""
        name = row["message"]
        if name == "DECLARE":
            self.declaration(item, row)
        elif name == "CLOSE":
            self.graph.closed(item)
        elif name == "INTEREST":
            self.interest(item, row)
        elif name == "RESPONSE_FINAL":
            self.calls.reply(item, row)
        else:
            self.data(item, row, name)

    def declaration(self, item: Dissection, row: Row) -> None:
        """Takes a DECLARE."""
        key, body = row.get("key_expr"), row.get("body")
        if key is None or body not in ("D_TOKEN", "U_TOKEN"):
            return
        self.graph.declaration(item, row)
        self.graph.seen(item, row)
        to = row.get("dst_zid")
        if to is None or body != "D_TOKEN" or key not in self.graph.known:
            return
        if to in self.told or len(self.told) < MOST_TOLD:
            tokens = self.told[to]
            if len(tokens) < MOST_TOLD:
                tokens.add(key)

    def interest(self, item: Dissection, row: Row) -> None:
        """Takes an INTEREST: in the tokens of a domain, if it is about ROS 2."""
        chunks, zid = (row.get("key_expr") or "").split("/"), row.get("src_zid")
        tokens = chunks[0] == SPACE and len(chunks) > 2 and chunks[1].isdecimal() and chunks[2] == "**"
        if tokens and zid is not None and len(self.asked) < MOST_TOLD:
            self.asked.setdefault((zid, int(chunks[1][:10])), item.frame.ts_ns)

    def data(self, item: Dissection, row: Row, name: str) -> None:
        """Takes a sample, request or response."""
        key = ros_key(row.get("key_expr") or "")
        if key is None:
            if name == "RESPONSE":
                self.calls.reply(item, row)  # errors may have no key
            return
        self.graph.seen(item, row)
        if name == "REQUEST":
            if key.is_service:
                self.hear(key)
                self.calls.ask(item, row, key)
        elif key.is_service:
            if name == "RESPONSE":
                self.calls.reply(item, row)
        elif (row.get("reply_body") if name == "RESPONSE" else row.get("body")) == "PUT":
            self.hear(key)
            self.messages.sample(item, row, key, cached=name == "RESPONSE")

    def hear(self, key: RosKey) -> None:
        """Notes that something was sent on a key."""
        if len(self.heard) < MOST_TOLD:
            self.heard.add(key)

    def new_message(self, message: SentMessage, payload: bytes) -> None:
        """Takes a message that isn't a copy."""
        if message.key.action:
            self.goals.message(message.key, message.attachment, payload, message.first)
        if self.also is not None:
            self.also(message, payload)

    @property
    def is_ros(self) -> bool:
        """Whether there is anything of ROS 2."""
        return bool(self.graph.known or self.messages.publishers or self.calls.listed or self.messages.bare)

    def session_entries(self, pipeline: Pipeline) -> list[dict[str, Any]]:
        """The sessions, after the pipeline's end."""
        return self.sessions.report(pipeline.all_links(), self.extent.now_ns)
