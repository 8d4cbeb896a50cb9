"""Captures that kill the process which converts them."""

import multiprocessing
import os
import signal
import sys

from zdissect.export.inputs import Work


class Deadly(Work):
    """Kills every process but the first."""

    @property
    def inputs(self):
        if multiprocessing.parent_process() is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().inputs


class DeadlyInGroups(Work):
    """Kills the processes that decode a group of it."""

    @property
    def inputs(self):
        if sys._getframe(1).f_code.co_name == "convert_group":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().inputs
