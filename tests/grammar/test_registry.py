"""The registry: what it refuses, and what it says of the grammar that is."""

import dataclasses
from typing import Any

import pytest

from zdissect.grammar import registry
from zdissect.grammar.conditions import ConditionError
from zdissect.grammar.flags import Z, flag, reserved
from zdissect.grammar.registry import MESSAGES, UNITS, GrammarError, fields, place, wire_fields
from zdissect.grammar.types import (
    UNIT,
    Z64,
    ZBUF,
    Bit,
    Bits,
    Blob,
    Choice,
    Extension,
    Extensions,
    Fixed,
    Group,
    Message,
    Node,
    Repeat,
    Rest,
    Text,
    Unit,
    Vle,
)

NUMBER = Vle("number", 64, "A number.")


def message(*nodes: Node, flags: tuple[Bit, ...] = (Z, reserved(5, 2)), **parts: Any) -> Message:
    """A message that is good but for what a test puts into it."""
    given = {"doc": "A message.", "spec": "notes 1", **parts}
    return Message("TEST", 0x1D, "network", flags=flags, fields=nodes, **given)


def ext(name: str, id: int, enc: int = UNIT, *nodes: Node, mandatory: bool = False, **parts: Any) -> Extension:
    """An extension that is good but for what a test puts into it."""
    given = {"doc": "An extension.", "spec": "notes 2", **parts}
    return Extension(name, id, enc, mandatory, fields=nodes, **given)


def test_a_good_message():
    placed = place(message(NUMBER, Extensions(ext("one", 1), ext("two", 1, Z64, NUMBER))))
    assert placed.header is not None
    assert [bit.path for bit in placed.header.bits] == ["zenoh.test.z", "zenoh.test.reserved5", "zenoh.test.message_id"]
    assert [field.path for field in registry.walk(placed.inside)] == [
        "zenoh.test.number", "zenoh.test.ext_one", "zenoh.test.ext_two", "zenoh.test.ext_two.number",
    ]  # fmt: skip


A, B = Bit("a", 0, "A.", width=4), Bit("b", 4, "B.", width=4)
BAD = {
    "flags leave a bit of the header out": (message(flags=(Z, reserved(6))), "don't fill the byte"),
    "a flag overlaps the id": (message(flags=(Z, reserved(5, 2), Bit("F", 4, "F."))), "message_id overlaps another"),
    "bits leave a bit out": (
        message(Bits("b", (A, Bit("c", 5, "C.", width=3)), "Bits.")),
        r"don't fill the byte \(0xef\)",
    ),
    "bits overlap": (message(Bits("b", (A, Bit("c", 3, "C.", width=5)), "Bits.")), "bit field c overlaps another"),
    "bits are wider than the byte": (message(Bits("b", (A, B, Bit("c", 8, "C.")), "Bits.")), "don't fill the byte"),
    "bits of a number overlap": (message(Vle("v", 64, "V.", bits=(A, A))), "bit field a overlaps another"),
    "a choice has an id twice": (
        message(Choice("body", message(), message(), doc="A body.")),
        "choices of body have the same id",
    ),
    "a chain has a header twice": (message(Extensions(ext("one", 1), ext("two", 1))), "same header"),
    "a condition names a later field": (
        message(Fixed("f", 1, "F.", when="number"), NUMBER),
        "names number before it is read",
    ),
    "a condition names nothing": (message(Vle("v", 8, "V.", when="nobody and Z")), "names nobody before"),
    "a size names nothing": (message(Fixed("f", "nobody + 1", "F.", raw=True)), "names nobody before"),
    "a count names nothing": (message(Repeat("r", (NUMBER,), "nobody", "R.")), "names nobody before"),
    "a group's size names nothing": (message(Group("g", (NUMBER,), "G.", size="nobody")), "names nobody before"),
    "a group's loose names nothing": (
        message(Group("g", (NUMBER,), "G.", length=8, loose="nobody")),
        "names nobody before",
    ),
    "a chain's condition names nothing": (message(Extensions(when="nobody")), "names nobody before"),
    "a chain without Z": (message(Extensions(), flags=(reserved(5, 3),)), "names Z before"),
    "an extension's loose names nothing": (
        message(Extensions(ext("one", 1, ZBUF, NUMBER, loose="nobody"))),
        "names nobody",
    ),
    "a field has no doc": (message(Vle("v", 8, "")), "zenoh.test.v has no description"),
    "a flag has no doc": (message(flags=(Z, Bit("F", 5, "", width=2))), "zenoh.test.f has no description"),
    "a bit has no doc": (message(Bits("b", (A, Bit("c", 4, "", width=4)), "Bits.")), "zenoh.test.c has no description"),
    "a group has no doc": (message(Group("g", (NUMBER,), "")), "zenoh.test.g has no description"),
    "a repeat has no doc": (message(Repeat("r", (NUMBER,), "8", "")), "zenoh.test.r has no description"),
    "a choice has no doc": (message(Choice("body", message(), doc="")), "zenoh.test.body has no description"),
    "an extension has no doc": (message(Extensions(ext("one", 1, doc=""))), "zenoh.test.ext_one has no description"),
    "a field of an extension has no doc": (
        message(Extensions(ext("one", 1, Z64, Vle("v", 8, "")))),
        "ext_one.v has no desc",
    ),
    "a message has no doc": (message(doc=""), "zenoh.test has no description"),
    "a message has no reference": (message(spec=""), "zenoh.test has no reference"),
    "an extension has no reference": (
        message(Extensions(ext("one", 1, spec=""))),
        "zenoh.test.ext_one has no reference",
    ),
    "a unit has no reference": (Unit("test", (NUMBER,), "A unit.", ""), "zenoh.test has no reference"),
    "a unit names an input it hasn't": (
        Unit("test", (Vle("v", 8, "V.", when="prefix"),), "A unit.", "notes 3"),
        "names prefix",
    ),
}


