"""Which Python the workers run. Spark takes `PYSPARK_PYTHON`, or the `python3` of PATH: another one, without zdissect,
where a notebook or program was started by the path of its Python."""

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_UNSET = "python3"


def prefer() -> None:
    """Makes sessions that start from now on use this Python on their workers, unless another one is configured."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def adopt(spark: "SparkSession") -> None:
    """Makes a session that runs on this machine, and started before `prefer`, do the same."""
    from pyspark.sql.utils import is_remote

    if is_remote():
        return
    context = spark.sparkContext
    if (context.master or "").startswith("local") and context.pythonExec == _UNSET:
        context.pythonExec = sys.executable
