"""Makes captures: `python -m tests.bench.compare.captures SHAPE PROTOCOL MESSAGES FILE`, `-` for standard output.

A process of its own, as one that was large would make all that it starts look large.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO, NamedTuple

from tests.bench.compare.runs import ROOT
from tests.bench.compare.shapes import SHAPES


class Capture(NamedTuple):
    """A capture file and what is in it."""

    path: Path
    shape: str
    protocol: str
    messages: int
    packets: int
    parcels: int
    """How often one side sent something, in as many packets as it took."""
    size: int
    """Bytes."""


def make(shape: str, protocol: str, messages: int, directory: Path) -> Capture:
    """A capture with at least so many messages; one that is there already is taken as it is."""
    path = directory / f"{shape}-{protocol}-{messages}" / "capture.pcap"
    facts = path.parent.with_suffix(".json")
    if not facts.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            maker(shape, protocol, messages, str(path)), cwd=ROOT, check=True, stderr=subprocess.PIPE, text=True
        )
        facts.write_text(done.stderr, encoding="utf-8")
    return Capture(path, shape, protocol, **json.loads(facts.read_text(encoding="utf-8")))


def maker(shape: str, protocol: str, messages: int, path: str, size: int = 0) -> list[str]:
    """What makes a capture."""
    command = [sys.executable, "-m", "tests.bench.compare.captures"]
    return [*command, shape, protocol, str(messages), path, "--bytes", str(size)]


def write(shape: str, protocol: str, messages: int, size: int, file: BinaryIO) -> dict[str, int]:
    """Writes a capture with at least so many messages and bytes."""
    from tests.bench.compare.links import CaptureFile
    from tests.bench.compare.mqtt_fleet import MqttFleet
    from tests.bench.compare.shapes import said
    from tests.bench.compare.zenoh_fleet import ZenohFleet

    capture = CaptureFile(file)
    fleet = ZenohFleet(capture) if protocol == "zenoh" else MqttFleet(capture)
    sent = 0
    for what in said(shape):
        sent += fleet.say(what)
        if sent >= messages and capture.size >= size:
            break
    fleet.close()
    return {"messages": sent, "packets": capture.packets, "parcels": capture.parcels, "size": capture.size}


def main() -> None:
    """The command; what is in the capture goes to standard error, as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.compare.captures", description="Makes a capture.")
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("protocol", choices=("zenoh", "mqtt"))
    parser.add_argument("messages", type=int)
    parser.add_argument("file")
    parser.add_argument("--bytes", type=int, default=0, help="go on until it has so many bytes, too")
    given = parser.parse_args()
    with open(sys.stdout.fileno() if given.file == "-" else given.file, "wb", buffering=1 << 20) as file:
        facts = write(given.shape, given.protocol, given.messages, given.bytes, file)
    print(json.dumps(facts), file=sys.stderr)


if __name__ == "__main__":
    main()
