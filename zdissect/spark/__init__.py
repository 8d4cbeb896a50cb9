"""Zenoh captures in Spark, for notebooks and programs.

    import zdissect.spark

    messages = zdissect.spark.read_messages(spark, "captures")
    messages.groupBy("message").count().show()

Needs pyspark, pyarrow and pandas: `pip install 'zdissect[spark]'`. Everything here uses the DataFrame API only, so that
it works over Spark Connect too. Sessions that start after this import run their workers with the Python that did
the import, unless `PYSPARK_PYTHON` names another.
"""

from typing import TYPE_CHECKING

from zdissect.spark import worker_python

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["pack", "read_messages", "register"]

worker_python.prefer()


def register(spark: "SparkSession") -> None:
    """Makes `spark.read.format("zenoh")` and `format("zenoh-frames")` known to a session."""
    from zdissect.spark.datasource import Zenoh, ZenohFrames

    worker_python.adopt(spark)
    spark.dataSource.register(Zenoh)
    spark.dataSource.register(ZenohFrames)


def read_messages(spark: "SparkSession", path: str, **options: object) -> "DataFrame":
    """The table `messages` of a directory of captures, or of one capture.

    Args:
        path: A local path, or a URI that the workers can reach.
        options: `ports`, `payload`, `filter`, `fields`, `include`, `join` and `partitions`, as
            `zdissect.spark.datasource` describes them. A large capture is shared by as many tasks as run at once, if
            `partitions` doesn't say.
    """
    from zdissect.export.filesystems import everywhere
    from zdissect.spark.spark_session import cores

    register(spark)
    options.setdefault("partitions", cores(spark))
    pushdown = spark.conf.get("spark.sql.python.filterPushdown.enabled", "false")
    texts = {"pushdown": pushdown} | {name: str(value) for name, value in options.items()}
    return spark.read.format("zenoh").options(**texts).load(path if "://" in path else everywhere(path))


def pack(path: str) -> str:
    """Writes a zip of zdissect for `--py-files` or `addArtifacts(path, pyfile=True)`; returns its path."""
    from zdissect.spark.worker_zip import write_zip

    return write_zip(path)
