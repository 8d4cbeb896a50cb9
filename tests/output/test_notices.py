"""What no bytes show, and bytes that couldn't be dissected, in every form of output."""

import json

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.conversation import Conversation
from zdissect.dissection import Item, Notice, Skip, findings
from zdissect.flow.conversation import Flow
from zdissect.records import Endpoint

FRAME = Conversation().capture.frames[0]
FLOW = Flow("tcp.3", "tcp", (Endpoint(b"\x0a\0\0\1", 40000), Endpoint(bytes(15) + b"\1", 7447)))
NOTICE = Notice(FRAME, FLOW, 1, "no answer to request 2 of frame 8", "no-final")
PLAIN = Notice(FRAME, FLOW, 0, "a retransmission\x1b")
SKIP = Skip(FRAME, FLOW, 1, 7, 3, b"\1\2\3", "no place", "resynchronised")
START = "    1  22:13:20.001000  [::1]:7447 > 10.0.0.1:40000  "


def shown(kind: str, *items: Item) -> str:
    writer = make_form(DisplayOptions(kind, long=True, color="never"))
    return "".join(writer.show(item) for item in items) + writer.end()


def test_a_finding_that_no_bytes_show_names_rule_and_text() -> None:
    (found,) = findings(NOTICE)
    assert (found.rule.code, found.message, found.start, found.stop) == ("no-final", NOTICE.text, 0, 0)
    assert not list(findings(PLAIN))


def test_lines() -> None:
    assert shown("line", NOTICE) == f"{START}[warning: no answer to request 2 of frame 8]\n"
    assert "  [a retransmission\\x1b]\n" in shown("line", PLAIN)
    assert shown("line", SKIP) == f"{START}[3 bytes: no place]\n"


def test_trees() -> None:
    head = "Frame 1  22:13:20.001000  [::1]:7447 > 10.0.0.1:40000  tcp.stream 3\n"
    assert shown("tree", NOTICE) == f"{head}      [warning: no answer to request 2 of frame 8]\n"
    assert shown("tree", SKIP) == f"{head}      [3 bytes of the stream: no place]\n"


def test_rows_are_of_messages_alone() -> None:
    assert shown("jsonl", NOTICE, SKIP) == ""


@pytest.mark.parametrize("item", [NOTICE, PLAIN, SKIP])
def test_nested(item: Item) -> None:
    (one,) = json.loads(shown("json", item))
    assert (one["file"], one["frame_number"], one["flow_id"]) == ("test", 1, "tcp.3")
    assert {one["src"], one["dst"]} == {"[::1]:7447", "10.0.0.1:40000"}
    if isinstance(item, Skip):
        assert one["skipped"] == {"offset": 7, "size": 3, "data": "010203", "reason": "no place"}
        assert [(found["code"], found["_range"]) for found in one["findings"]] == [("resynchronised", [56, 24])]
    else:
        assert isinstance(item, Notice)
        assert one["notice"] == item.text
        assert [found["code"] for found in one["findings"]] == ([item.code] if item.code else [])
