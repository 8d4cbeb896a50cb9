"""Who has sent a message or request: the endpoint behind a gid.

rmw_zenoh makes the gid from the endpoint's token, so it tells exactly; other stacks draw one, and then it is the
endpoint of this key in the session that the message is from, if there is only one.
"""

from collections import defaultdict

from zdissect.ros2.graph import RosEntity, RosGraph, topic_of
from zdissect.ros2.rmw_keys import RosKey


class Owners:
    """The endpoints of a graph by gid, and by key.

    Args:
        graph: As it is at the end.
    """

    def __init__(self, graph: RosGraph) -> None:
        self.by_gid: dict[str, RosEntity] = {}
        self.by_key: dict[tuple[str, tuple[int, str, str, str]], list[RosEntity]] = defaultdict(list)
        for entity in graph.endpoints:
            self.by_key[entity.token.kind, topic_of(entity.token)].append(entity)
            if gid := gid_of(entity.key):
                self.by_gid[gid] = entity

    def owner(self, kind: str, key: RosKey, gid: str, *zids: str | None) -> RosEntity | None:
        """The endpoint that has sent something; None if that can't be told.

        Args:
            kind: `publisher` or `service_client`.
            key: What it was sent on.
            gid: From the attachment.
            zids: Sessions that it may be from, the likeliest first.
        """
        known = self.by_gid.get(gid)
        if known is not None:
            return known
        there = self.by_key.get((kind, key), [])
        for zid in zids:
            mine = [entity for entity in there if entity.token.zid == zid]
            if len({entity.token.full_node for entity in mine}) == 1:
                return mine[0]
        return there[0] if len(there) == 1 else None


def gid_of(token: str) -> str:
    """The gid that rmw_zenoh makes of a token: XXH3-128, low 64 bits first; empty without the library xxhash."""
    try:
        import xxhash
    except ImportError:
        return ""
    digest: int = xxhash.xxh3_128_intdigest(token.encode(errors="surrogateescape"))  # the bytes on the wire
    return digest.to_bytes(16, "little").hex()
