"""What the senders of all tests here have in common."""

from random import Random
from types import SimpleNamespace

import pytest


@pytest.fixture(autouse=True)
def same_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sender masks with the same numbers in each run: some in a million look like the head of a message."""
    monkeypatch.setattr("wsproto.frame_protocol.os", SimpleNamespace(urandom=Random(1).randbytes))
