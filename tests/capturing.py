"""Live captures for tests: programs that capture in the place of tcpdump, and who may capture on this machine."""

import os
import shutil
import socket
import stat
from ctypes.util import find_library
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[1] / "samples"


def _may_capture() -> bool:
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except (AttributeError, OSError):
        return False
    return True


FILTERS = bool(shutil.which("tcpdump") or shutil.which("dumpcap") or find_library("pcap"))
"""Whether anything here knows capture filters."""
may_filter = pytest.mark.skipif(not FILTERS, reason="neither tcpdump nor dumpcap nor libpcap is installed")
may_capture = pytest.mark.skipif(not _may_capture(), reason="this user may not capture on this machine")


def stand_in(folder: Path, name: str, script: str) -> Path:
    """A program that captures, as a shell script: `$CAPTURE` is a sample. Its folder is to be the whole path."""
    file = folder / name
    file.write_text(
        f"#!/bin/bash\nPATH=/usr/bin:/bin\nCAPTURE={SAMPLES}/query-router.pcap\necho $$ > {file}.pid\n{script}\n"
    )
    file.chmod(stat.S_IRWXU)
    return file


def runs(program: Path) -> bool:
    """Whether a stand-in still runs."""
    try:
        os.kill(int(Path(f"{program}.pid").read_text()), 0)
    except ProcessLookupError:
        return False
    return True


FORBIDDEN = 'echo "tcpdump: lo: You don\'t have permission to perform this capture on that device" >&2; exit 1'
PATIENT = """
trap 'echo "202 packets captured" >&2; echo "7 packets dropped by kernel" >&2; kill $CHILD; exit 0' TERM
cat $CAPTURE
sleep 60 >&- 2>&- & CHILD=$!
wait
"""
"""Captures a sample, then nothing more until it is ended. If that comes before it knows its child, the child stays: it
mustn't keep the streams open that are read to their end."""
