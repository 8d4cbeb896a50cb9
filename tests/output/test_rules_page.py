"""docs/rules.md: generated, complete, and what links lead to is there."""

import re
from pathlib import Path

from zdissect.grammar.profiles import PROFILES
from zdissect.grammar.rules import RULES
from zdissect.output.rules_page import anchor, rules_markdown

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_what_the_rules_say():
    """Else: `python -m zdissect.output.rules_page > docs/rules.md`."""
    assert (DOCS / "rules.md").read_text(encoding="utf-8") == rules_markdown()


def test_each_rule_has_a_heading_that_its_link_leads_to():
    headings = re.findall(r"^### (\S+)$", rules_markdown(), re.MULTILINE)
    assert sorted(headings) == sorted(RULES)
    assert anchor("sn-gap") == "docs/rules.md#sn-gap"


def test_every_treatment_has_a_line_and_every_link_a_place():
    page = rules_markdown()
    rows = re.findall(r"^\| \[([a-z0-9-]+)\]\(#\1\) \| (error|warning|note|nothing) \|", page, re.MULTILINE)
    assert len(rows) == sum(len(profile.treatments) for profile in PROFILES.values())
    notes = (DOCS / "wire-notes.md").read_text(encoding="utf-8")
    for section in set(re.findall(r"wire-notes\.md#([\w.]+)", page)):
        assert f'<a id="{section}">' in notes, section
