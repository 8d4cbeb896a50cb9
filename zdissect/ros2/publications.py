"""Messages of ROS 2: each once, however many links, routers and caches have carried it.

A message is known by the gid of its publisher and its sequence number; what has the same is a copy.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.ros2.attachment import RosAttachment, parse_attachment
from zdissect.ros2.content import Content, Contents
from zdissect.ros2.graph import Side, Sighting, sighting
from zdissect.ros2.rmw_keys import RosKey

MOST_MESSAGES = 100_000
"""Messages that are listed, each with its content; further ones are counted."""
MOST_PUBLISHERS = 100_000
MOST_GAPS = 10_000
"""Missing numbers that are remembered for each publisher."""


@dataclass(slots=True, eq=False)
class SentMessage:
    """A message."""

    key: RosKey
    attachment: RosAttachment
    first: Sighting
    sender: str
    """ZenohID, or address, of who sent the first copy."""
    origin: str | None
    """ZenohID of the session that it is from, where the message tells it."""
    size: int
    cached: bool
    """Its first copy was an answer from a cache."""
    content: Content
    copies: int = 1


@dataclass(slots=True, eq=False)
class LinkPath:
    """What one direction of a link carried of a publisher."""

    last: int
    messages: int = 1
    missed: int = 0
    repeated: int = 0


@dataclass(slots=True, eq=False)
class RosPublisher:
    """A publisher, as its messages tell of it."""

    key: RosKey
    gid: str
    layout: str
    origin: str | None
    first: Sighting
    last: Sighting
    messages: int = 0
    copies: int = 0
    size: int = 0
    lowest: int = 0
    highest: int = 0
    missing: dict[int, tuple[Sighting, Sighting]] = field(default_factory=dict)
    """Numbers that were never seen, with the times of the messages around them."""
    untold: int = 0
    """Missing numbers beyond those that are remembered."""
    latencies: tuple[int, int, int] | None = None
    """From publication to capture, of what wasn't cached: least, greatest, sum; nanoseconds."""
    live: int = 0
    paths: dict[Side, LinkPath] = field(default_factory=dict)
    source_last: int = 0
    """The latest time of publication, by the publisher's clock."""


class RosMessages:
    """Collects messages and publishers.

    Args:
        contents: Decodes payloads; None: contents aren't wanted.
        new: Called with each message that isn't a copy, and its payload.
    """

    def __init__(self, contents: Contents | None, new: Callable[[SentMessage, bytes], None] | None = None) -> None:
        self.contents = contents
        self.new = new
        self.listed: dict[tuple[str, int, str], SentMessage] = {}
        self.unlisted = 0
        self.publishers: dict[tuple[str, str], RosPublisher] = {}
        self.bare: dict[RosKey, list[Sighting]] = {}
        """Samples on keys of topics without an attachment of rmw_zenoh, which drops them: their number, as times."""

    def sample(self, item: Dissection, row: Row, key: RosKey, cached: bool) -> None:
        """Takes a sample on a topic."""
        data = row.get("attachment")
        attachment = parse_attachment(bytes(data)) if data else None
        if attachment is None:
            times = self.bare.setdefault(key, []) if len(self.bare) < MOST_PUBLISHERS else self.bare.get(key, [])
            if len(times) < MOST_GAPS:
                times.append(sighting(item))
            return
        publisher = self.publisher(item, row, key, attachment)
        name = attachment.gid, attachment.seq, key.name
        known = self.listed.get(name)
        self.path(item, publisher, attachment.seq, cached)
        if known is not None:
            known.copies += 1
            publisher.copies += 1
            return
        if not self.count(item, row, publisher, attachment, cached):
            publisher.copies += 1
            return
        payload = row.get("payload")
        content = self.contents.decode(payload, key.type, key.hash) if self.contents is not None else Content(None)
        origin = row.get("source_zid") or row.get("timestamp_id")
        sender = row.get("src_zid") or item.flow.id
        made = SentMessage(
            key, attachment, sighting(item), sender, origin, row.get("payload_len") or 0, cached, content
        )  # fmt: skip
        if self.new is not None and payload is not None:
            self.new(made, payload)
        if len(self.listed) < MOST_MESSAGES:
            self.listed[name] = made
        else:
            self.unlisted += 1

    def publisher(self, item: Dissection, row: Row, key: RosKey, attachment: RosAttachment) -> RosPublisher:
        """The publisher of a message."""
        ident = attachment.gid, key.name
        known = self.publishers.get(ident)
        if known is None:
            now, origin = sighting(item), row.get("source_zid") or row.get("timestamp_id")
            known = RosPublisher(key, attachment.gid, attachment.layout, origin, now, now)
            known.lowest, known.highest = attachment.seq, attachment.seq - 1
            if len(self.publishers) < MOST_PUBLISHERS:
                self.publishers[ident] = known
        return known

    def count(
        self, item: Dissection, row: Row, publisher: RosPublisher, attachment: RosAttachment, cached: bool
    ) -> bool:
        """Counts a message that isn't listed; returns whether it is new, by its number."""
        seq, now = attachment.seq, sighting(item)
        if seq > publisher.highest:
            self.skipped(publisher, range(publisher.highest + 1, seq), now)
            publisher.highest = seq
            publisher.last = now
        elif seq >= publisher.lowest:
            if publisher.missing.pop(seq, None) is None and not publisher.untold:
                return False
        else:  # a cache tells of earlier ones
            self.skipped(publisher, range(seq + 1, publisher.lowest), now)
            publisher.lowest = seq
        publisher.messages += 1
        publisher.size += row.get("payload_len") or 0
        publisher.source_last = max(publisher.source_last, attachment.source_ts_ns)
        if not cached:
            took, before = item.frame.ts_ns - attachment.source_ts_ns, publisher.latencies
            least, greatest, total = before or (took, took, 0)
            publisher.latencies = min(least, took), max(greatest, took), total + took
            publisher.live += 1
        return True

    @staticmethod
    def skipped(publisher: RosPublisher, numbers: range, now: Sighting) -> None:
        """Notes numbers that weren't seen so far."""
        room = MOST_GAPS - len(publisher.missing)
        for seq in numbers[: max(room, 0)]:
            publisher.missing[seq] = publisher.last, now
        publisher.untold += max(numbers.stop - numbers.start - max(room, 0), 0)

    @staticmethod
    def path(item: Dissection, publisher: RosPublisher, seq: int, cached: bool) -> None:
        """Notes what a link carried."""
        if cached:
            return
        side = item.flow.id, item.direction
        path = publisher.paths.get(side)
        if path is None:
            publisher.paths[side] = LinkPath(seq)
            return
        path.messages += 1
        if seq == path.last:
            path.repeated += 1
        elif seq > path.last:
            path.missed += seq - path.last - 1
            path.last = seq


def message_entry(message: SentMessage, node: str | None) -> dict[str, Any]:
    """A message as JSON has it."""
    key, attachment = message.key, message.attachment
    return {
        "topic": key.name, "type": key.type, "domain": key.domain, "hash": key.hash, "seq": attachment.seq,
        "source_timestamp_ns": attachment.source_ts_ns, "gid": attachment.gid, "node": node,
        "content": message.content.value, "content_missing": message.content.why or None,
        "attachment_layout": attachment.layout, "payload_len": message.size, "cached": message.cached,
        "copies": message.copies, "frame": message.first.frame, "ts_ns": message.first.ts_ns,
        "latency_ns": None if message.cached else message.first.ts_ns - attachment.source_ts_ns,
        "sender": message.sender,
    }  # fmt: skip
