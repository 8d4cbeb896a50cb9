"""The page of all fields, printed from the grammar."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from zdissect.grammar.aliases import aliases
from zdissect.grammar.enums import ENCODING
from zdissect.grammar.registry import MESSAGES, UNITS, PlacedNode, fields, place
from zdissect.grammar.types import Extension
from zdissect.output.fields_page import fields_markdown

ROOT = Path(__file__).parents[2]
PAGE = fields_markdown()
PLAIN = re.sub(r"\[([^]]*)\]\(wire-notes\.md#[\d.]+\)", r"\1", PAGE)
"""The page without its links to the notes."""


def test_the_page_in_the_repository_is_up_to_date():
    """Else: `python -m zdissect.output.fields_page > docs/fields.md`."""
    assert (ROOT / "docs" / "fields.md").read_text() == PAGE


def test_the_command_writes_the_page():
    done = subprocess.run(
        [sys.executable, "-m", "zdissect.output.fields_page"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == PAGE


def test_every_field_is_mentioned():
    assert [path for path in fields() if f"`{path}`" not in PAGE] == []


def test_every_description_and_column_is_mentioned():
    for field in fields().values():
        assert field.doc.replace("|", "\\|") in PLAIN, field.path
        assert f"`{field.column}`" in PAGE or not field.column or field.kind in ("message", "header"), field.path


def test_every_message_has_its_section():
    for message in MESSAGES:
        assert f"### {message.name} (0x{message.id:02x})\n\n{message.doc} *Reference: {message.spec}.*" in PLAIN
    for unit in UNITS:
        assert f"### {unit.name.capitalize()}\n\n{unit.doc}" in PLAIN
    assert "Named INIT_SYN where A is 0, INIT_ACK where it is 1." in PAGE


def _extensions(places: tuple[PlacedNode, ...]) -> list[tuple[str, Extension]]:
    own = [(one.field.path, one.node) for one in places if isinstance(one.node, Extension)]
    return own + [pair for one in places for pair in _extensions(one.inside)]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.path or message.name)
def test_every_extension_has_its_row(message):
    for path, ext in _extensions(place(message).inside):
        row = next(line for line in PLAIN.splitlines() if line.startswith("| 0x") and f"| `{path}` |" in line)
        assert row.startswith(f"| 0x{ext.key:02x} | 0x{ext.id:x} | ")
        assert row.endswith(f"| {ext.doc} | {ext.spec} |")


def test_every_other_name_is_listed():
    assert all(f"`{name}`" in PAGE for name in aliases())


def test_names_of_values_are_listed():
    assert all(name in PAGE for name in ENCODING.names.values())
    assert "| 5 | EXPIRED | Nothing arrived for the lease. |" in PAGE


def test_the_figure_of_push():
    assert (
        """```
 7 6 5 4 3 2 1 0
+-+-+-+-+-+-+-+-+
|Z|M|N|  PUSH   |  id 0x1d
+-+-+-+---------+
%     scope     %  z16
+---------------+
~    suffix     ~  if N; <utf8;z16>
+---------------+
~ [extensions]  ~  if Z
+---------------+
~     body      ~  PUT or DEL
+---------------+
```"""
        in PAGE
    )


def test_figures_are_as_wide_as_a_byte():
    figures = PAGE.split("```")[1::2]
    assert len(figures) == len(MESSAGES) + len(UNITS)
    for figure in figures:
        for line in figure.strip("\n").splitlines()[1:]:
            assert line[0] == line[16] and line[0] in "+|%~", line  # noqa: PT018


def test_the_bits_of_interest_and_init_are_drawn():
    assert "|A|M|N|R|T|Q|S|K|  if mode != 0; options" in PAGE
    assert "|zid_len|X|X|wha|  packed: whatami" in PAGE


def test_tables_have_a_cell_for_each_column():
    lines = [line for line in PAGE.splitlines() if line.startswith("| `zenoh.")]
    assert len(lines) >= len(fields())
    for line in lines:
        assert line.replace("\\|", "").count("|") in (4, 5, 6), line
