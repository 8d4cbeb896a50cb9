"""Frames out of capture.capture_file: the only layer that opens files.

with open_capture("robot.pcapng") as capture:
    for frame in capture:
        ...
"""

from zdissect.capture.capture_file import Capture, open_capture
from zdissect.capture.errors import CaptureError, Defect

__all__ = ["Capture", "CaptureError", "Defect", "open_capture"]
