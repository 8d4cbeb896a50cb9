"""The vectors of tests/vectors: bytes with everything that decoding must say of them, and what they cover together."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from zdissect.engine import composites, interpreter, lengths
from zdissect.engine.tape import Span
from zdissect.grammar import checks, data, enums, types
from zdissect.grammar.field import Field
from zdissect.grammar.registry import MESSAGES, PlacedNode, fields, place
from zdissect.grammar.rules import RULES
from zdissect.grammar.types import Bit, Extension

HERE = Path(__file__).parent


def _vectors() -> ModuleType:
    """tests/vectors/vectors.py (importlib mode puts nothing on the path)."""
    spec = importlib.util.spec_from_file_location("vectors", HERE / "vectors" / "vectors.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules.setdefault("vectors", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


vectors = _vectors()
VECTORS = vectors.load()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector.file}-{vector.name}")
def test_vector(vector):
    tape = vector.decode()
    stated = (vector.messages, vector.fields, vector.remarks)
    found = (vectors.messages(tape), vectors.leaves(tape), vectors.remarks(tape))
    assert found == stated, f"{vector.file}:{vector.line} {vector.name}: decoding says\n\n{vectors.statement(vector)}"


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector.file}-{vector.name}")
def test_a_vector_is_a_full_statement(vector):
    """Its fields cover all its bytes, each once."""
    assert vector.stated
    assert vector.source
    places = [tuple(map(int, line.split()[0].split(".."))) for line in vector.fields]
    assert [start for start, _ in places] == [0, *(stop for _, stop in places[:-1])]
    assert places[-1][1] == len(vector.data)


def test_names_are_unique():
    names = [(vector.file, vector.name) for vector in VECTORS]
    assert len(set(names)) == len(names)


def test_every_worked_example_of_the_notes_is_here():
    sources = " ".join(vector.source for vector in VECTORS).replace(";", " ").split()
    assert {*(f"E{number}" for number in range(1, 27)), "E17b", "Others"} <= {*sources}


def test_known_differences_have_vectors():
    """Those of the notes' section 13 that a single message can show."""
    sources = "; ".join(vector.source for vector in VECTORS).split("; ")
    stated = {source.removeprefix("notes 13 no. ") for source in sources if source.startswith("notes 13 no. ")}
    assert {*map(str, (1, 2, 3, 4, 7, 9, 11, 12, 13, 15, 18, 19, 21, 22, 23, 24, 28, 29, 33, 34))} <= stated


def test_only_faults_leave_bytes_undecoded():
    for vector in VECTORS:
        if any(" zenoh.undecoded = " in line for line in vector.fields):
            assert vector.file in ("malformed.txt", "lengths.txt", "extensions.txt", "serial.txt", "fragment.txt"), (
                vector.name
            )


# --- what they cover together


def _spans() -> list[Span]:
    return [span for vector in VECTORS for span in vector.decode().spans]


def _extensions(places: tuple[PlacedNode, ...]) -> list[str]:
    own = [one.field.path for one in places if isinstance(one.node, Extension)]
    return own + [path for one in places for path in _extensions(one.inside)]


def test_every_message_and_extension_has_a_vector():
    seen = {span[0].path for span in _spans()}
    for message in MESSAGES:
        placed = place(message)
        assert {placed.field.path, *_extensions(placed.inside)} <= seen


def test_every_field_has_a_vector():
    seen = {span[0].path for span in _spans()}
    missing = {
        field.path for field in fields().values() if field.kind not in ("bit", "derived") and field.path not in seen
    }
    assert not missing


def _flag(field: Field) -> object:
    """What stands for a bit: its name, or in extensions that several messages share its place in the extension."""
    return field.node if ".ext_" in field.path else field.path


def test_every_bit_has_a_vector_at_0_and_at_1():
    seen: dict[object, set[bool]] = {}
    for field, _, _, _, value in _spans():
        for bit in field.bits:
            if isinstance(bit.node, Bit):
                seen.setdefault(_flag(bit), set()).add(bool(value & bit.node.mask))
    every = [field for field in fields().values() if field.type == "bool" and isinstance(field.node, Bit)]
    missing = [
        field.path
        for field in every
        if isinstance(field.node, Bit) and not field.node.reserved and seen.get(_flag(field)) != {False, True}
    ]
    assert not missing


def test_every_label_has_a_vector():
    seen = {span[4] for span in _spans() if span[0].kind == "message"}
    labels = {name for message in MESSAGES for pair in message.labels.values() for name in pair}
    assert labels <= seen
    assert {message.name for message in MESSAGES if not message.labels} <= seen


def test_every_finding_of_decoding_has_a_vector():
    """All codes that the interpreter, the checks and the enums can write; but for `limit`, which takes a unit of more
    than 64 kB (tests/engine/test_linear.py)."""
    sources = "".join(
        Path(module.__file__ or "").read_text()
        for module in (interpreter, lengths, composites, checks, enums, types, data)
    )
    codes = {code for code in RULES if f'"{code}"' in sources}
    assert codes - {"limit"} == {line.split()[0] for vector in VECTORS for line in vector.remarks}
