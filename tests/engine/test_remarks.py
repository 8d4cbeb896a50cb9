"""Each finding that decoding alone can make: its code and the bytes it points at, from few bytes that show it."""

import ast
from pathlib import Path

import pytest

from tests.engine.tapes import errors, read
from tests.generators import Entry
from zdissect.engine import composites, interpreter, lengths
from zdissect.engine.composites import MOST_SPANS
from zdissect.grammar import checks, data, enums, types
from zdissect.grammar import scouting as sc
from zdissect.grammar.batch import BATCH, SCOUTING_DATAGRAM
from zdissect.grammar.data import DEL, PUT, QUERY
from zdissect.grammar.declarations import D_KEYEXPR
from zdissect.grammar.network import OAM, PUSH, REQUEST
from zdissect.grammar.rules import RULES
from zdissect.grammar.transport import CLOSE, FRAME, INIT, KEEP_ALIVE
from zdissect.grammar.transport import OAM as TRANSPORT_OAM
from zdissect.grammar.types import Enum

Remarks = list[tuple[str, int, int]]

CASES: list[tuple[Entry, str, Remarks]] = [
    # a field, a length, a number and a region that end too early; a message that is missing
    (PUSH, "1d", [("truncated", 1, 1)]),
    (PUSH, "3d 01 05 61", [("truncated", 2, 4)]),
    (PUSH, "1d 80 80", [("truncated", 1, 3)]),
    (PUSH, "1d 01", [("truncated", 2, 2)]),
    (PUSH, "1d 80 80 80 80 80 80 80 80", [("truncated", 1, 9)]),
    (INIT, "01 09 f2 aa bb", [("truncated", 3, 5)]),
    (PUSH, "9d 00 42 05 01 01", [("truncated", 3, 6)]),
    (FRAME, "85 00", [("truncated", 2, 2)]),
    (FRAME, "85 00 b1", [("truncated", 3, 3)]),
    (PUT, "01 05 61", [("truncated", 1, 3)]),
    (KEEP_ALIVE, "", [("truncated", 0, 0)]),
    (KEEP_ALIVE, "04 00 00", [("trailing-bytes", 1, 3)]),
    (PUSH, "9d 00 42 04 01 01 01 00 02", [("trailing-bytes", 7, 8)]),
    (BATCH, "04" * 70_000, [("limit", MOST_SPANS // 2, 70_000)]),
    (BATCH, "04 1f 00", [("unknown-message", 1, 3)]),
    (KEEP_ALIVE, "05 00", [("unknown-message", 0, 2)]),
    (FRAME, "05 00 04", [("trailing-bytes", 2, 3)]),
    (PUSH, "1d 00 03 00", [("unknown-message", 2, 4)]),
    (OAM, "7f 01 00", [("reserved-encoding", 1, 3)]),
    (TRANSPORT_OAM, "60", [("reserved-encoding", 1, 1)]),
    (KEEP_ALIVE, "84 69 00", [("unknown-extension", 1, 2), ("reserved-encoding", 2, 3)]),
    (KEEP_ALIVE, "84 19", [("unknown-mandatory-extension", 1, 2)]),
    (KEEP_ALIVE, "84 29 05", [("unknown-extension", 1, 2)]),
    (FRAME, "85 00 21 05", [("extension-form", 2, 3)]),
    (PUSH, "1d 80 80 04 02", [("vle-overflow", 1, 4)]),
    (CLOSE, "83 00 6f ff ff ff ff 7f", [("unknown-extension", 2, 3), ("reserved-encoding", 3, 8)]),
    (KEEP_ALIVE, "84 49 80 80 80 80 10", [("unknown-extension", 1, 2), ("vle-overflow", 2, 7), ("truncated", 2, 7)]),
    (PUSH, "1d 81 00 02", [("vle-overlong", 1, 3)]),
    (PUSH, "1d 80 80 80 80 80 80 80 80 00 02", [("vle-overlong", 1, 10)]),
    (KEEP_ALIVE, "44", [("reserved-bits", 0, 1)]),
    (sc.HELLO, "02 09 0c aa", [("reserved-bits", 2, 3)]),
    (FRAME, "85 00 31 0d", [("reserved-bits", 3, 4)]),
    (INIT, "01 09 03 aa", [("invalid-value", 2, 3)]),
    (PUT, "81 12 01 02 00", [("invalid-value", 3, 4)]),
    (REQUEST, "9c 00 00 34 03 03", [("invalid-value", 4, 5)]),
    (sc.SCOUT, "01 09 00", [("scout-nothing", 2, 3)]),
    (INIT, "01 09 10 00 00", [("zero-zid", 3, 5)]),
    (DEL, "22 05 00", [("zid-length", 2, 3)]),
    (DEL, "22 05 11 " + "01" * 17, [("zid-length", 2, 20)]),
    (PUSH, "3d 00 02 61 ff 02", [("invalid-utf8", 3, 5)]),
    (INIT, "81 09 00 01 48 00", [("text-length", 6, 6)]),
    (INIT, "81 09 00 01 48 21 " + "61" * 33, [("text-length", 6, 39)]),
    (INIT, "81 09 00 01 48 01 ff", [("invalid-utf8", 6, 7)]),
    (SCOUTING_DATAGRAM, "01 08 01", [("version", 1, 2)]),
    (CLOSE, "03 08", [("unknown-close-reason", 1, 2)]),
    (QUERY, "23 04", [("unknown-consolidation", 1, 2)]),
    (PUT, "41 6a 00", [("unknown-encoding", 1, 2)]),
    (REQUEST, "9c 00 00 25 00 03", [("zero-budget", 4, 5)]),
    (D_KEYEXPR, "00 00 01", [("zero-expr-id", 1, 2)]),
    (PUSH, "9d 00 47 02 00 00 02", [("zero-stamp", 4, 5)]),
    (FRAME, "25 80 80 80 80 10", [("vle-wraps", 1, 6)]),
    (OAM, "1f f4 e4 07", [("vle-wraps", 1, 4)]),
    (PUT, "41 94 80 10 00", [("vle-wraps", 1, 4), ("unknown-encoding", 1, 4)]),
    (PUT, "41 94 80 80 80 10 00", [("vle-overflow", 1, 6)]),
    (PUT, "41 53 01 ff 00", [("binary-text", 3, 4)]),
    (sc.HELLO, "22 09 00 01 01 00", [("locator", 5, 6)]),
    (REQUEST, "1c 00 00 02", [("request-body", 3, 4)]),
    (QUERY, "83 04", [("body-shm-alone", 1, 2)]),
    (QUERY, "83 84 45 00", [("body-shm-alone", 1, 2)]),
    (PUSH, "9d 00 42 00 00 01 01 02", [("extension-length", 3, 7)]),
    (PUSH, "9d 00 47 02 08 00 02", [("reserved-bits", 4, 5)]),
    (QUERY, "83 84 43 12 00 01 01 06 10 b9 ea 03 01 00", [("query-body-length", 3, 14)]),
]


@pytest.mark.parametrize(("entry", "text", "wanted"), CASES, ids=[f"{c[0].name} {c[1][:24]}" for c in CASES])
def test_remark(entry: Entry, text: str, wanted: Remarks) -> None:
    data = bytes.fromhex(text)
    assert errors(read(entry, data)) == wanted


def test_each_code_that_decoding_can_give_has_a_case() -> None:
    """Codes stand as literals in the interpreter and in the checks, and as what strict enums give."""
    codes = {enum.strict for enum in vars(enums).values() if isinstance(enum, Enum) and enum.strict}
    for module in (interpreter, lengths, composites, checks, types, data):
        tree = ast.parse(Path(module.__file__ or "").read_text())
        codes |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in RULES}
    assert {code for _, _, wanted in CASES for code, _, _ in wanted} == codes
