"""Sessions that are opened again from the same UDP port."""

from pathlib import Path
from typing import Any

import pytest

from tests.conversation import CLIENT, OTHER_ROUTER, PEER, ROUTER, Conversation
from tests.export.tables import converted, rows, write_pcap
from tests.messages import d_keyexpr, declare, push
from tests.observed import observed
from tests.stats.reports import report_of


def session(conversation: Conversation, key: str) -> Conversation:
    """A session with a key."""
    conversation.next.clear()
    conversation.framings = Conversation(udp=True).framings
    return conversation.open().frame(0, declare(d_keyexpr(1, key))).frame(0, push(1, "/a"))


@pytest.mark.parametrize("options", [{}, {"compression": True}, {"low_latency": True}])
@pytest.mark.parametrize("nodes", [(CLIENT, OTHER_ROUTER), (CLIENT, ROUTER), (PEER, ROUTER)])
def test_a_session_is_opened_again(options: dict[str, Any], nodes: Any, tmp_path: Path) -> None:
    """The router, the client or neither is another one; keys are those of their session."""
    conversation = (
        Conversation(udp=True).open(**options).frame(0, declare(d_keyexpr(1, "old/key"))).frame(0, push(1, "/a"))
    )
    conversation.nodes = nodes
    session(conversation, "new/key")
    found = observed(conversation)
    assert [key for key in found.keys if key and key.endswith("/a")] == ["old/key/a", "new/key/a"]
    assert found.codes == ["session-reopened"]
    assert {row["flow_id"] for row in found.rows if row["frame_number"] <= 6} == {"udp.0"}
    assert found.rows[-1]["flow_id"] == "udp.1"
    first, second = report_of(conversation.capture.frames)["sessions"]
    assert [end["zid"] for one in (first, second) for end in one["ends"]] == [
        *(node.wire_zid[::-1].hex().lstrip("0") for node in (CLIENT, ROUTER)),
        *(node.wire_zid[::-1].hex().lstrip("0") for node in nodes),
    ]
    assert first["ended"]["how"] == "reused"
    assert [one["handshake"] for one in (first, second)] == ["complete"] * 2
    (tmp_path / "in").mkdir()
    write_pcap(tmp_path / "in" / "one.pcap", conversation.capture.frames)
    converted(tmp_path / "in", tmp_path / "out")
    table = sorted(rows(tmp_path / "out", "sessions"), key=lambda row: str(row["flow_id"]))
    assert [(row["flow_id"], row["ended"], row["session"]) for row in table] == [
        ("udp.0", "reused", "udp.0"), ("udp.1", "open", "udp.1"),
    ]  # fmt: skip


def test_after_a_close() -> None:
    conversation = session(Conversation(udp=True), "a").close(0)
    found = report_of(session(conversation, "b").capture.frames)
    assert [one["ended"]["how"] for one in found["sessions"]] == ["close", "open"]
    assert not found["findings"]


def test_refused_and_opened_again() -> None:
    """A CLOSE answers the INIT; the next one has a conversation of its own."""
    conversation = Conversation(udp=True).init_syn().close(1, reason=2).init_syn().close(1, reason=2)
    found = observed(conversation)
    assert not {"session-reopened", "handshake-order"} & set(found.codes)
    assert len(report_of(conversation.capture.frames)["sessions"]) == 2


def test_an_init_whose_answer_was_lost() -> None:
    """The same bytes again are no new session, as long as nothing came of the first."""
    conversation = (
        Conversation(udp=True).init_syn().init_syn().init_ack().init_syn().init_ack().open_syn().open_syn().open_ack()
    )
    found = observed(conversation.frame(0, push("a")))
    assert found.codes == ["handshake-repeated"] * 3
    assert {row["flow_id"] for row in found.rows} == {"udp.0"}
    (one,) = report_of(conversation.capture.frames)["sessions"]
    assert one["handshake"] == "complete"


def test_another_init_before_an_answer() -> None:
    conversation = Conversation(udp=True).init_syn()
    conversation.nodes = (PEER, ROUTER)
    found = observed(conversation.open())
    assert found.codes == ["session-reopened"]
    assert len(report_of(conversation.capture.frames)["sessions"]) == 2


def test_a_session_from_its_middle_and_the_next_one() -> None:
    conversation = Conversation(udp=True).frame(0, push("a"), sn=7).frame(0, push("b"), sn=8)
    found = observed(session(conversation, "c"))
    assert found.codes == ["session-reopened"]
    assert len(report_of(conversation.capture.frames)["sessions"]) == 2


def test_tcp_isnt_touched() -> None:
    found = observed(Conversation().init_syn().init_syn())
    assert found.codes == ["handshake-order"]
