"""Many findings of a kind on one message are a line with their number; rows keep them all."""

import json

from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.conversation import Conversation
from tests.messages import push
from tests.observed import observed
from zdissect.output.repeated_findings import gathered

UNKNOWN = b"\x8b" * 299 + b"\x0b"
"""A chain of 300 extensions that nobody knows."""


def gather(*found: tuple[str, str]) -> list[str]:
    return [text for _, text in gathered(found, lambda one: one[0], lambda one: one[1])]


def test_a_few_are_shown_one_by_one() -> None:
    assert gather(("a", "x"), ("a", "x"), ("b", "y"), ("a", "z")) == ["x", "x", "y", "z"]


def test_many_are_counted() -> None:
    assert gather(*[("a", "x")] * 5, ("b", "y")) == ["x (5 times)", "y"]
    assert gather(("b", "y"), ("a", "x"), ("a", "z"), *[("a", "x")] * 3) == ["y", "x (and 4 more)"]


def test_they_are_a_line_of_the_tree_and_a_word_of_the_line() -> None:
    """Each message has its own count."""
    batch = b"\x25\x00" + (b"\x9d\x00" + UNKNOWN + b"\x01\x00") * 2
    conversation = Conversation().open().raw(0, len(batch).to_bytes(2, "little") + batch).frame(0, push())
    for kind in ("tree", "line"):
        writer = make_form(DisplayOptions(kind, color="never"))
        text = "".join(writer.show(item) for item in observed(conversation).items)
        assert text.count("(300 times)") == 2, kind
        assert text.count("note: unknown") == 2, kind
    rows = [row for row in observed(conversation).of("PUSH") if row.get("findings")]
    assert [len(row["findings"]) for row in rows] == [300, 300]
    writer = make_form(DisplayOptions("jsonl"))
    lines = "".join(writer.show(item) for item in observed(conversation).items).splitlines()
    assert sum(len(json.loads(line)["findings"] or ()) for line in lines if "PUSH" in line) == 600
