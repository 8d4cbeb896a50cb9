"""What a word may stand for."""

import pytest

from zdissect.transcript import Subject, parse


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("3", Subject("3", session=3, zid="3", key="3", frame=3)),
        ("tcp.0", Subject("tcp.0", flow="tcp.0", key="tcp.0")),
        ("3F", Subject("3F", zid="3f", key="3F")),
        ("3f:2", Subject("3f:2", key="3f:2", request=("3f", 2))),
        ("a/**", Subject("a/**", key="a/**")),
        ("key:3", Subject("3", key="3")),
        ("zid:3", Subject("3", zid="3")),
        ("frame:3", Subject("3", frame=3)),
        ("session:3", Subject("3", session=3)),
        ("request:3f:2", Subject("3f:2", request=("3f", 2))),
        ("other:3", Subject("other:3", key="other:3")),
    ],
)
def test_words(text, subject):
    assert parse(text) == subject


@pytest.mark.parametrize(
    "text", ["", "a//b", "/a", "a*", "frame:x", "session:-1", "flow:0", "zid:xyz", "request:1", "key:a//b"]
)
def test_what_stands_for_nothing(text):
    with pytest.raises(ValueError, match=r"is no|is none of these"):
        parse(text)
