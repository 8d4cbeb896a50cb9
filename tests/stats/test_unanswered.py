"""Queries that nobody answered, in captures without an end: the same count, whatever is forgotten."""

import pytest

from tests.conversation import Conversation
from tests.messages import request, response, response_final
from zdissect.pipeline import dissect
from zdissect.stats import query_stats
from zdissect.stats.query_stats import Queries, Unanswered


@pytest.mark.parametrize("most_open", [None, 5000])
def test_what_is_forgotten_changes_no_count(most_open: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_stats, "ROOM", 4)
    talk = Conversation().open()
    for number in range(1, 200):
        talk.frame(0, request(number, f"key/{number}", timeout=1000)).wait(2 if number < 100 else 60)
        if number % 3:
            talk.frame(1, response(number, f"key/{number}"))
        if number % 2:
            talk.frame(1, response_final(number))
    queries, unanswered = Queries(), Unanswered(most_open)
    for item in dissect(talk.capture.frames):
        queries.take(item)
        unanswered.take(item)
    assert unanswered.silent().count == queries.silent().count == 66
    assert not unanswered.keys
    assert len(unanswered.known) == 199 if most_open is None else len(unanswered.known) < 120
    assert len(unanswered.open) < 70 if most_open is not None else len(unanswered.open) == 99
