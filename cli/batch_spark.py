"""`zdissect batch --spark`: the same tables, made by Spark."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from zdissect.export.batch import Job, Report


def settings(given: tuple[str, ...]) -> dict[str, str]:
    """The settings of `--conf NAME=VALUE`."""
    out = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not name or not equals:
            raise click.BadParameter(f"{one!r} isn't understood; write spark.executor.memory=4g", param_hint="--conf")
        out[name] = value
    return out


def convert(job: "Job", master: str | None, conf: dict[str, str], partitions: int | None) -> "Report | None":
    """Converts with Spark. Raises WriteError."""
    from zdissect.export.parquet import WriteError
    from zdissect.spark.session import NoSparkError, cores, open_session

    try:
        spark, ours = open_session(master, conf)
    except NoSparkError as problem:
        raise WriteError(str(problem)) from None
    from zdissect.spark.conversion import convert_directory

    try:
        return convert_directory(spark, job, partitions or cores(spark))
    finally:
        if ours:
            spark.stop()
