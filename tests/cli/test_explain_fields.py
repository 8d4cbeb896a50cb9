"""`zdissect fields` and `zdissect explain`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

from zdissect.grammar.aliases import aliases
from zdissect.grammar.columns import COLUMNS
from zdissect.grammar.derived import DERIVED
from zdissect.grammar.registry import MESSAGES, UNITS, fields
from zdissect.grammar.rules import RULES


def _run(*args: str):
    return CliRunner().invoke(cli, list(args), standalone_mode=False)


def test_all_fields():
    lines = _run("fields").stdout.splitlines()
    listed = [line.split()[0] for line in lines]
    assert listed == list(fields())
    assert {one.path for one in DERIVED} <= set(listed)
    assert len(listed) == len(set(listed))


def test_a_line_says_type_column_and_meaning():
    (line,) = _run("fields", "zenoh.push.scope").stdout.splitlines()
    assert line.split()[:3] == ["zenoh.push.scope", "uint16", "key_scope"]
    assert "global scope" in line


@pytest.mark.parametrize(
    ("pattern", "first"),
    [
        ("zenoh.close.*", "zenoh.close.header"),
        ("push.sc*", "zenoh.push.scope"),
        ("CLOSE.REASON", "zenoh.close.reason"),
        ("close_reason", "zenoh.close.reason"),  # a column
        ("zenoh.transport.close.reason", "zenoh.close.reason"),  # another tool's name
    ],
)
def test_patterns(pattern, first):
    done = _run("fields", pattern)
    assert done.return_value == 0
    assert done.stdout.split()[0] == first


def test_names_of_other_tools():
    done = _run("fields", "--aliases")
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(aliases())
    assert "zenoh.src_zid" in _run("fields", "--aliases", "srczid").stdout


@pytest.mark.parametrize(("asked", "near"), [("timestmp", "zenoh.put.timestamp"), ("push.scop.x", "zenoh.push.scope")])
def test_no_such_field(asked, near):
    done = _run("fields", asked)
    assert done.return_value == 2
    assert done.stdout == ""
    assert near in done.stderr


@pytest.mark.parametrize("code", RULES)
def test_every_finding(code):
    done = _run("explain", code)
    assert done.return_value == 0
    rule = RULES[code]
    assert f"{code}: finding, {rule.severity}, {rule.group}\n\n{rule.text}\n\nSource: {rule.source}" in done.stdout


@pytest.mark.parametrize("one", [*MESSAGES, *UNITS], ids=lambda one: one.name)
def test_every_message(one):
    done = _run("explain", one.name)
    assert done.return_value == 0
    rest = done.stdout.partition(one.doc)[2]
    assert 0 < rest.index("Source: ") < rest.index(" 7 6 5 4 3 2 1 0\n")


@pytest.mark.parametrize("one", [*MESSAGES, *UNITS], ids=lambda one: one.name)
def test_the_docs_that_are_cited_have_the_section(one):
    """Headings get anchors: lower case, blanks to hyphens, no other signs."""
    page = (Path(__file__).parents[2] / "docs" / "fields.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    anchors = {re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings}
    cited = re.findall(r"docs/fields\.md#([\w-]+)", _run("explain", one.name).stdout)
    assert cited
    assert {*cited} <= anchors


def test_every_field_can_be_explained():
    """All at once: the command's own function, for speed."""
    from zdissect_cli.explanations import explanations

    for path in fields():
        assert any(fields()[path].doc in text for text in explanations(path)), path


@pytest.mark.parametrize("name", [*(one.path for one in DERIVED), *(one.name for one in COLUMNS), *aliases()])
def test_derived_fields_columns_and_names_of_other_tools(name):
    from zdissect_cli.explanations import explanations

    assert list(explanations(name))


def test_a_field():
    text = _run("explain", "close.reason").stdout
    assert "zenoh.close.reason: uint8" in text
    assert "Column: close_reason" in text
    assert "zenoh.transport.close.reason" in text
    assert "3  MAX_SESSIONS" in text
    assert "|    reason     |" in text


def test_variants_and_values():
    assert "Named INIT_SYN where A is 0" in _run("explain", "init_ack").stdout
    assert "zenoh/bytes" in _run("explain", "encoding").stdout
    assert "7  Background" in _run("explain", "priority").stdout
    assert "close reason: values" in _run("explain", "close", "reason").stdout
    assert "close reason: values" in _run("explain", "EXPIRED").stdout


@pytest.mark.parametrize(
    ("asked", "near"), [("sn-gpa", "sn-gap"), ("PUSHH", "PUSH"), ("zenoh.pus.scope", "zenoh.push.scope")]
)
def test_no_such_name(asked, near):
    done = _run("explain", asked)
    assert done.return_value == 2
    assert f"nothing is called {asked!r}" in done.stderr
    assert near in done.stderr


def test_nothing_near():
    done = _run("explain", "qqqqqqqqqq")
    assert done.return_value == 2
    assert "did you mean" not in done.stderr


def test_a_quick_start():
    """The reference needs the grammar only."""
    code = (
        "import sys; from zdissect_cli.main import cli;"
        "cli(['fields', 'scope'], standalone_mode=False);"
        "sys.exit(bool({'rich', 'scapy', 'lz4', 'zdissect.pipeline', 'difflib'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


def test_several_names():
    done = _run("explain", "vle-overlong", "nosuch", "PUSH")
    assert done.return_value == 2
    assert "vle-overlong: finding" in done.stdout
    assert "PUSH" in done.stdout
    assert "nothing is called 'nosuch'" in done.stderr
