"""Where the real captures are."""

from pathlib import Path

import pytest

CAPTURES = Path(__file__).parents[3] / "shared" / "captures"


@pytest.fixture(scope="session")
def captures() -> Path:
    """The directory of real captures, which only the developers' machine has."""
    if not CAPTURES.is_dir():
        pytest.skip("no ../shared/captures here")
    return CAPTURES
