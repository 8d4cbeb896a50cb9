"""Key expressions of rmw_zenoh's topics and services: `<domain>/<name>/<DDS type>/<type hash>` (docs/ros2.md)."""

import re
from typing import NamedTuple

from zdissect.grammar.short_cache import short_cache

NO_HASH = "TypeHashNotSupported"
"""Stands for the hash in releases without type hashes: Humble."""

_HASH = re.compile(rf"RIHS\d\d_[0-9a-f]+|{NO_HASH}|EMPTY_TOPIC_HASH")

ADVANCED = "/@adv/"
"""What follows in keys of advanced publishers and subscribers: heartbeats, caches, their tokens."""
_BUFFERS = re.compile(r"/_buf(_cpu|/[0-9a-f]{32})$")
"""What follows in keys for buffers of a kind of memory: they carry messages of the topic before it."""

ACTION_PART = "/_action/"
"""Between the name of an action and that of one of its topics or services."""
_SERVICES_OF_ACTIONS = ("_SendGoal", "_GetResult")


class RosKey(NamedTuple):
    """A topic or service, as its key tells it."""

    domain: int
    name: str
    """The fully qualified name: `/robot1/status`."""
    type: str
    """`std_msgs/msg/String`; empty if the key doesn't tell it."""
    hash: str
    """`RIHS01_...`, or `NO_HASH`."""

    @property
    def is_service(self) -> bool:
        """Whether requests are sent to it; otherwise messages are."""
        return service_type(self.type)

    @property
    def action(self) -> str:
        """The action that it is part of; empty if it is of none."""
        return action_of(self.name)


def service_type(name: str) -> bool:
    """Whether a type is that of a service."""
    return "/srv/" in name or ("/action/" in name and name.endswith(_SERVICES_OF_ACTIONS))


def action_of(name: str) -> str:
    """The action that a topic or service is part of: `/A` for `/A/_action/feedback`; empty for others."""
    action, part, _ = name.partition(ACTION_PART)
    return action if part else ""


def type_name(dds: str) -> str:
    """`std_msgs/msg/String` for `std_msgs::msg::dds_::String_`; empty for a placeholder."""
    if "::" not in dds:
        return ""
    return dds.replace("dds_::", "").removesuffix("_").replace("::", "/")


@short_cache(1 << 14)
def ros_key(key: str) -> RosKey | None:
    """The topic or service of a key expression; None if it isn't one of rmw_zenoh's, or of its machinery (`@adv`)."""
    if ADVANCED in key:
        return None
    chunks = _BUFFERS.sub("", key).split("/")
    if len(chunks) < 4 or not (chunks[0].isascii() and chunks[0].isdecimal()) or len(chunks[0]) > 10:
        return None
    domain, *names, dds, digest = chunks
    if "*" in key or not _HASH.fullmatch(digest) or not ("::" in dds or dds == "EMPTY_TOPIC_TYPE"):
        return None
    return RosKey(int(domain), "/" + "/".join(names), type_name(dds), digest)
