"""Captures that kill the workers of Spark that read them."""

import os

from zdissect.export.inputs import Work


class Deadly(Work):
    """Kills every worker; the driver may look at it."""

    @property
    def inputs(self):
        from pyspark import TaskContext

        if TaskContext.get() is not None:
            os._exit(1)
        return super().inputs

    def __reduce__(self):
        """By value: workers don't import tests."""
        from pyspark.cloudpickle import register_pickle_by_value

        from tests.spark import deaths

        register_pickle_by_value(deaths)
        return Deadly, (self.merges,)
