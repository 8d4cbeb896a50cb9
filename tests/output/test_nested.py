"""Nested nodes: every node knows its bits, and together the leaves are the buffer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from zdissect.capture import open_capture
from zdissect.dissection import Dissection
from zdissect.output.nested import Node, nodes
from zdissect.pipeline import dissect

SAMPLES = Path(__file__).parents[2] / "samples"


def items(name: str) -> list[Dissection]:
    with open_capture(str(SAMPLES / name)) as capture:
        return [item for item in dissect(capture) if isinstance(item, Dissection)]


def leaves(nodes: list[Node]) -> Iterator[tuple[int, int]]:
    """(first bit, number of bits) of the nodes on the wire that hold no other such node."""
    for node in nodes:
        inside = [child for child in node.get("children", ()) if "start" in child]
        if inside:
            yield from leaves(inside)
        elif node["bits"]:
            yield node["start"], node["bits"]


@pytest.mark.parametrize("name", ["pubsub-tcp.pcap", "gossip.pcap", "timestamp-stack.pcapng", "trailing-byte.pcap"])
def test_leaves_cover_the_buffer_bit_by_bit(name: str) -> None:
    found = items(name)
    assert found
    for item in found:
        end = 0
        for start, size in leaves(nodes(item.tape)):
            assert start == end
            end = start + size
        assert end == 8 * len(item.buffer.data)


def test_nodes_of_a_batch() -> None:
    item = next(one for one in items("pubsub-tcp.pcap") if one.frame.number == 17)
    (batch,) = nodes(item.tape, item.messages)
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
