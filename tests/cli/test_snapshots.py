"""The tree and the lines in terminals of several widths, coloured and plain, compared with files in tests/snapshots.

    UPDATE_SNAPSHOTS=1 python -m pytest tests/cli/test_snapshots.py

writes these files anew: look at what has changed in them.
"""

import os
import sys
from io import StringIO
from pathlib import Path

import pytest
from zdissect_cli.main import cli

ROOT = Path(__file__).parents[2]
SNAPSHOTS = ROOT / "tests" / "snapshots"

VIEWS = {
    "put": ("--frame", "17", "samples/pubsub-tcp.pcap"),
    "handshake": ("--frame", "4-6", "samples/pubsub-tcp.pcap"),
    "finding": ("samples/trailing-byte.pcap",),
    "dump": ("-x", "--frame", "17", "samples/pubsub-tcp.pcap"),
    "no-bits": ("--no-bits", "--frame", "4,17", "samples/pubsub-tcp.pcap"),
    "lines": ("-T", "line", "samples/pubsub-tcp.pcap"),
    "lines-brief": ("-T", "line", "--brief", "samples/pico-clients.pcap"),
    "lines-found": ("-T", "line", "-t", "r", "samples/duplicate-sn.pcap"),
    "lines-scouting": ("-v", "-T", "line", "--frame", "1-20", "samples/scouting-multicast.pcap"),
    "some-messages": ("-O", "put,d_keyexpr", "--frame", "13,17", "samples/pubsub-tcp.pcap"),
}


class Terminal(StringIO):
    """Standard output that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("colour", ["always", "never"])
@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("view", VIEWS)
def test_it_looks_as_it_did(view: str, width: int, colour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(ROOT)
    cli.main(["-q", "--color", colour, *VIEWS[view]], standalone_mode=False)
    text = sys.stdout.getvalue()
    path = SNAPSHOTS / f"{view}-{width}{'-colour' if colour == 'always' else ''}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
    assert ("\x1b" in text) == (colour == "always")
