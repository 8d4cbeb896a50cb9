"""Tables of names, against those of the notes and pages."""

import pytest

from zdissect.grammar import enums
from zdissect.grammar.registry import fields
from zdissect.grammar.rules import RULES
from zdissect.grammar.types import Enum

ALL = {name: value for name, value in vars(enums).items() if isinstance(value, Enum)}


@pytest.mark.parametrize(
    ("enum", "names"),
    [
        (enums.WHATAMI, {0: "router", 1: "peer", 2: "client"}),
        (enums.WHATAMI_MAP, {1: "router", 2: "peer", 4: "client"}),
        (enums.RESOLUTION, {0: "8 bit", 1: "16 bit", 2: "32 bit", 3: "64 bit"}),
        (enums.TARGET, {0: "BestMatching", 1: "All", 2: "AllComplete"}),
        (enums.CONSOLIDATION, {0: "Auto", 1: "None", 2: "Monotonic", 3: "Latest"}),
        (enums.MODE, {0: "Final", 1: "Current", 2: "Future", 3: "CurrentFuture"}),
        (enums.ENC, {0: "Unit", 1: "Z64", 2: "ZBuf"}),
        (enums.BOUND, {0: "north", 1: "south"}),
        (enums.OAM_ID, {1: "link state"}),
    ],
    ids=lambda value: value.title if isinstance(value, Enum) else "",
)
def test_tables(enum, names):
    assert enum.names == names


def test_priorities():
    names = "Control RealTime InteractiveHigh InteractiveLow DataHigh Data DataLow Background"
    assert enums.PRIORITY.names == dict(enumerate(names.split()))


def test_close_reasons():
    names = "GENERIC UNSUPPORTED INVALID MAX_SESSIONS MAX_LINKS EXPIRED UNRESPONSIVE CONNECTION_TO_SELF"
    assert enums.CLOSE_REASON.names == dict(enumerate(names.split()))
    assert set(enums.CLOSE_REASON.docs) == set(enums.CLOSE_REASON.names)


def test_what_scout_asks_for_is_an_or_of_roles():
    for value, text in enums.WHAT.names.items():
        assert text == "|".join(name for bit, name in enums.WHATAMI_MAP.names.items() if value & bit)
    assert set(enums.WHAT.names) == set(range(1, 8))


def test_sequence_numbers_are_narrower_than_their_names():
    assert enums.SN_MASKS == (0x7F, 0x3FFF, 0x0FFFFFFF, 0xFFFFFFFF)


@pytest.mark.parametrize(
    ("ident", "name"),
    [
        (0, "zenoh/bytes"), (1, "zenoh/string"), (2, "zenoh/serialized"), (3, "application/octet-stream"),
        (4, "text/plain"), (5, "application/json"), (6, "text/json"), (7, "application/cdr"), (8, "application/cbor"),
        (12, "application/python-serialized-object"), (13, "application/protobuf"), (16, "image/png"),
        (18, "image/gif"), (22, "application/x-www-form-urlencoded"), (28, "text/csv"), (34, "application/jwt"),
        (35, "application/mp4"), (36, "application/soap+xml"), (38, "audio/aac"), (43, "video/h261"),
        (47, "video/h266"), (48, "video/mp4"), (52, "video/vp9"), (65535, "(custom)"),
    ],
)  # fmt: skip
def test_encodings(ident, name):
    assert enums.ENCODING.names[ident] == name


def test_encodings_have_no_holes():
    assert set(enums.ENCODING.names) == {*range(53), 65535}


@pytest.mark.parametrize("enum", ALL.values(), ids=ALL)
def test_enums_are_sound(enum):
    assert enum.title
    assert len(set(enum.names.values())) == len(enum.names)
    assert not enum.strict or enum.strict in RULES
    assert set(enum.docs) <= set(enum.names)


def test_every_enum_is_used():
    used = {id(field.enum) for field in fields().values()}
    assert {name for name, enum in ALL.items() if id(enum) not in used} == set()
