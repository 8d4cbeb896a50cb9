"""Captures that kill the process which converts them."""

import multiprocessing
import os
import signal
import sys

from zdissect.export.files import Work


class Deadly(Work):
    """Kills every process but the first."""

    @property
    def sources(self):
        if multiprocessing.parent_process() is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().sources


class DeadlyInGroups(Work):
    """Kills the processes that decode a group of it."""

    @property
    def sources(self):
        if sys._getframe(1).f_code.co_name == "convert_group":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().sources
