"""docs/library.md and the docstrings of the library are true: what they show is what is printed."""

import doctest
from pathlib import Path

import pytest

import zdissect
from zdissect.library import capture_messages, dissected_bytes, dissected_message, encoding

ROOT = Path(__file__).parents[2]


def test_the_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(ROOT / "docs" / "library.md"), module_relative=False)
    assert tried > 25
    assert not failed


@pytest.mark.parametrize("module", [zdissect, capture_messages, dissected_bytes, dissected_message, encoding])
def test_docstrings(module):
    assert not doctest.testmod(module).failed
