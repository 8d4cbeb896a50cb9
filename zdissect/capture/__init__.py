"""Reads and writes captures, files and live ones: frames in, frames out.

with open_capture("robot.pcapng") as capture:
    for frame in capture:
        ...
"""

from zdissect.capture.capture_file import Capture, open_capture
from zdissect.capture.errors import CaptureError, Defect

__all__ = ["Capture", "CaptureError", "Defect", "open_capture"]
