"""The session of Spark: the existing one, or one that suits batch jobs on this machine."""

import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from zdissect.spark import failures, java, worker_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEEDED = ("pyspark", "pyarrow", "pandas")
HINT = "--spark needs pyspark, pyarrow and pandas: pip install 'zdissect[spark]'"

LOCAL = "local[*,2]"
"""This machine, all cores; failed tasks are tried once more, as on a cluster, in case a worker was killed."""

_DEFAULTS = {
    "spark.app.name": "zdissect",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_SHORT_LIVED = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
}
"""For a session of our own on this machine. Its Java only hands out tasks: compiling its code well, writing code for
plans and changing them halfway, and several threads that collect garbage, take longer than they save."""


class NoSparkError(Exception):
    """Spark can't be started. The text says what to do, in one line."""


def submitted() -> bool:
    """Whether this was started by spark-submit, or a session exists already."""
    if "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ:
        return True
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None


def cores(spark: "SparkSession") -> int:
    """How many tasks run at once."""
    from pyspark.sql.utils import is_remote

    return 8 if is_remote() else spark.sparkContext.defaultParallelism  # unknown over Spark Connect


def missing() -> list[str]:
    """The packages that must be installed first."""
    return [name for name in NEEDED if find_spec(name) is None]


def require() -> None:
    """Raises NoSparkError if something must be installed first."""
    if missing():
        raise NoSparkError(HINT)


def open_session(master: str | None = None, conf: Mapping[str, str] | None = None) -> "tuple[SparkSession, bool]":
    """(session, whether it was made here); under spark-submit and in a notebook, the existing session.

    Raises NoSparkError.
    """
    require()
    worker_python.prefer()
    from pyspark.sql import SparkSession

    there = submitted()
    builder = SparkSession.builder
    settings = dict(conf or {})
    if not there:
        _reach(master or LOCAL)
        if master and master.startswith("sc://"):
            builder = builder.remote(master)
        else:
            try:
                java.provide()
            except java.NoJavaError as problem:
                raise NoSparkError(str(problem)) from None
            builder = builder.master(master or LOCAL)
            here = (master or LOCAL).startswith("local")
            settings = _DEFAULTS | (_SHORT_LIVED if here else {}) | settings
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _aside() as log, _interruptible():
        try:
            spark = builder.getOrCreate()
            server = getattr(getattr(spark, "_sc", None), "_accumulatorServer", None)
            if server is not None:
                server.handle_error = lambda *_: None  # else it prints a traceback if Java dies
            return spark, not there
        except Exception as problem:
            if not failures.of_spark(problem):
                raise
            ended = failures.connection_lost(problem) or "JAVA_GATEWAY_EXITED" in str(problem)
            why = (ended and _said(log)) or failures.reason(problem)
            raise NoSparkError(f"Spark can't be started: {why}") from problem


def _reach(master: str) -> None:
    """Raises NoSparkError if there is no answer at the address of a cluster. Spark itself would try for a minute."""
    scheme, _, rest = master.partition("://")
    if scheme not in _PORTS:
        return
    why: Exception | None = None
    for address in rest.partition("/")[0].split(","):
        try:
            parts = urlsplit(f"//{address}")
            socket.create_connection((parts.hostname, parts.port or _PORTS[scheme]), _PATIENCE_S).close()
            return
        except (OSError, ValueError) as problem:
            why = problem
    raise NoSparkError(f"no Spark answers at {master} ({why})")


_PORTS = {"spark": 7077, "sc": 15002}
"""Ports of a standalone cluster and of Spark Connect."""
_PATIENCE_S = 10


@contextmanager
def _interruptible() -> Iterator[None]:
    """Keeps the handler of Ctrl-C: a new session would make it call Java, even in the middle of another call."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def _aside() -> Iterator[IO[bytes]]:
    """Redirects the standard error of Java to a file, for as long as it runs: errors come as exceptions too."""
    sys.stderr.flush()
    before = os.dup(2)
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            yield log
        finally:
            os.dup2(before, 2)
            os.close(before)


def _said(log: IO[bytes]) -> str:
    """What Java said before it ended."""
    log.seek(0)
    return failures.cause(log.read().decode(errors="replace"))
