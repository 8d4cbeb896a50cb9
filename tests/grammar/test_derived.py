"""The table of derived fields, and what is made of it."""

import pytest

from zdissect.grammar.columns import COLUMNS
from zdissect.grammar.derived import DERIVED, SHOWN, SHOWN_ONCE
from zdissect.grammar.registry import fields, wire_fields

TYPES = {column.name: column.type for column in COLUMNS}


@pytest.mark.parametrize("one", DERIVED, ids=lambda one: one.path)
def test_each_is_a_field(one):
    field = fields()[one.path]
    assert (field.kind, field.type, field.column, field.doc) == ("derived", one.type, one.column, one.doc)
    assert not field.leaf
    assert one.path not in wire_fields()


@pytest.mark.parametrize("one", SHOWN, ids=lambda one: one.path)
def test_its_type_is_that_of_its_column(one):
    assert one.type == TYPES[one.column]
    assert one.label


def test_no_column_belongs_to_two():
    columns = [one.column for one in SHOWN]
    assert len(set(columns)) == len(columns)
    assert set(columns) >= SHOWN_ONCE


def test_what_depends_on_later_messages_has_no_column():
    """The session looks back and never ahead."""
    assert {one.path.rpartition(".")[0] for one in DERIVED if one.ahead} == {"zenoh.request"}
    assert not any(one.column for one in DERIVED if one.ahead)
    assert all(one.column or one.ahead for one in DERIVED if one.type != "none")
