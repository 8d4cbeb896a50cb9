"""`--as` any structure of the grammar."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zdissect.grammar.registry import MESSAGES, place
from zdissect.grammar.types import Extension, Group
from zdissect.readings import UnknownName, read_as
from zdissect.readings.named_structures import structure_names

CASES = [
    ("timestamp", "a0 a4 c9 b8 df ff fb 84 6b 08 b7 b6 b5 b4 b3 b2 b1 b0", "time id"),
    ("zid", "34 ad cb", "zid"),
    ("zid", "03 34 ad cb", "zid"),
    ("source-info", "10 02 bb 06 4d", "packed zid eid sn"),
    ("source_info", "05 10 02 bb 06 4d", "length packed zid eid sn"),
    ("source-info", "41 05 10 02 bb 06 4d", "header length packed zid eid sn"),
    ("qos", "0d", "value"),
    ("qos", "21 0d", "header value"),
    ("link-state", "01 09 00 01 02 01 aa 01 02 07", "count options psid sn zid link_count link weight"),
    ("link-state", "0a 01 09 00 01 02 01 aa 01 02 07", "length count options psid sn zid link_count link weight"),
    ("locator", "74 63 70 2f 61 3a 31", "locator"),
    ("locators", "01 07 74 63 70 2f 61 3a 31", "count locator"),
    ("encoding", "09 05 75 74 66 2d 38", "value schema"),
    ("wire-expr", "01 00 6b", "flags scope suffix"),
]


@pytest.mark.parametrize(("name", "data", "fields"), CASES)
def test_structures(name, data, fields):
    reading = read_as(bytes.fromhex(data), name)
    leaves = [span[0].name for unit in reading.units for span in unit.tape.spans if span[0].leaf]
    assert leaves == fields.split()
    assert reading.complete


def test_how_it_was_cut_out_is_said():
    assert read_as(bytes.fromhex("0510 02bb 064d"), "source_info").title == "a structure source_info with its length"
    assert "with its header" in read_as(bytes.fromhex("210d"), "qos").title


def test_every_extension_and_every_group_with_a_name():
    def walk(places):
        for one in places:
            yield one.node
            yield from walk(one.inside)

    nodes = [node for message in MESSAGES for node in walk(place(message).inside)]
    named = {node.name for node in nodes if isinstance(node, Extension | Group) and node.name}
    assert named <= structure_names().keys()


@pytest.mark.parametrize("name", structure_names())
@given(data=st.binary(max_size=30))
def test_any_bytes(name, data):
    reading = read_as(data, name)
    for unit in reading.units:
        leaves = list(unit.tape.leaves())
        assert b"".join(data[span[2] : span[3]] for span in leaves) == data


def test_no_such_structure():
    with pytest.raises(UnknownName, match="did you mean timestamp"):
        read_as(b"", "timestmp")
