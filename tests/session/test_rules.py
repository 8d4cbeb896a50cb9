"""Every rule that needs the state of a session has a conversation that triggers it, and a twin that stays silent."""

from importlib import import_module
from pathlib import Path

import pytest

from tests.observed import observed
from tests.session.cases import CASES, Case
from zdissect.grammar.file_rules import FILE_RULES
from zdissect.grammar.rule import CAPTURE
from zdissect.grammar.rules import RULES
from zdissect.grammar.state_rules import STATE_RULES

HERE = Path(__file__).parent
ABOUT_FILES = {rule.code for rule in FILE_RULES}
"""These have their cases in tests/export."""
for module in sorted((HERE / "rules").glob("[a-z]*.py")):
    import_module(f"tests.session.rules.{module.stem}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_fault_is_found(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    if case.limit:
        monkeypatch.setattr(*case.limit)
    found = observed(case.build(True))
    expected = sorted((case.code, *case.also, *case.always))
    assert sorted(found.codes) == expected, found.located
    place = next(place for place in found.located if place.code == case.code)
    assert place[:4] == (case.code, case.severity, case.message, case.field)
    if case.data is not None:
        assert place.data == case.data


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_healthy_twin_is_silent(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    if case.limit:
        monkeypatch.setattr(*case.limit)
    found = observed(case.build(False))
    assert sorted(found.codes) == sorted(case.always), found.located
    assert found.items


def test_every_rule_is_triggered_by_a_case_or_a_vector() -> None:
    """Vectors state the findings that decoding makes; those of serial lines have their own tests."""
    vectors = "\n".join(path.read_text() for path in (HERE.parent / "vectors").glob("*.txt")).split()
    serial = (HERE.parent / "flow" / "test_serial_line.py").read_text()
    missing = RULES.keys() - {case.code for case in CASES} - set(vectors) - ABOUT_FILES
    assert not {code for code in missing if f'"{code}"' not in serial}


def test_every_rule_of_sessions_and_captures_has_a_case() -> None:
    wanted = {rule.code for rule in STATE_RULES} | {code for code, rule in RULES.items() if rule.group == CAPTURE}
    assert {case.code for case in CASES} == wanted - ABOUT_FILES
