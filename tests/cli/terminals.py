"""Runs the command line on a terminal."""

import os
import pty
import subprocess
import sys


def terminal(columns, *args):
    """What a command writes to a terminal of this width, in which colours are off."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "PAGER": "cat"}
    command = [sys.executable, "-m", "zdissect_cli", *map(str, args)]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, env=env) as process:
        os.close(theirs)
        out = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # that is how Linux says that nobody has it open any more
                break
            if not piece:
                break
            out += piece
        assert process.wait() == 0
    os.close(ours)
    return out.decode().replace("\r\n", "\n")
