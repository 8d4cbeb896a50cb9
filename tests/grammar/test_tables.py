"""Ids, flags and extension headers of all messages, against the tables of the notes (2.2, 4.1, 5, 6.1, 7.1)."""

import pytest

from zdissect.grammar.registry import MESSAGES
from zdissect.grammar.types import Extensions

IDS = {
    "network": {
        "INTEREST": 0x19,
        "RESPONSE_FINAL": 0x1A,
        "RESPONSE": 0x1B,
        "REQUEST": 0x1C,
        "PUSH": 0x1D,
        "DECLARE": 0x1E,
        "OAM": 0x1F,
    },
    "transport": {"OAM": 0, "INIT": 1, "OPEN": 2, "CLOSE": 3, "KEEP_ALIVE": 4, "FRAME": 5, "FRAGMENT": 6, "JOIN": 7},
    "data": {"PUT": 1, "DEL": 2, "QUERY": 3, "REPLY": 4, "ERR": 5},
    "declaration": {
        "D_KEYEXPR": 0,
        "U_KEYEXPR": 1,
        "D_SUBSCRIBER": 2,
        "U_SUBSCRIBER": 3,
        "D_QUERYABLE": 4,
        "U_QUERYABLE": 5,
        "D_TOKEN": 6,
        "U_TOKEN": 7,
        "D_FINAL": 0x1A,
    },
    "scouting": {"SCOUT": 1, "HELLO": 2},
}


def test_ids_of_the_messages():
    found: dict[str, dict[str, int]] = {}
    for one in MESSAGES:
        found.setdefault(one.layer, {})[one.name] = one.id
    assert found == IDS


HEADERS = {
    "INIT": "01 21 42 43 44 05 06 27 48",
    "OPEN": "01 22 42 43 44 04 05 06 27",
    "JOIN": "51 52 27",
    "FRAME": "31",
    "FRAGMENT": "31 02 03",
    "transport_oam": "31",
    "CLOSE": "",
    "KEEP_ALIVE": "",
    "PUSH": "21 42 33 47",
    "REQUEST": "21 42 33 34 25 26 47",
    "RESPONSE": "21 42 43 47",
    "RESPONSE_FINAL": "21 42",
    "DECLARE": "21 42 33",
    "INTEREST": "21 42 33",
    "OAM": "21 42",
    "PUT": "41 12 43",
    "DEL": "41 42 43",
    "QUERY": "41 04 43 45",
    "REPLY": "",
    "ERR": "41 12",
    "D_QUERYABLE": "21",
    "U_SUBSCRIBER": "5f",
    "U_QUERYABLE": "5f",
    "U_TOKEN": "5f",
    "SCOUT": "",
    "HELLO": "",
    "D_KEYEXPR": "",
    "U_KEYEXPR": "",
    "D_SUBSCRIBER": "",
    "D_TOKEN": "",
    "D_FINAL": "",
}
"""The table of the notes, section 2.2."""


@pytest.mark.parametrize("one", MESSAGES, ids=lambda one: one.path or one.name)
def test_headers_of_the_extensions(one):
    chain = next(node for node in one.fields if isinstance(node, Extensions))
    assert {known.key for known in chain.known} == {*bytes.fromhex(HEADERS[one.path or one.name])}


FLAGS = {
    "INIT": "Z7 S6 A5",
    "OPEN": "Z7 T6 A5",
    "CLOSE": "Z7 S5",
    "KEEP_ALIVE": "Z7",
    "FRAME": "Z7 R5",
    "FRAGMENT": "Z7 M6 R5",
    "JOIN": "Z7 S6 T5",
    "transport_oam": "Z7 enc5",
    "INTEREST": "Z7 mode5",
    "RESPONSE_FINAL": "Z7",
    "RESPONSE": "Z7 M6 N5",
    "REQUEST": "Z7 M6 N5",
    "PUSH": "Z7 M6 N5",
    "DECLARE": "Z7 I5",
    "OAM": "Z7 enc5",
    "PUT": "Z7 E6 T5",
    "DEL": "Z7 T5",
    "QUERY": "Z7 P6 C5",
    "REPLY": "Z7 C5",
    "ERR": "Z7 E6",
    "D_KEYEXPR": "Z7 N5",
    "U_KEYEXPR": "Z7",
    "D_SUBSCRIBER": "Z7 M6 N5",
    "U_SUBSCRIBER": "Z7",
    "D_QUERYABLE": "Z7 M6 N5",
    "U_QUERYABLE": "Z7",
    "D_TOKEN": "Z7 M6 N5",
    "U_TOKEN": "Z7",
    "D_FINAL": "Z7",
    "SCOUT": "Z7",
    "HELLO": "Z7 L5",
}


@pytest.mark.parametrize("one", MESSAGES, ids=lambda one: one.path or one.name)
def test_flags(one):
    own = {f"{bit.name}{bit.low}" for bit in one.flags if not bit.reserved}
    assert own == {*FLAGS[one.path or one.name].split()}
