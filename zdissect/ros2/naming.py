"""Keys and payloads of ROS 2 as people know them: names of topics and nodes, values of messages."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.grammar.short_cache import short_cache
from zdissect.ros2.content import leaf_text, leaves
from zdissect.ros2.message_columns import content_of, ros_values
from zdissect.ros2.rmw_keys import ADVANCED, ros_key
from zdissect.ros2.tokens import is_token, parse_token

_KINDS = {"subscription": "subscription to", "service_server": "server of", "service_client": "client of"}


@short_cache(1 << 14)
def ros_name(key: str) -> str | None:
    """What a key is called in ROS: `/chatter`, `node /talker`, `publisher of /chatter, node /talker`, each with its
    domain, unless that is 0; None if it isn't one of rmw_zenoh's."""
    if is_token(key):
        token = parse_token(key)
        if token is None:
            return None
        kind = _KINDS.get(token.kind, "publisher of")
        text = f"node {token.full_node}" if not token.name else f"{kind} {token.name}, node {token.full_node}"
        domain = token.domain
    else:
        key, advanced, rest = key.partition(ADVANCED)
        known = ros_key(key)
        if known is None:
            return None
        text, domain = f"{known.name}{advanced}{rest}", known.domain
    return f"{text} (domain {domain})" if domain else text


class RosWords:
    """Says what messages of ROS 2 are about, and what is in them.

    Args:
        own: Definitions of one's own, by type.
    """

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        self.own = own
        self.contents: Any = None
        """Made when the first payload is to be decoded; False if rosbags isn't installed."""

    def decoder(self) -> Any:
        """What decodes payloads; None if nothing does."""
        if self.contents is None:
            from zdissect.ros2.content import Contents  # only here: captures without ROS need none of it
            from zdissect.ros2.type_finder import TypeFinder, can_decode

            self.contents = Contents(TypeFinder(self.own)) if can_decode() else False
        return self.contents or None

    def value(self, row: Row) -> dict[str, Any] | None:
        """The content of a message; None if it isn't known."""
        contents = self.decoder()
        content = content_of(row, contents) if contents is not None else None
        return content.value if content is not None else None

    def tell(self, item: Dissection) -> None:
        """Adds to the rows of a dissection what is known of messages of ROS, as `ros2`."""
        for message in item.messages:
            if self.carries(message.shared):
                self.add(message.row)

    def telling(self, row: Row) -> Callable[[Row], None] | None:
        """What tells that of each message with a template, by the row of that; None if none is of ROS."""
        return self.add if self.carries(row) else None

    def add(self, row: Row) -> None:
        """Adds to a row what is known of its message, as `ros2`."""
        row["ros2"] = self.about(row)

    def carries(self, row: Row) -> bool:
        """Whether a message, or its template, is one whose payload may be of ROS."""
        return row["message"] in _CARRIERS and ros_key(row.get("key_expr") or "") is not None

    def named(self, row: Row) -> dict[str, Any]:
        """What key and attachment tell: `topic`, `type`, `seq`, `source_ts_ns`, `gid`, as far as they do."""
        known = {name.removeprefix("ros2_"): value for name, value in ros_values(row, None).items()}
        known.pop("source_ts", None)
        return known

    def about(self, row: Row) -> dict[str, Any]:
        """What is known of a message: `topic`, `type`, `seq`, `source_ts_ns`, `gid`, `content`, as far as it is; and
        `content_missing`, why its content isn't."""
        known = self.named(row)
        contents = self.decoder() if known else None
        content = content_of(row, contents) if contents is not None else None
        if content is not None:
            known |= {"content": content.value} if not content.why else {"content_missing": content.why}
        return known


def told_lines(about: dict[str, Any]) -> Iterator[str]:
    """What `RosWords.about` gives, in lines: topic, type, number and time; then a line for each value inside."""
    named = (about.get("topic"), about.get("type"))
    text = f"ROS 2: {', '.join(filter(None, named))}"
    if "seq" in about:
        text += f", number {about['seq']}, published {utc(about['source_ts_ns'])}"
    yield text
    if "content_missing" in about:
        yield f"Content: {about['content_missing']}"
    content = about.get("content")
    if content is not None:
        found = leaves(content)
        yield from (f"{name}: {leaf_text(value)}" for name, value in found[:_MOST_LEAVES])
        if len(found) > _MOST_LEAVES:
            yield f"and {len(found) - _MOST_LEAVES} more values"


def utc(ts_ns: int) -> str:
    """A time, nanoseconds since 1970, as text."""
    seconds, rest = divmod(ts_ns, 10**9)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{rest:09}"
    except (ValueError, OverflowError, OSError):
        return f"{ts_ns} ns"


_MOST_LEAVES = 100
"""Values of a message that have a line."""
_CARRIERS = frozenset({"PUSH", "REQUEST", "RESPONSE"})
