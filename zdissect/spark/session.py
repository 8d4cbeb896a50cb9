"""The session of Spark: the one that is there, or one that suits batch jobs on this machine."""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING

from zdissect.spark import java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEEDED = ("pyspark", "pyarrow", "pandas")
HINT = "--spark needs pyspark, pyarrow and pandas: pip install 'zdissect[spark]'"

_DEFAULTS = {
    "spark.app.name": "zdissect",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


class NoSparkError(Exception):
    """Spark can't be started. Its text says what to do, in one line."""


def submitted() -> bool:
    """Whether this is a program of spark-submit, or a session is there already."""
    if "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ:
        return True
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None


def cores(spark: "SparkSession") -> int:
    """How many tasks run at once."""
    from pyspark.sql.utils import is_remote

    return 8 if is_remote() else spark.sparkContext.defaultParallelism  # over Spark Connect nobody tells


def missing() -> list[str]:
    """What has to be installed first."""
    return [name for name in NEEDED if find_spec(name) is None]


def open_session(master: str | None = None, conf: Mapping[str, str] | None = None) -> "tuple[SparkSession, bool]":
    """(session, whether it was made here): under spark-submit, and in a notebook, the one that is there.

    Raises NoSparkError.
    """
    if missing():
        raise NoSparkError(HINT)
    # unset, workers would run the python3 of PATH, which may be another one
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    there = submitted()
    builder = SparkSession.builder
    if not there:
        try:
            java.provide()
        except java.NoJavaError as problem:
            raise NoSparkError(str(problem)) from None
        builder = builder.master(master or "local[*]")
        for name, value in _DEFAULTS.items():
            builder = builder.config(name, value)
    for name, value in (conf or {}).items():
        builder = builder.config(name, value)
    with _aside() as log:
        try:
            return builder.getOrCreate(), not there
        except (PySparkException, OSError) as problem:
            why = _last_line(log) or str(problem).splitlines()[0]
            raise NoSparkError(f"Spark can't be started: {why}") from problem


@contextmanager
def _aside() -> Iterator[IO[bytes]]:
    """Lets what Java writes to standard error go to a file, for as long as it runs: errors come as exceptions too."""
    sys.stderr.flush()
    before = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            yield log
        finally:
            os.dup2(before, 2)
            os.close(before)


def _last_line(log: IO[bytes]) -> str:
    """What Java said last, but for where in its code that was."""
    log.seek(0)
    lines = [line.strip() for line in log.read().decode(errors="replace").split("\n")]
    return next((line for line in reversed(lines) if line and not line.startswith(("at ", "..."))), "")
