"""Names of conversations where only the latest ones are remembered: none is taken by another while it is in use."""

import pytest

from tests.hostile.work import TWICE, growth
from zdissect.dissection import Notice
from zdissect.flow.conversation import Flow
from zdissect.output.ends import MOST_NAMED, Ends
from zdissect.records import Endpoint, Frame

ROUTER = Endpoint(bytes((10, 0, 0, 1)), 7447)


def column(ends: Ends, number: int, zid: str | None = None, port: int = 40_000) -> str:
    """What the column says of a client of the router."""
    flow = Flow(f"tcp.{number}", "tcp", (Endpoint(bytes((10, 0, 1, number)), port), ROUTER))
    row = {"src_zid": zid, "dst_zid": "bb02"} if zid is not None else None
    return ends.column(Notice(Frame("", 1, 1, 1, 0, b""), flow, 0, ""), row)[0]


def test_a_name_is_free_once_its_conversation_is_forgotten() -> None:
    ends = Ends()
    ends.most = 2
    assert column(ends, 1) == ":40000→:7447"
    assert column(ends, 2) == ".2:40000→:7447"
    assert column(ends, 1) == ":40000→:7447"  # so that the other one is silent for longer
    assert column(ends, 3) == ".3:40000→:7447"
    assert column(ends, 4) == ":40000→:7447"
    assert len(ends.known) == 2


def test_a_name_is_kept_while_any_conversation_needs_it() -> None:
    ends = Ends()
    ends.most = 3
    assert column(ends, 1, "1234aa") == "1234→bb02"
    for number in range(2, 20):
        assert column(ends, number, f"{number:04d}aa") == f"{number:04d}→bb02"
        assert column(ends, 1, "1234aa") == "1234→bb02"
        assert column(ends, 100 + number, "1234ff") == "1234f→bb02"
    assert len(ends.short) == len(ends.names) == len(ends.uses) <= 4 * ends.most


def test_a_name_that_was_shown_stays_that_of_its_conversation() -> None:
    """Also when a better one is known: what was shown before would be misread."""
    ends = Ends()
    assert column(ends, 1) == ":40000→:7447"
    assert column(ends, 1, "1234aa") == "1234→bb02"
    assert column(ends, 2) == ".2:40000→:7447"


def test_as_many_are_remembered_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = Ends()
    for number in range(200):
        column(ends, number)
    assert len(ends.known) == 200
    monkeypatch.setattr("zdissect.output.ends.MOST", 20)
    ends = Ends()
    for number in range(200):
        column(ends, number)
    assert len(ends.known) == 20
    assert len(ends.uses) == len(ends.names) == 21


def test_a_conversation_keeps_the_names_of_its_last_nodes() -> None:
    ends = Ends()
    for number in range(500):
        column(ends, 1, f"{number:04d}aa")
    assert column(ends, 2, "0000bb") == "0000→bb02", "the first one has left"
    assert column(ends, 3, "0499bb") == "0499b→bb02"
    assert len(ends.uses) == len(ends.names) == len(ends.short) < 2 * MOST_NAMED
    assert len(ends.known["tcp.1"].named) == MOST_NAMED


def test_nodes_that_take_turns_keep_their_names() -> None:
    """As those of one machine do, whose JOINs come from one address."""
    ends = Ends()
    for _ in range(20):
        assert column(ends, 1, "1234aa") == "1234→bb02"
        assert column(ends, 1, "1234ff") == "1234f→bb02"
        assert column(ends, 1, "5678aa") == "5678→bb02"


def test_work_for_ever_new_nodes_is_linear() -> None:
    made = {count: [f"{number:04d}aa" for number in range(count)] for count in (125, 1000, 2000)}

    def name(count: int) -> None:
        ends = Ends()
        for zid in made[count]:
            column(ends, 1, zid)

    assert growth(name, 1000) < TWICE
