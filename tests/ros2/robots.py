"""Nodes of ROS 2 in conversations that tests make: tokens, samples, requests and responses as rmw_zenoh writes them."""

import struct
from typing import Any

from tests.conversation import Conversation
from tests.messages import Values, declare, entity, gone, push, put, request
from tests.packets import START_NS
from zdissect.fed import dissected
from zdissect.pipeline import Options, Pipeline
from zdissect.ros2.summaries import RosReport
from zdissect.ros2.view import RosView

HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
STRING = f"std_msgs::msg::dds_::String_/{HASH}"
ADD = (
    "example_interfaces::srv::dds_::AddTwoInts_/RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"
)
QOS = "::,10:,:,:,,"
CLIENT_ZID, ROUTER_ZID = "aa01", "bb02"
CHATTER = f"0/chatter/{STRING}"


def token(letters: str, node: str, name: str = "", made_of: str = STRING, **others: Any) -> str:
    """The token of a node, or of an endpoint: `MP`, `MS`, `SS`, `SC`."""
    domain, zid, ident = (others.get(key, default) for key, default in (("domain", 0), ("zid", CLIENT_ZID), ("id", 1)))
    start = f"@ros2_lv/{domain}/{zid}/0/{ident}/{letters}/%/%/{node}"
    return f"{start}/{name.replace('/', '%')}/{made_of}/{others.get('qos', QOS)}" if name else start


def tokens(*keys: str, first: int = 1) -> list[Values]:
    """Their declarations."""
    return [declare(entity("TOKEN", number, key)) for number, key in enumerate(keys, first)]


def ended(ident: int) -> Values:
    """The end of a token."""
    return declare(gone("TOKEN", ident))


def attachment(seq: int, ts_ns: int = START_NS, gid: bytes = bytes(16), named: bool = False) -> bytes:
    """rmw_zenoh's: today's, or with names."""
    if not named:
        return struct.pack("<qqB16s", seq, ts_ns, 16, gid)
    numbers = struct.pack("<q", seq), struct.pack("<q", ts_ns)
    return b"\x0fsequence_number" + numbers[0] + b"\x10source_timestamp" + numbers[1] + b"\x0asource_gid\x10" + gid


def string(text: str) -> bytes:
    """The CDR of a String."""
    data = text.encode() + b"\0"
    return b"\0\1\0\0" + struct.pack("<I", len(data)) + data


def with_attachment(data: bytes | None) -> dict[str, Any]:
    """The extension."""
    return {"extensions": [{"ext": "attachment", "value": data}]} if data is not None else {}


def sample(
    seq: int, key: str = CHATTER, payload: bytes | None = None, told: bytes | None = b"?", **others: Any
) -> Values:
    """A message."""
    data = attachment(seq, **others) if told == b"?" else told
    return push(key, body=put(string(f"n{seq}") if payload is None else payload, **with_attachment(data)))


def report(*conversations: Conversation) -> dict[str, Any]:
    """What the view says of conversations that share a capture."""
    pipeline, view = Pipeline(Options(history=True)), RosView()
    frames = conversations[0].capture.frames
    for frame in frames:
        view.frame(frame)
    for item in dissected(pipeline, frames):
        view.feed(item)
    return RosReport(view, pipeline).all()


def kinds(*conversations: Conversation) -> list[str]:
    """The kinds of problems in them."""
    return [problem["kind"] for problem in report(*conversations)["problems"]]


def request_of(ident: int, key: str, seq: int, payload: bytes = b"\0\1\0\0" + bytes(16), **others: Any) -> Values:
    """A request of a service."""
    extensions = [
        {"ext": "body", "encoding": {"value": 0}, "payload": payload},
        {"ext": "attachment", "value": attachment(seq)},
    ]
    return request(ident, key, body={"message": "QUERY", "extensions": extensions}, **others)
