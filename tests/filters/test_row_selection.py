"""Filters on messages that share a template: the same as on those that were read one by one."""

import pytest

from tests.alike import items
from zdissect.dissection import Dissection
from zdissect.filters import compile_filter

FILTERS = [
    "key_expr == a", "payload_len > 2", "key_expr == b and payload_len > 2", "frame_number > 9",
    "frame_number > 9 and body == DEL", "message_number > 20 and key_expr == c and sn", "sn and timestamp",
    "message_index == 1 or tcp.srcport == 7447", "findings", "not attachment and message == PUSH",
]  # fmt: skip
"""What a batch decides, a template, a message, and several of them."""


@pytest.mark.parametrize("text", FILTERS)
def test_they_select_the_same(text: str) -> None:
    wanted = compile_filter(text)
    assert not wanted.needs_tape
    fast, slow = ([wanted.select(item) for item in items(blocks)] for blocks in (True, False))
    assert fast == slow
    assert 0 < sum(map(sum, fast)) < sum(map(len, fast))


def test_what_is_asked_leaves_messages_as_they_were() -> None:
    wanted = compile_filter("payload_len > 2 and frame_number > 9 and key_expr == b")
    found = [item for item in items(True) if isinstance(item, Dissection)]
    before = [message.template for item in found for message in item.messages]
    for item in found:
        wanted.select(item)
    assert [message.template for item in found for message in item.messages] == before
    assert sum(template is not None for template in before) > len(before) // 2
