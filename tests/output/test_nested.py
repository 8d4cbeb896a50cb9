"""Nested JSON: every node knows its bits, and together the leaves are the buffer."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zdissect.capture import open_capture
from zdissect.dissection import Dissection
from zdissect.output.nested import document
from zdissect.pipeline import dissect

SAMPLES = Path(__file__).parents[2] / "samples"


def documents(name: str) -> list[dict[str, Any]]:
    with open_capture(str(SAMPLES / name)) as capture:
        items = [item for item in dissect(capture) if isinstance(item, Dissection)]
    return [json.loads(json.dumps(document(item))) for item in items]


def leaves(nodes: list[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    """(first bit, number of bits) of the nodes on the wire that hold no other such node."""
    for node in nodes:
        inside = [child for child in node.get("children", ()) if "start" in child]
        if inside:
            yield from leaves(inside)
        elif node["bits"]:
            yield node["start"], node["bits"]


@pytest.mark.parametrize("name", ["pubsub-tcp.pcap", "gossip.pcap", "timestamp-stack.pcapng", "trailing-byte.pcap"])
def test_leaves_cover_the_buffer_bit_by_bit(name: str) -> None:
    found = documents(name)
    assert found
    for one in found:
        end = 0
        for start, size in leaves(one["nodes"]):
            assert start == end
            end = start + size
        assert end == 8 * len(bytes.fromhex(one["buffer"]["data"]))


def test_a_document() -> None:
    one = next(one for one in documents("pubsub-tcp.pcap") if one["frame_number"] == 17)
    assert (one["file"][-15:], one["flow_id"], one["link"]) == ("pubsub-tcp.pcap", "tcp.0", "tcp")
    (batch,) = one["nodes"]
    frame = batch["children"][1]
    push = frame["children"][-1]
    assert (frame["value"], push["value"]) == ("FRAME", "PUSH")
    assert push["derived"]["zenoh.key_expr"] == "nano/t0"
    flags = push["children"][0]["children"]
    assert [(bit["name"], bit["start"] - push["start"], bit["bits"]) for bit in flags] == [
        ("zenoh.push.z", 0, 1),
        ("zenoh.push.m", 1, 1),
        ("zenoh.push.n", 2, 1),
        ("zenoh.push.message_id", 3, 5),
    ]
    assert one["findings"] == []


def test_findings_have_their_bits() -> None:
    found = [finding for one in documents("trailing-byte.pcap") for finding in one["findings"]]
    (finding,) = [finding for finding in found if finding["code"] == "truncated"]
    assert (finding["severity"], finding["start"], finding["bits"]) == ("error", 8 * 40, 0)