@pytest.mark.parametrize(("bad", "said"), BAD.values(), ids=BAD)
def test_refuses(bad, said):
    with pytest.raises(GrammarError, match=f"^(TEST|test): .*{said}"):
        place(bad)


def test_refuses_a_condition_outside_the_language():
    with pytest.raises(ConditionError):
        place(message(Vle("v", 8, "V.", when="len(Z)")))


def test_refuses_two_types_for_one_name(monkeypatch):
    bad = message(Vle("v", 8, "V.", when="Z"), Text("v", 16, "V.", when="not Z"))
    monkeypatch.setattr(registry, "MESSAGES", (bad,))
    wire_fields.cache_clear()
    try:
        with pytest.raises(GrammarError, match=r"zenoh.test.v is of type uint8 and of type string"):
            wire_fields()
    finally:
        wire_fields.cache_clear()


def test_one_extension_may_depend_on_another_of_the_chain():
    """Any order is legal on the wire."""
    first = ext("first", 1, ZBUF, Rest("rest", "Rest.", when="second"))
    assert place(message(Extensions(first, ext("second", 2)))).inside


# --- the grammar that is


def test_names_are_dotted_lower_snake_case():
    for path in wire_fields():
        assert all(part.isidentifier() and part == part.lower() for part in path.split("."))
        assert path.startswith("zenoh.")


def test_every_field_says_what_it_is():
    for field in fields().values():
        assert field.doc[0].isupper() or not field.doc[0].isalpha(), field.path
        assert field.doc.endswith("."), field.path
        assert field.spec, field.path
        assert field.type != "none" or not field.leaf, field.path


def test_fields_of_one_place_are_one():
    """Asking twice gives the same fields, which are compared by identity."""
    for one in (*MESSAGES, *UNITS):
        assert place(one) is place(one)
    assert fields() is fields()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("zenoh.push.scope", "uint16"),
        ("zenoh.push.suffix", "string"),
        ("zenoh.put.timestamp.time", "timestamp"),
        ("zenoh.put.timestamp.id", "zid"),
        ("zenoh.put.payload", "bytes"),
        ("zenoh.init.zid", "zid"),
        ("zenoh.init.batch_size", "uint16"),
        ("zenoh.init.ext_region_name.name", "string"),
        ("zenoh.frame.r", "bool"),
        ("zenoh.init.whatami", "uint8"),
        ("zenoh.open.lease", "uint64"),
        ("zenoh.put.encoding", "none"),
        ("zenoh.ext.header", "uint8"),
        ("zenoh.undecoded", "bytes"),
    ],
)
def test_types(path, kind):
    assert fields()[path].type == kind


def test_identity_of_an_extension_is_seven_bits():
    assert ext("x", 0xF, ZBUF, mandatory=True).key == 0x5F
    assert ext("x", 4, Z64, mandatory=True).key == 0x34
    assert ext("x", 6).key == 0x06


def test_nodes_are_frozen():
    for node in (NUMBER, Z, flag("F", 5, on="on", off="off"), Blob("b", 8, "B."), message()):
        with pytest.raises(dataclasses.FrozenInstanceError):
            node.name = "other"  # type: ignore[misc]
