"""`-T json`: objects whose members are named after fields, as the schema in the package defines them."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given
from zdissect_cli.main import cli

from tests.strategies import anything
from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import messages
from zdissect.grammar.derived import DERIVED
from zdissect.grammar.registry import UNITS, fields
from zdissect.output.named_members import unit_text
from zdissect.output.nested import nodes
from zdissect.output.printable import dumps

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "zdissect" / "output" / "json_schema.json").read_text(encoding="utf-8"))
SAMPLES = sorted(path.name for path in (ROOT / "samples").glob("*.pcap*"))

jsonschema.Draft202012Validator.check_schema(SCHEMA)
UNIT = jsonschema.Draft202012Validator(
    {"$ref": "#/$defs/any", "$defs": {**SCHEMA["$defs"], "any": {"anyOf": [
        {"$ref": f"#/$defs/{name}"} for name in ("unit", "message", "extension", "group", "field")
    ]}}}
)  # fmt: skip


def documents(name: str, *args: str) -> list[dict]:
    done = CliRunner().invoke(cli, ["-q", "-T", "json", *args, str(ROOT / "samples" / name)])
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_as_the_schema_says(name: str) -> None:
    found = documents(name)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert found


def test_the_schema_has_every_derived_field() -> None:
    types = {"int64": "integer", "string": "string", "bool": "boolean", "list<int64>": "array"}
    known = SCHEMA["$defs"]["message"]["properties"]["derived"]["properties"]
    assert {name: one["type"] for name, one in known.items() if name != "ros2"} == {
        one.path: types[one.type] for one in DERIVED if one.type != "none"
    }


def test_a_put_by_name() -> None:
    (item,) = documents("pubsub-tcp.pcap", "--frame", "17")
    (frame,) = item["unit"]["messages"]
    (push,) = frame["messages"]
    assert (frame["message"], push["message"], push["body"]["message"]) == ("FRAME", "PUSH", "PUT")
    assert push["suffix"] == {"value": "/t0", "_range": [72, 32]}
    assert push["header"]["bits"]["n"] == {"value": 1, "meaning": "suffix present", "_range": [58, 1]}
    assert push["derived"]["zenoh.key_expr"] == "nano/t0"
    assert bytes.fromhex(push["body"]["payload"]["value"]) == b"nano message 0"


def leaves(value: object) -> int:
    """Objects with a value, but for bit fields."""
    if isinstance(value, list):
        return sum(map(leaves, value))
    if not isinstance(value, dict):
        return 0
    own = "value" in value and not isinstance(value["value"], dict)
    return own + sum(leaves(inside) for name, inside in value.items() if name not in ("bits", "derived"))


@given(anything())
def test_no_field_hides_another_and_all_are_as_the_schema_says(encoded) -> None:
    tape = interpret(encoded.entry, encoded.data, **encoded.inputs)
    unit = read(unit_text(tape, messages(tape)))
    if unit is not None:
        UNIT.validate(unit)
        assert leaves(unit) == sum(1 for _ in tape.leaves())


@given(anything())
def test_members_are_the_nodes(encoded) -> None:
    tape = interpret(encoded.entry, encoded.data, **encoded.inputs)
    found = messages(tape)
    first, *rest = nodes(tape, found) or [None]
    unit = read(unit_text(tape, found))
    wanted = None if first is None else by_name({**first, "children": [*first.get("children", ()), *rest]})
    assert unit == json.loads(dumps(wanted))


def by_name(node: dict[str, Any]) -> dict[str, Any]:
    """A node as an object with its children as members."""
    field = fields()[node["name"]]
    out = {name: node[name] for name in ("value", "meaning", "derived") if name in node}
    if field.kind in ("unit", "message", "extension"):
        out[field.kind] = out.pop("value", field.name.removeprefix("ext_"))
    elif not field.leaf and field.kind != "bit":
        out.pop("value", None)
    if "start" in node:
        out["_range"] = [node["start"], node["bits"]]
    for child in node.get("children", ()):
        kind, name = fields()[child["name"]].kind, child["name"].rsplit(".", 1)[-1]
        if kind == "message" and field.kind != "unit" and field.name != "frame":
            out["body"] = by_name(child)
        elif kind in ("message", "extension", "undecoded"):
            out.setdefault({"undecoded": kind}.get(kind, f"{kind}s"), []).append(by_name(child))
        elif kind == "repeat":
            out[name] = [by_name(one) for one in child["children"]]
        elif kind == "bit":
            out.setdefault("bits", {})[name] = by_name(child)
        else:
            out[name] = by_name(child)
    return out


def read(text: str) -> Any:
    """A value from its JSON, in which no object has two members of the same name."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({name for name, _ in pairs}) == len(pairs)
        return dict(pairs)

    assert text.isprintable()
    return json.loads(text, object_pairs_hook=members)


