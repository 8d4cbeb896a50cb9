"""The columns that the grammar names exist, and each has one type."""

from zdissect.grammar.columns import COLUMNS, HIDDEN, NAMES, converter
from zdissect.grammar.registry import fields


def test_every_column_of_the_grammar_is_in_the_table_or_hidden():
    used = {field.column for field in fields().values() if field.column}
    assert used <= {*NAMES, *HIDDEN}
    assert used >= HIDDEN


def test_names_are_unique_and_described():
    assert len(set(NAMES)) == len(COLUMNS)
    assert all(column.doc.endswith(".") for column in COLUMNS)


def test_a_column_has_one_kind_of_value():
    kinds: dict[str, set[str]] = {}
    for field in fields().values():
        if field.column and field.kind not in ("extension", "header", "message"):
            kinds.setdefault(field.column, set()).add("number" if field.type.startswith("uint") else field.type)
    assert {column: found for column, found in kinds.items() if len(found) > 1} == {}


def test_numbers_of_64_bits_stay_unsigned():
    """Lines, JSON, rules and comparisons use what rows hold; only the tables keep bits instead."""
    wide = [
        field
        for field in fields().values()
        if field.column and field.type in ("uint64", "timestamp") and not field.enum
    ]
    largest = (1 << 64) - 1
    assert {field.column for field in wide} >= {"sn", "lease_ms", "timeout_ms", "initial_sn", "timestamp_ntp64"}
    for field in wide:
        convert = converter(field)
        assert (convert(largest) if convert else largest) == largest * field.scale, field.path
