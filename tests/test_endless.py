"""A live capture may go on for days: with new sessions, keys and queries for ever, what is kept stays bounded."""

from typing import Any

import pytest

from tests.conversation import ROUTER, Conversation, Node
from tests.messages import d_keyexpr, declare, entity, final, gone, interest, push
from tests.multicast_group import MulticastGroup
from tests.packets import SECOND, CaptureBuilder, Parties, udp_packet
from zdissect.endless import MOST_IDLE, SWEEP_NS, Endless
from zdissect.grammar.ports import SCOUTING_PORT, ZENOH_PORT
from zdissect.pipeline import Pipeline
from zdissect.session import interests

MINUTE = 60


def parties(number: int, port: int = ZENOH_PORT) -> Parties:
    return Parties((f"10.1.{number >> 8}.{number & 255}", "10.2.0.1"), (10_000 + number, port))


class Stream:
    """An endless capture of which only the state is of interest."""

    def __init__(self) -> None:
        self.capture = CaptureBuilder()
        self.pipeline = Pipeline()
        self.endless = Endless(self.pipeline, self.pipeline)

    def wait(self, seconds: int) -> None:
        """Lets time pass, in which a frame that is nothing of ours comes every ten seconds."""
        for _ in range(seconds // 10):
            self.feed()
            self.capture.now_ns += 10 * SECOND
            self.capture.record(b"\xff" * 14)
        self.feed()

    def feed(self) -> list[Any]:
        items = [item for frame in self.capture.frames for _, items in self.endless.ranked(frame) for item in items]
        self.capture.frames.clear()
        return items

    def conversation(self, number: int, **options: Any) -> Conversation:
        return Conversation(
            self.capture, (Node(number.to_bytes(4, "big"), "client"), ROUTER), parties(number), **options
        )


def kept(pipeline: Pipeline) -> dict[str, int]:
    """How much of each kind is kept."""
    datagrams, sessions = pipeline.datagrams, pipeline.sessions
    streams = pipeline.streams
    return {
        "tcp": len(pipeline.conversations) + len(streams._halves) + len(pipeline.causal.connections),
        "udp": len(datagrams.conversations) + len(datagrams.past),
        "scouts": len(datagrams.scouting.scouts) + len(sessions.discovery.asked),
        "links": len(sessions.links),
        "pairs": len(sessions.pairs),
        "members": len(sessions.groups.joined_ns),
        "held": sum(len(conversation.waiting) for conversation in datagrams.conversations.values()),
    }


def test_sessions_and_datagrams_that_are_over_are_forgotten() -> None:
    stream = Stream()
    for number in range(200):
        tcp = stream.conversation(number).open()
        tcp.frame(0, declare(d_keyexpr(1, f"key/{number}"))).frame(0, push(1)).close(0).hang_up()
        stream.conversation(2000 + number).open()  # and its node vanishes
        stream.conversation(1000 + number, udp=True).open().frame(0, push(f"udp/{number}")).close(0)
        stream.capture.record(udp_packet(parties(number, 53), 0, b"\xffnot zenoh at all"))
        stream.capture.record(udp_packet(parties(number, SCOUTING_PORT), 0, bytes([1, 9, 3])))
        stream.feed()
    assert kept(stream.pipeline)["udp"] == 600
    stream.wait(70 * MINUTE)
    assert not any(kept(stream.pipeline).values()), kept(stream.pipeline)
    assert len(stream.endless.idle) == 0


def test_what_goes_on_is_not_forgotten() -> None:
    stream = Stream()
    talk = stream.conversation(1, udp=True).open().frame(0, declare(d_keyexpr(1, "long")))
    silent = stream.conversation(2, udp=True).open().frame(0, declare(d_keyexpr(1, "silent")))
    for _ in range(MOST_IDLE + 10):
        stream.wait(SWEEP_NS // SECOND)
        talk.keep_alive(0)
    talk.frame(0, push(1, "/a"))
    silent.frame(0, push(1, "/b"))
    keys = [
        message.row.get("key_expr") for item in stream.feed() if hasattr(item, "messages") for message in item.messages
    ]
    assert {"long/a", "silent/b"} <= {*keys}


def test_members_of_a_group_that_have_left_are_forgotten() -> None:
    group = MulticastGroup()
    stream = Stream()
    group.capture = stream.capture
    group.join(0)
    stream.feed()
    assert kept(stream.pipeline)["members"] == 1
    stream.wait(62 * MINUTE)
    assert kept(stream.pipeline)["members"] == 0


def test_what_waits_where_zenoh_is_expected_is_shown_after_an_hour() -> None:
    stream = Stream()
    stream.capture.record(udp_packet(parties(1), 0, b"\xff\xfe\xfd nothing known"))
    assert stream.feed() == []
    stream.wait(58 * MINUTE)
    assert kept(stream.pipeline)["held"] == 1
    shown: list[Any] = []
    for _ in range(4 * MINUTE // 10):
        stream.capture.now_ns += 10 * SECOND
        stream.capture.record(b"\xff" * 14)
        shown += stream.feed()
    assert [(item.flow.id, item.frame.number) for item in shown] == [("udp.0", 1)]
    assert not any(kept(stream.pipeline).values())


@pytest.mark.parametrize("kind", ["token", "interest", "current"])
def test_what_ended_in_a_session_that_goes_on_is_forgotten(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interests, "REMEMBERED", 10)
    stream = Stream()
    long = stream.conversation(1).open().frame(0, declare(entity("TOKEN", 1, "stays"))).frame(0, interest(1))
    long.frame(1, final(1))
    for number in range(2, 100):
        if kind == "token":
            long.frame(0, declare(entity("TOKEN", number, f"token/{number}"))).frame(0, declare(gone("TOKEN", number)))
        else:
            long.frame(0, interest(number, "Current" if kind == "current" else "CurrentFuture", T=1, K=0, S=0, Q=0))
            long.frame(1, final(number))
            if kind == "interest":
                long.frame(0, interest(number, "Final"))
    stream.feed()
    (link,) = stream.pipeline.sessions.links.values()
    declared = link.side(0).declared
    assert len(declared.entities) + len(declared.interests) <= 2 * 10 + 2
    assert any(one.key == "stays" and one.alive for one in declared.entities.values())
    assert 1 in declared.interests
