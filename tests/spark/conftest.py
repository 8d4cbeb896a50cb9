"""One session of Spark for all tests here; without pyspark, or a Java for it, they are skipped."""

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.spark.short_lived import CONF

HERE = Path(__file__).parent
MISSING = [name for name in ("pyspark", "pyarrow", "pandas") if find_spec(name) is None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what needs Spark; on several processes of pytest (--dist loadgroup) one gets them all."""
    for item in items:
        if HERE in item.path.parents and item.path.name != "test_without.py":
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))
            if MISSING:
                item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(MISSING)}: pip install 'zdissect[spark]'"))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The session: two tasks at once, few stages."""
    from zdissect.spark.java import NoJavaError, provide

    try:
        provide()
    except NoJavaError as problem:
        pytest.skip(str(problem))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("tests")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than these few rows
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        **CONF,
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
