"""Lets Spark find `zenoh` by itself: it imports packages with such names and registers their `DefaultSource`."""

from zdissect.spark.source import Zenoh

__all__ = ["DefaultSource"]


class DefaultSource(Zenoh):
    """The data source `zenoh`: see `zdissect.spark.source`."""
