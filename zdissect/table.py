"""Dissections to rows of the message table (one flat row per message, names in snake case)."""

import socket
from functools import lru_cache
from typing import Any

from zdissect.dissection import Dissection
from zdissect.engine.messages import Row
from zdissect.flow.verdict import Verdict
from zdissect.grammar.columns import NAMES, SCHEMA_VERSION
from zdissect.records import Endpoint, Frame


@lru_cache(maxsize=4096)
def address(packed: bytes) -> str:
    """An IPv4, IPv6 or MAC address as text; `?` where the capture doesn't tell it."""
    if len(packed) not in (4, 16):
        return packed.hex(":") or "?"
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)


def is_ip(end: Endpoint) -> bool:
    """Whether it has an IP address and a port."""
    return len(end.address) in (4, 16)


def ip_columns(end: Endpoint, prefix: str) -> dict[str, Any]:
    """Its columns `PREFIX_ip` and `PREFIX_port`: null where it has a MAC address."""
    known = is_ip(end)
    return {f"{prefix}_ip": address(end.address) if known else None, f"{prefix}_port": end.port if known else None}


def endpoint(end: Endpoint) -> str:
    """`127.0.0.1:7447`, `[::1]:7447`, `02:00:00:00:00:01`."""
    text = address(end.address)
    if not is_ip(end):
        return text
    return f"[{text}]:{end.port}" if ":" in text else f"{text}:{end.port}"


class Table:
    """Makes rows."""

    def rows(self, item: Dissection) -> list[Row]:
        """The rows of a dissection: dicts with the columns that have a value."""
        out = [message.row for message in item.messages]
        where = self.where(item) if out else {}
        index, number = item.first
        for position, row in enumerate(out):
            row["message_index"], row["message_number"] = index + position, number + position
            row.update(where)
        return out

    @staticmethod
    def whole(item: Dissection, number: int, where: dict[str, Any]) -> Row:
        """A row of the `number`-th message of a dissection, with all its columns: for who only reads it.

        Args:
            where: What `where` gives for the dissection.
        """
        index, count = item.first
        places = {"message_index": index + number, "message_number": count + number}
        return {**item.messages[number].columns(), **places, **where}

    @staticmethod
    def where(item: Dissection) -> dict[str, Any]:
        """The columns that all messages of a dissection share."""
        return Table.frame(item.frame) | Table.conversation(item)

    @staticmethod
    def frame(frame: Frame) -> dict[str, Any]:
        """Those that all messages of a frame share."""
        return {"file": frame.source, "frame_number": frame.number, "ts": frame.ts_ns // 1000, "ts_ns": frame.ts_ns}

    @staticmethod
    def conversation_key(item: Dissection) -> tuple[Any, ...]:
        """What decides `conversation`: equal where all of its columns are."""
        flow = item.flow
        return flow.id, item.direction, item.buffer.name, flow.link, flow.verdict

    @staticmethod
    def conversation(item: Dissection) -> dict[str, Any]:
        """Those that a conversation's messages of this direction share, as long as they come from such a buffer."""
        flow = item.flow
        src, dst = flow.ends if item.direction == 0 else flow.ends[::-1]
        return {
            "flow_id": flow.id,
            **ip_columns(src, "src"),
            **ip_columns(dst, "dst"),
            "link": flow.link,
            "initiator": item.direction == 0 if flow.verdict is not Verdict.MIDDLE else None,
            "buffer": item.buffer.name,
            "schema_version": SCHEMA_VERSION,
        }


def complete(row: Row) -> dict[str, Any]:
    """All columns of a row, in order; None where it has no value."""
    get = row.get
    return {name: get(name) for name in NAMES}
