"""What ROS 2 adds to the table of messages: columns that follow from key, attachment and payload of a row."""

import json
from typing import Any

from zdissect.engine.messages import Row
from zdissect.grammar.columns import Column
from zdissect.ros2.attachment import RosAttachment, parse_attachment
from zdissect.ros2.content import Content, Contents
from zdissect.ros2.rmw_keys import ros_key
from zdissect.ros2.tokens import is_token, parse_token

ROS2_COLUMNS = (
    Column("ros2_topic", "string", "Topic or service of rmw_zenoh's key, or of its liveliness token: /robot1/status."),
    Column("ros2_type", "string", "Its type: std_msgs/msg/String."),
    Column("ros2_seq", "int64", "Sequence number that the publisher or client gave."),
    Column("ros2_source_ts", "timestamp", "When it was published, by the publisher's clock."),
    Column("ros2_source_ts_ns", "int64", "The same, nanoseconds since 1970 UTC."),
    Column("ros2_gid", "string", "Gid of the publisher or client, hex."),
    Column("ros2_content", "string", "The content as JSON; null if it isn't known."),
)
"""The columns: there if they are asked for."""

ROS2_NAMES = tuple(column.name for column in ROS2_COLUMNS)
CONTENT = "ros2_content"

_PARTS = {"REQUEST": "_Request", "RESPONSE": "_Response"}


def topic_and_type(key: str | None) -> tuple[str | None, str | None]:
    """The topic or service that a key expression is about, and its type."""
    if not key:
        return None, None
    told = parse_token(key) if is_token(key) else ros_key(key)
    return (told.name or None, told.type or None) if told is not None else (None, None)


def attached(row: Row) -> RosAttachment | None:
    """The attachment of rmw_zenoh on a message about ROS 2."""
    data = row.get("attachment")
    return parse_attachment(bytes(data)) if data and ros_key(row.get("key_expr") or "") is not None else None


def part_of(message: str, body: str | None, reply_body: str | None, service: bool) -> str | None:
    """Which part of a type a payload is: `_Request`, `_Response`, empty for messages; None if it is none."""
    if service:
        return _PARTS.get(message) if body in ("QUERY", "REPLY") else None
    return "" if "PUT" in (body, reply_body) else None


def content_of(row: Row, contents: Contents) -> Content | None:
    """The content of a message; None if it has none of ROS 2."""
    key, payload = ros_key(row.get("key_expr") or ""), row.get("payload")
    if key is None or payload is None:
        return None
    part = part_of(row["message"], row.get("body"), row.get("reply_body"), key.is_service)
    return contents.decode(payload, key.type, key.hash, part) if part is not None else None


def content_json(content: Content | None) -> str | None:
    """The column with the content."""
    if content is None or content.value is None:
        return None
    return json.dumps(content.value, ensure_ascii=False, separators=(",", ":"))


def ros_values(row: Row, contents: Contents | None) -> dict[str, Any]:
    """All of these columns of a row, as far as they have values.

    Args:
        row: With its key, attachment and payload.
        contents: Decodes payloads; None: the content is left out.
    """
    topic, made_of = topic_and_type(row.get("key_expr"))
    if topic is None:
        return {}
    out: dict[str, Any] = {"ros2_topic": topic, "ros2_type": made_of}
    if (attachment := attached(row)) is not None:
        ts_ns = attachment.source_ts_ns
        out |= {"ros2_seq": attachment.seq, "ros2_source_ts": ts_ns // 1000, "ros2_source_ts_ns": ts_ns}
        out["ros2_gid"] = attachment.gid
    if contents is not None:
        out[CONTENT] = content_json(content_of(row, contents))
    return {name: value for name, value in out.items() if value is not None}
