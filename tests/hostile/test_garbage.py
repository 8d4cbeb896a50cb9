"""Garbage is looked for rarely: going through all that is kept of a capture must not be most of the work."""

import subprocess
import sys

from tests.hostile.endless_flood import MB, written

COUNTING = """
import gc, sys
from cli.main import main
full = 0
def collected(phase, about):
    global full
    full += phase == "stop" and about["generation"] == 2
gc.callbacks.append(collected)
sys.argv = ["zdissect", "-T", "line", "-"]
try:
    main()
finally:
    print(full, file=sys.stderr)
"""


def test_a_flood_is_rarely_gone_through_as_a_whole() -> None:
    command = [sys.executable, "-c", COUNTING]
    with subprocess.Popen(command, stdin=-1, stdout=-3, stderr=-1) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        for total in written(process.stdin.fileno(), half=False):
            if total >= 2 * MB:
                break
        process.stdin.close()
        *_, full = process.stderr.read().split()
    assert not int(full)
