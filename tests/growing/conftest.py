"""A directory to follow, and a key of its own."""

import pytest


@pytest.fixture(autouse=True)
def key(tmp_path, monkeypatch):
    """A key of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))


@pytest.fixture
def place(tmp_path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in", tmp_path / "out", tmp_path / "whole"
