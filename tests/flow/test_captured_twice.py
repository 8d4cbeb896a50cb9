"""Datagrams that the capture holds twice, and those that were sent twice."""

import json
from pathlib import Path

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.conversation import Conversation
from tests.export.tables import converted, rows, write_pcap
from tests.interface_copies import ETHERNET, RAW, SLL, US, InterfaceCopies
from tests.messages import push
from tests.observed import Observed, dissected
from tests.packets import MS, CaptureBuilder, Parties
from zdissect.output import jsonl
from zdissect.pipeline import Options, Pipeline
from zdissect.stats import Stats
from zdissect.verbose import Verbose


def session() -> Conversation:
    return Conversation(udp=True).open().frame(0, push("a/1")).frame(0, push("a/2")).keep_alive(1)


NAMES = ["INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK", "FRAME", "PUSH", "FRAME", "PUSH", "KEEP_ALIVE"]


@pytest.mark.parametrize(
    "copies",
    [
        InterfaceCopies(),
        InterfaceCopies(interfaces=(5, 3, 7)),
        InterfaceCopies(numbered=False),
        InterfaceCopies(version=6),
        InterfaceCopies(apart_ns=15 * MS),
        InterfaceCopies(apart_ns=-10 * US),
        InterfaceCopies(link=SLL),
        InterfaceCopies(link=ETHERNET),
        InterfaceCopies(link=ETHERNET, interfaces=(3, 3)),
        InterfaceCopies(link=SLL, interfaces=(3, 3)),
        InterfaceCopies(link=RAW),
    ],
)
def test_a_copy_is_left_out(copies: InterfaceCopies) -> None:
    """Each message has one row; that there are copies is told once."""
    found, others = dissected(copies.of(session().capture))
    assert found.names == NAMES
    assert found.codes == ["captured-twice"]
    assert "copy of frame 1" in found.findings[0].message
    assert not others


@pytest.mark.parametrize(
    "copies",
    [
        InterfaceCopies(interfaces=(3, 3)),
        InterfaceCopies(apart_ns=200 * MS),
        InterfaceCopies(version=6, apart_ns=5 * MS),
        InterfaceCopies(link=ETHERNET, interfaces=(3, 3), numbered=False),
        InterfaceCopies(link=ETHERNET, interfaces=(3, 3), apart_ns=MS),
    ],
)
def test_what_may_have_been_sent_twice_is_no_copy(copies: InterfaceCopies) -> None:
    found, _ = dissected(copies.of(Conversation(udp=True).frame(0, push("a"), sn=7).frame(0, push("b"), sn=8).capture))
    assert found.codes.count("sn-duplicate") + found.codes.count("sn-backward") >= 2
    assert "captured-twice" not in found.codes


@pytest.mark.parametrize("version", [4, 6])
def test_a_duplicate_that_is_captured_twice(version: int) -> None:
    """Two packets, each on both interfaces, in whatever order."""
    conversation = Conversation(udp=True).frame(0, push("a"), sn=7)
    once = InterfaceCopies(version=version).of(conversation.capture).frames
    again = InterfaceCopies(version=version).of(conversation.capture, number=2000).frames
    for order in ((0, 1, 2, 3), (0, 2, 1, 3)):
        frames = [(once + again)[index] for index in order]
        capture = CaptureBuilder(
            [frame._replace(number=place, ts_ns=once[0].ts_ns + place * US) for place, frame in enumerate(frames, 1)]
        )
        found, _ = dissected(capture)
        assert found.names == ["FRAME", "PUSH"] * 2
        assert sorted(found.codes) == ["captured-twice", "sn-duplicate"]


def test_scouting_is_captured_twice() -> None:
    capture = CaptureBuilder()
    conversation = Conversation(capture, udp=True)
    conversation.parties = conversation.parties._replace(ports=(50001, 7446))
    conversation.raw(0, bytes.fromhex("010907"))
    found, _ = dissected(InterfaceCopies().of(capture))
    assert found.summaries == [(1, "SCOUT", []), (2, "", ["captured-twice"])]


def test_every_form(tmp_path: Path) -> None:
    capture = InterfaceCopies().of(session().capture)

    def items() -> Observed:
        return dissected(capture)[0]

    def text(kind: str) -> str:
        writer = make_form(DisplayOptions(kind, color="never"))
        return "".join(writer.show(item) for item in items().items)

    assert text("line").count("copy of frame") == text("tree").count("copy of frame") == 1
    assert [json.loads(line)["message"] for line in text("jsonl").splitlines()] == NAMES
    assert all(jsonl.line(row) for row in items().rows)
    (tmp_path / "in").mkdir()
    write_pcap(tmp_path / "in" / "one.pcap", capture.frames)
    converted(tmp_path / "in", tmp_path / "out")
    assert [row["message"] for row in rows(tmp_path / "out")] == NAMES
    assert [row["code"] for row in rows(tmp_path / "out", "findings")] == ["captured-twice"]
    (one,) = rows(tmp_path / "out", "sessions")
    assert one["opener_messages"] + one["other_messages"] == len(NAMES)


def test_bytes_of_copies_are_repeats() -> None:
    capture = InterfaceCopies().of(session().capture)
    pipeline, stats = Pipeline(Options(history=True)), Stats()
    for frame in capture.frames:
        for item in pipeline.feed(frame):
            stats.feed(item)
    for item in pipeline.close():
        stats.feed(item)
    accounting = stats.finish(pipeline)["accounting"]
    assert accounting["repeated"] == accounting["decoded"] == accounting["captured"] / 2 > 0


def test_each_copy_is_named_with_v() -> None:
    capture = InterfaceCopies().of(session().capture)
    verbose = Verbose(Pipeline())
    told = [item for frame in capture.frames for _, items in verbose.ranked(frame) for item in items]
    texts = [item.text for item in told if hasattr(item, "text")]
    assert len(texts) == len(capture.frames) // 2
    assert all("copy of frame" in text for text in texts)


def test_what_others_say_is_no_copy() -> None:
    """The same bytes under the same number, from another sender, on another interface."""
    captures = [
        Conversation(udp=True, parties=Parties(ports=(port, 7447))).keep_alive(0).capture for port in (40000, 40001)
    ]
    frames = [
        InterfaceCopies(interfaces=(place,)).of(capture).frames[0]
        for place, capture in zip((5, 3), captures, strict=True)
    ]
    found, _ = dissected(CaptureBuilder([frames[0], frames[1]._replace(number=2, ts_ns=frames[0].ts_ns + US)]))
    assert found.names == ["KEEP_ALIVE"] * 2
    assert not found.codes
