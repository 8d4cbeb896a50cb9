"""Names of conversations where only the latest ones are remembered: none is taken by another while it is in use."""

import pytest

from zdissect.dissection import Notice
from zdissect.flow.conversation import Flow
from zdissect.output.ends import Ends
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
