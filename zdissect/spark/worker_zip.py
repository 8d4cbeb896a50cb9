"""zdissect as a zip, for workers that haven't installed it. They need pyarrow and pandas all the same."""

import zipfile
from pathlib import Path

_SOURCE = "pyspark_zenoh.py"
"""Stands at the top as well: see there."""


def write_zip(path: str) -> str:
    """Writes the zip; returns its path."""
    here = Path(__file__).parent
    top = here.parents[1]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted((top / "zdissect").rglob("*.py")):
            packed.write(file, file.relative_to(top))
        packed.write(here / _SOURCE, _SOURCE)
    return path
