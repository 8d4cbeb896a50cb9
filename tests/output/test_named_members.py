"""`-T json`: objects whose members are named after fields, as the schema in the package defines them."""

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given
from zdissect_cli.main import cli

from tests.strategies import anything
from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import messages
from zdissect.grammar.derived import DERIVED
from zdissect.output.named_members import with_named_members
from zdissect.output.nested import nodes

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
    assert {name: one["type"] for name, one in known.items()} == {
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
    document = with_named_members({"nodes": nodes(tape, messages(tape))})
    if document["unit"] is not None:
        UNIT.validate(json.loads(json.dumps(document["unit"])))
        assert leaves(document["unit"]) == sum(1 for _ in tape.leaves())


def test_integers_keep_all_digits() -> None:
    (item,) = documents("pubsub-tcp.pcap", "--frame", "17")
    assert item["ts_ns"] == 1_795_815_925_923_799_234 > 2**53