def test_integers_keep_all_digits() -> None:
    (item,) = documents("pubsub-tcp.pcap", "--frame", "17")
    assert item["ts_ns"] == 1_795_815_925_923_799_234 > 2**53


def test_where_an_item_is_from() -> None:
    (item,) = documents("pubsub-tcp.pcap", "--frame", "17")
    assert (item["file"][-15:], item["flow_id"], item["link"]) == ("pubsub-tcp.pcap", "tcp.0", "tcp")
    assert (item["src"], item["dst"]) == ("127.0.0.1:57592", "127.0.0.1:7447")
    assert (item["frames"], item["missing"], item["findings"]) == ([17], None, [])
    assert (item["buffer"]["name"], item["buffer"]["origin"], len(item["buffer"]["data"])) == ("tcp", None, 60)


def test_findings_have_their_bits() -> None:
    found = [finding for one in documents("trailing-byte.pcap") for finding in one["findings"]]
    (finding,) = [finding for finding in found if finding["code"] == "truncated"]
    assert (finding["severity"], finding["_range"]) == ("error", [8 * 40, 0])


def test_messages_that_are_not_chosen_are_left_out() -> None:
    """Of a FRAME is shown what was chosen, with the FRAME around it."""
    whole = documents("query-router.pcap")
    chosen = documents("query-router.pcap", "-Y", "zenoh.request")
    units = {json.dumps(one["unit"]["_range"]) + str(one["frame_number"]): one["unit"] for one in whole}
    assert chosen
    for one in chosen:
        everything = units[json.dumps(one["unit"]["_range"]) + str(one["frame_number"])]
        for frame in one["unit"]["messages"]:
            (around,) = [other for other in everything["messages"] if other["_range"] == frame["_range"]]
            wanted = [message for message in around["messages"] if message["message"] == "REQUEST"]
            assert frame == {**around, "messages": wanted}


def test_a_structure_that_was_pasted_alone_has_values() -> None:
    done = CliRunner().invoke(cli, ["hex", "-q", "-T", "json", "--as", "locators", "02 05 7463702f61 05 7463702f62"])
    (document,) = json.loads(done.stdout)
    assert document["unit"] == {
        "unit": "locators",
        "_range": [0, 104],
        "count": {"value": 2, "_range": [0, 8]},
        "locators": [{"value": "tcp/a", "_range": [8, 48]}, {"value": "tcp/b", "_range": [56, 48]}],
    }


def test_text_that_looks_like_a_format() -> None:
    push = "7d 00 07 2573252864256e 01 02 2573"
    (document,) = json.loads(CliRunner().invoke(cli, ["hex", "-q", "-T", "json", push]).stdout)
    message = document["unit"].get("messages", [document["unit"]])[0]
    assert message["suffix"]["value"] == "%s%(d%n"
    assert message["derived"] == {"zenoh.key_expr": "%s%(d%n"}


def test_bytes_that_no_field_owns_are_one_list() -> None:
    """Also where a field stands between them: the data of a serial frame is of known size."""
    (serial,) = (unit for unit in UNITS if unit.name == "serial")
    unit = read(unit_text(interpret(serial, bytes.fromhex("0200ad00 01020304 ff"), kind=0)))
    assert list(unit) == ["unit", "_range", "length", "undecoded", "crc"]
    assert [one["_range"] for one in unit["undecoded"]] == [[16, 16], [64, 8]]
