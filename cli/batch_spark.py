"""`zdissect batch --spark`: the same tables, made by Spark."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from zdissect.export.directory import Job, Report
    from zdissect.growing.follower import Steps

    from .batch_progress import SilentProgress


class Cluster(NamedTuple):
    """Where Spark runs."""

    master: str | None
    """None: this machine, or the session that is there already."""
    conf: dict[str, str]
    partitions: int | None
    """Tasks that decode; None: as many as run at once."""


def settings(conf: tuple[str, ...]) -> dict[str, str]:
    """The settings of `--conf NAME=VALUE`."""
    out = {}
    for setting in conf:
        name, equals, value = setting.partition("=")
        if not name or not equals:
            raise click.BadParameter(
                f"{setting!r} isn't understood; write spark.executor.memory=4g", param_hint="--conf"
            )
        out[name] = value
    return out


def there(job: "Job") -> bool:
    """Whether OUT exists, wherever it is. Raises WriteError."""
    with _needed():
        from zdissect.spark import conversion

        return conversion.there(job)


def convert(job: "Job", watch: "SilentProgress", cluster: Cluster) -> "Report | None":
    """Converts with Spark; None if there are no captures. Raises WriteError."""
    with _needed():
        from zdissect.spark import background, conversion
        from zdissect.spark.spark_session import cores, open_session

        works = conversion.captures_of(job)  # before Spark is started, which takes long
        if not works or not works[0].inputs:
            return None
        with _unlogged():
            spark, ours = open_session(cluster.master, cluster.conf)
            try:
                tasks = cluster.partitions or cores(spark)
                return background.run(
                    spark, lambda: conversion.convert_directory(spark, job, works, tasks, watch, ours), watch.stages
                )
            finally:
                if ours:
                    wait([background.start(spark.stop)], background.PATIENCE_S)  # it has gone, perhaps


def follow(job: "Job", cluster: Cluster, run: "Callable[[Steps], int]") -> int:
    """Follows a directory with Spark; returns what `run` does with what takes steps. Raises WriteError."""
    with _needed():
        from zdissect.spark import background, conversion
        from zdissect.spark.spark_session import cores, open_session

        with _unlogged():
            spark, ours = open_session(cluster.master, cluster.conf)
            try:
                pool = conversion.pool_of(spark, job, cluster.partitions or cores(spark), ours)
                return run(conversion.steps_of(pool))
            finally:
                if ours:
                    wait([background.start(spark.stop)], background.PATIENCE_S)  # it has gone, perhaps


@contextmanager
def _needed() -> Iterator[None]:
    """Raises WriteError where something must be installed first, or Spark can't be started."""
    from zdissect.export.parquet import WriteError
    from zdissect.spark.spark_session import NoSparkError, require

    try:
        require()
        yield
    except NoSparkError as problem:
        raise WriteError(str(problem)) from None


@contextmanager
def _unlogged() -> Iterator[None]:
    """What goes wrong between Python and Java is raised too, and reported once, in a line."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        yield
    finally:
        logging.disable(before)
