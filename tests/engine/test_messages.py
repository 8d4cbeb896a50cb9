"""Rows of single messages: columns that several fields could fill, and those that say nothing on their own."""

from itertools import permutations
from typing import Any

import pytest

from tests.vector.walking import prefixed, seen
from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import messages
from zdissect.grammar.batch import BATCH
from zdissect.grammar.registry import MESSAGES, PlacedNode, place, walk
from zdissect.grammar.types import Extension
from zdissect.vector.walk import Walker


def row(text: str) -> dict[str, Any]:
    """The row of a network message in a FRAME, which is the same if it is read on arrays."""
    data = bytes.fromhex("25 00" + text)
    seen(Walker(), [prefixed(data)])
    return messages(interpret(BATCH, data))[1].row


PRIVATE, REAL, INFO = ("43", "01 70"), ("42", "01 72"), ("41", "04 00 aa 07 4d")


def chained(*exts: tuple[str, str]) -> str:
    """A chain of extensions: header without Z, and body."""
    heads = [int(head, 16) | 128 * (number < len(exts) - 1) for number, (head, _) in enumerate(exts)]
    return "".join(f"{head:02x}{body}" for head, (_, body) in zip(heads, exts, strict=True))


@pytest.mark.parametrize("exts", list(permutations((PRIVATE, REAL, INFO))))
def test_the_attachment_of_a_deletion(exts: tuple[tuple[str, str], ...]) -> None:
    """Id 3, where zenoh-pico reads it, counts only where id 2 isn't there (notes 13 no. 34)."""
    assert row("1d 00 82" + chained(*exts))["attachment"] == b"r"
    assert row("1d 00 82" + chained(*(ext for ext in exts if ext is not REAL)))["attachment"] == b"p"
    assert row("1b 01 00 04 82" + chained(*exts))["attachment"] == b"r"


def test_the_last_one_of_several_attachments_counts() -> None:
    """Receivers take the last of extensions that are the same."""
    other, private = ("42", "01 73"), ("43", "01 74")
    assert row("1d 00 82" + chained(REAL, other))["attachment"] == b"s"
    assert row("1d 00 82" + chained(other, PRIVATE, REAL, private))["attachment"] == b"r"
    assert row("1d 00 82" + chained(PRIVATE, private))["attachment"] == b"t"


def test_nothing_of_the_first_one_is_left() -> None:
    """Two bodies of a query, of which the first alone has a schema; two wire expressions, the first with a suffix."""
    found = row("1c 00 00 83" + chained(("43", "04 03 01 78 70"), ("43", "02 08 71")))
    assert (found["encoding"], found.get("encoding_schema"), found["payload"]) == ("text/plain", None, b"q")
    found = row("1e 83 00" + chained(("5f", "04 03 01 2f 61"), ("5f", "02 00 02")))
    assert (found["key_scope"], found["key_mapping"], found.get("key_suffix")) == (2, "receiver", None)


def test_an_interest_in_all_keys_has_no_mapping() -> None:
    """M and N say nothing where R doesn't hold."""
    assert "key_mapping" not in row("39 00 66")
    assert "key_mapping" not in row("39 00 06")
    assert row("39 00 56 00")["key_mapping"] == "sender"
    assert row("39 00 16 00")["key_mapping"] == "receiver"


def test_a_request_that_writes() -> None:
    """It is read, with a finding, which arrays leave to the interpreter."""
    found = row("1c 01 00 01 01 78")
    assert (found["message"], found["body"], found["payload"]) == ("REQUEST", "PUT", b"x")
    declined = [prefixed(bytes.fromhex(text)) for text in ("25 00 1c 01 00 01 01 78", "25 00 1c 01 00 02")]
    assert seen(Walker(), declined).plain == [False, False]


def test_numbers_are_exact() -> None:
    """Those of which receivers keep the low bits too."""
    data = bytes.fromhex("25 80 80 80 80 10 19 83 80 80 80 10")
    assert [one.row.get("sn") for one in messages(interpret(BATCH, data))] == [1 << 32, 1 << 32]
    assert seen(Walker(), [prefixed(data)]).plain == [False]
    assert row("19 83 80 80 80 10")["interest_id"] == (1 << 32) + 3
    assert row("9c 00 00 25 ff ff ff ff ff ff ff ff ff 03")["budget"] == (1 << 64) - 1
    assert row("1c 00 00 23 80 02")["consolidation"] == "256"


def _columns(one: PlacedNode) -> set[str]:
    return {field.column for field in walk((one,)) if field.column}


def test_no_other_extensions_share_a_column() -> None:
    """Where two of a chain had one, which of them is shown would be chance; one that yields says so."""
    chains = [one for message in MESSAGES for one in place(message).inside if hasattr(one.node, "known")]
    for chain in chains:
        exts = [one for one in chain.inside if isinstance(one.node, Extension)]
        for number, one in enumerate(exts):
            for other in exts[number + 1 :]:
                shared = _columns(one) & _columns(other)
                names = {one.node.name: other.node.name, other.node.name: one.node.name}
                yields = [ext.node for ext in (one, other) if ext.node.yields_to == names[ext.node.name]]
                assert not shared or yields
