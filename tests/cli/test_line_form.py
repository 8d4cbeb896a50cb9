"""`-T line`: what a line says, whom it names, where it is cut."""

import re

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.conversation import ROUTER, Conversation, Node
from tests.messages import push
from tests.observed import observed
from tests.packets import Parties
from zdissect.output.cutting import cells, cut
from zdissect.output.plain_characters import HANDLER
from zdissect.output.short_line import duration, folded_frames


def lines(conversation: Conversation, columns: int | None = None, **options: object) -> list[str]:
    form = make_form(DisplayOptions("line", color="never", **options))  # type: ignore[arg-type]
    form.columns = columns  # type: ignore[attr-defined]
    return "".join(map(form.show, observed(conversation).items)).splitlines()


def test_a_session_is_introduced_once_and_goes_by_short_names() -> None:
    conversation = Conversation().open()
    conversation.frame(0, push(0, "a")).frame(1, push(0, "b"))
    out = lines(conversation)
    assert sum(" ─ " in line for line in out) == 1
    assert re.search(r" ─ tcp\.0: client aa01 10\.0\.0\.1:\d+ → router bb02 10\.0\.0\.2:7447$", out[1])
    assert out[0].endswith(":7447"), "who isn't introduced yet has the addresses in the line"
    assert " aa01→bb02 " in out[-2]
    assert " aa01←bb02 " in out[-1]


def test_nodes_that_begin_alike_have_more_digits() -> None:
    capture = Conversation().capture
    nodes = (Node(b"\x01\xaa", "client"), Node(b"\x02\x01\xaa", "client"), Node(b"\x01\x02\xaa\x01\xaa", "peer"))
    for number, node in enumerate(nodes):
        Conversation(capture, (node, ROUTER), Parties(ports=(40000 + number, 7447))).open()
    text = "\n".join(lines(Conversation(capture)))
    assert {*re.findall(r" (\w+)→bb02 ", text)} == {"aa01", "aa010", "aa01a"}


def test_frames_are_folded_into_their_first_message() -> None:
    frame, first, second = ({"message": name, "layer": layer} for name, layer in FOLDED)
    rows = [frame, first, second, frame]
    assert list(folded_frames(rows, None)) == [(1, 0), (2, -1), (3, -1)]
    assert list(folded_frames(rows, [True, False, True, False])) == [(2, 0)]
    assert list(folded_frames(rows, [True, False, False, False])) == [(0, -1)]
    assert list(folded_frames([frame, first], [False, False])) == []


FOLDED = (("FRAME", "transport"), ("PUSH", "network"), ("DECLARE", "network"))


def test_texts_are_cut_at_the_edge() -> None:
    text = "\x1b[1mabc\x1b[0mdefg"
    assert cut(text, 7) == text
    assert cut(text, 6) == "\x1b[1mabc\x1b[0mde…"
    assert cut(text, 4) == "\x1b[1mabc\x1b[0m…"
    assert cut(text, 3) == "\x1b[1mab…\x1b[0m"
    assert cut("ab\x1b[1mcd\x1b[0m", 3) == "ab\x1b[1m…\x1b[0m"
    assert cut("ab\x1b[1mcd\x1b[0m", 2) == "a…"
    assert cut(text, 0) == ""
    assert cells("\x1b[1m日本\x1b[0me\u0301") == 5
    assert cut("日本語", 4) == "日…"


@pytest.mark.parametrize(
    ("ns", "text"), [(272_057, "0.272 ms"), (41_300_000, "41.3 ms"), (1_250_000_000, "1.25 s"), (-5_000, "-0.005 ms")]
)
def test_durations(ns: int, text: str) -> None:
    assert duration(ns) == text


def test_findings_are_never_cut() -> None:
    conversation = Conversation().open()
    conversation.frame(0, push(0, "a/very/long/key/of/many/words/indeed")).frame(0, push(0, "b"), sn=7)
    for columns in (40, 60, 80, 120, None):
        out = lines(conversation, columns)
        (found,) = (line for line in out if "[warning" in line)
        assert found.endswith("]")
        for line in out:
            if columns is not None and "[" not in line and " ─ " not in line:
                assert cells(line) <= columns
    assert not any("…" in line for line in lines(conversation))


def test_brief_leaves_out_keep_alives() -> None:
    conversation = Conversation().open()
    conversation.frame(0, push(0, "a")).keep_alive(1)
    assert lines(conversation)[-1].endswith(" KEEP_ALIVE")
    assert lines(conversation, brief=True) == lines(conversation)[:-1]


def test_what_an_encoding_lacks_has_a_likeness() -> None:
    assert "34ad→83a6 … ┏━┓ ▁█ é \u65e5".encode("ascii", HANDLER) == rb"34ad>83a6 ~ +=+ _# \xe9 \u65e5"
    assert "é→".encode("latin-1", HANDLER) == b"\xe9>"
