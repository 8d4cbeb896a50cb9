"""zdissect as a zip, for workers that haven't installed it. They need pyarrow and pandas all the same."""

import zipfile
from pathlib import Path

_PACKAGES = ("zdissect", "pyspark_zenoh")


def write_zip(path: str) -> str:
    """Writes the zip; returns its path."""
    top = Path(__file__).parents[2]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for package in _PACKAGES:
            for file in sorted((top / package).rglob("*.py")):
                packed.write(file, file.relative_to(top))
    return path
