"""Makes the builders in `flow_frames.py` importable (importlib mode adds nothing to the path)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

CAPTURES = Path(__file__).parents[3] / "shared" / "captures"


@pytest.fixture(scope="session")
def captures() -> Path:
    """The directory of real captures, which only the developers' machine has."""
    if not CAPTURES.is_dir():
        pytest.skip("no ../shared/captures here")
    return CAPTURES
