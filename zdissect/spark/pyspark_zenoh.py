"""Lets Spark find `zenoh` by itself: it imports all top-level modules with such names and registers their
`DefaultSource`. So this file is installed a second time, next to the package (see setup.py)."""

from zdissect.spark.datasource import Zenoh

__all__ = ["DefaultSource"]


class DefaultSource(Zenoh):
    """The data source `zenoh`: see `zdissect.spark.datasource`."""
