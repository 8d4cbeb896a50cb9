"""Liveliness tokens of rmw_zenoh: each names a node, or an endpoint of a node (docs/ros2.md).

@ros2_lv/<domain>/<zid>/<nid>/<id>/NN/<enclave>/<namespace>/<node>
@ros2_lv/<domain>/<zid>/<nid>/<id>/MP|MS|SS|SC/<enclave>/<namespace>/<node>/<name>/<type>/<hash>/<qos>
"""

from typing import NamedTuple

from zdissect.grammar.short_cache import short_cache
from zdissect.ros2.qos_words import RosQos, parse_qos
from zdissect.ros2.rmw_keys import type_name

SPACE = "@ros2_lv"
_OLD_PREFIX = "@/liveliness/"
"""In front of tokens before Zenoh 1.0."""

KINDS = {"NN": "node", "MP": "publisher", "MS": "subscription", "SS": "service_server", "SC": "service_client"}
PARTNER = {
    "publisher": "subscription", "subscription": "publisher",
    "service_server": "service_client", "service_client": "service_server",
}  # fmt: skip
"""Which kind of endpoint talks to which."""

_NODE_CHUNKS, _ENDPOINT_CHUNKS = 9, 13


class RosToken(NamedTuple):
    """What a token says. Names are ROS's: `/`, `/robot1`."""

    kind: str
    """`node`, `publisher`, `subscription`, `service_server`, `service_client`."""
    domain: int
    zid: str
    """ZenohID of the session that the entity belongs to."""
    nid: str
    """Number of the node in its session."""
    id: str
    """Number of the entity in its session."""
    enclave: str
    namespace: str
    node: str
    name: str = ""
    """Topic or service, fully qualified; empty for a node."""
    type: str = ""
    hash: str = ""
    qos: RosQos | None = None
    """None: the chunk can't be read, or it is a node."""

    @property
    def full_node(self) -> str:
        """`/robot1/talker`."""
        return f"{self.namespace.rstrip('/')}/{self.node}"


def is_token(key: str) -> bool:
    """Whether a key is in the space of these tokens."""
    return key.startswith((SPACE, _OLD_PREFIX + SPACE))


@short_cache(1 << 14)
def parse_token(key: str) -> RosToken | None:
    """What a token says; None if it is none that these releases of rmw_zenoh make (docs/ros2.md)."""
    chunks = key.removeprefix(_OLD_PREFIX).split("/")
    if len(chunks) < _NODE_CHUNKS or chunks[0] != SPACE or "*" in key:
        return None
    _, domain, zid, nid, ident, letters, *rest = chunks
    kind = KINDS.get(letters)
    if kind is None or not (domain.isascii() and domain.isdecimal()) or len(domain) > 10:
        return None
    enclave, namespace, node = map(_demangled, rest[:3])
    if kind == "node":
        return RosToken(kind, int(domain), zid, nid, ident, enclave, namespace, node.lstrip("/"))
    if len(chunks) < _ENDPOINT_CHUNKS:
        return None
    name, dds, digest, qos = rest[3:7]
    return RosToken(
        kind, int(domain), zid, nid, ident, enclave, namespace, node.lstrip("/"),
        _demangled(name), type_name(_demangled(dds)), _demangled(digest), parse_qos(qos),
    )  # fmt: skip


def _demangled(text: str) -> str:
    """A name whose slashes were replaced, as they would cut the key."""
    return text.replace("%", "/")
