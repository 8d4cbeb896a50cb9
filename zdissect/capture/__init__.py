"""Frames out of capture files: the only layer that opens files.

with open_capture("robot.pcapng") as capture:
    for frame in capture:
        ...
"""

from zdissect.capture.errors import CaptureError, Defect
from zdissect.capture.files import Capture, open_capture

__all__ = ["Capture", "CaptureError", "Defect", "open_capture"]
