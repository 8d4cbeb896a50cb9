"""The wire notes in docs: what refers to them exists there, and their worked examples are the vectors."""

import re
from pathlib import Path

import pytest

from tests.test_vectors import VECTORS
from zdissect.output.notes import entries, linked, places, sections

ROOT = Path(__file__).parents[1]
NOTES = (ROOT / "docs" / "wire-notes.md").read_text()
FIELDS = (ROOT / "docs" / "fields.md").read_text()
ANCHORS = set(re.findall(r'<a id="([\d.]+)"></a>', NOTES))
FOLDERS = ("zdissect", "cli", "tests", "docs", "samples", "pyspark_zenoh")
FILES = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")]
WHO = [path for path in FILES if path.suffix in (".py", ".md", ".txt") and path != Path(__file__)]


def section(number: str) -> str:
    """The text of a section without those below it."""
    return NOTES.partition(f'<a id="{number}"></a>')[2].partition("<a id=")[0]


def test_every_heading_has_its_anchor() -> None:
    headings = re.findall(r"^##+ (\d+(?:\.\d+)?)[. ]", NOTES, re.MULTILINE)
    assert set(headings) == ANCHORS
    assert len(headings) == len(ANCHORS) > 40


@pytest.mark.parametrize("path", WHO, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_referred_to_exists(path: Path) -> None:
    text = re.sub(r"\s*\n\s*(?:#\s*|\"\s*\")?", " ", path.read_text())
    assert set(sections(text)) <= ANCHORS
    for where, number in entries(text):
        assert f"\n| {number} |" in section(where), f"{where} no. {number}"
    for example in re.findall(r"notes 12 (E\d+b?|Others)\b", text):
        assert re.search(rf"\*\*{example}\b", section("12")), example


def test_links_lead_somewhere() -> None:
    """Those of this page to others, and those of others to its sections."""
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert set(re.findall(r"\]\(([\w-]+\.md)", NOTES)) <= pages
    named = re.findall(r"\(wire-notes\.md#([\d.]+)\)", FIELDS)
    assert len(named) > 50
    assert set(named) <= ANCHORS


def test_the_notes_speak_of_the_protocol_alone() -> None:
    assert not re.search(r"shared/|/work|captures/|\.txt\b|\b[Ii]ssue \d", NOTES)


def examples() -> list[tuple[str, str, bytes]]:
    """(kind, first line, bytes) of each worked example: lines up to an empty one, left of the comments."""
    out = []
    for kind, block in re.findall(r"```hex (\w+)\n(.*?)```", NOTES, re.DOTALL):
        for unit in block.strip().split("\n\n"):
            data = "".join(line.partition("|")[0] for line in unit.splitlines())
            out.append((kind, unit.splitlines()[0], bytes.fromhex(data)))
    return out


@pytest.mark.parametrize(
    ("kind", "first", "data"), examples(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_the_worked_examples_are_vectors(kind: str, first: str, data: bytes) -> None:
    """The same bytes, framed in the same way."""
    assert any(vector.entry == kind and vector.data == data for vector in VECTORS), first


def test_no_example_is_passed_over() -> None:
    assert len(examples()) > 36
    assert {kind for kind, _, _ in examples()} == {"stream", "batch", "cbatch", "ll", "scout"}


def test_a_reference_is_understood() -> None:
    text = "code; notes 2.1, 9 no. 20, 21 and 13 no. 3, and notes 4.5 to 4.6"
    assert sections(text) == ["2.1", "9", "13", "4.5", "4.6"]
    assert entries(text) == [("9", 20), ("9", 21), ("13", 3)]
    assert places("notes 2.1 and 9 no. 5") == "docs/wire-notes.md#2.1, #9"
    assert places("push#PUSH Extensions") == ""
    assert linked("(notes 2.1 and 9 no. 5)") == "([notes 2.1](wire-notes.md#2.1) and [9 no. 5](wire-notes.md#9))"
    assert linked("`notes 2.1`") == "`notes 2.1`"
    assert sections("notes 7.1          where") == ["7.1"]
