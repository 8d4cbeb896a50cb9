"""What a script with scapy or pyshark does: `python -m tests.bench.compare.python_readers LIBRARY FORM FILE`.

Of a capture of MQTT, which both dissect to the last field. FORM is `line`, `tree`, `count` (of packets that were
recognised) or `version`.
"""

import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from typing import Any


def scapy_packets(path: str) -> Iterator[Any]:
    """Packets, one after the other."""
    from scapy.config import conf

    conf.load_layers = ["l2", "inet"]
    import scapy.contrib.mqtt
    import scapy.layers.inet
    import scapy.layers.l2  # noqa: F401
    from scapy.utils import PcapReader

    with PcapReader(path) as packets:
        yield from packets


def with_scapy(form: str, path: str) -> None:
    """Prints packets as scapy does."""
    count = 0
    for packet in scapy_packets(path):
        if form == "count":
            count += packet.haslayer("MQTT fixed header")
        else:
            print(packet.summary() if form == "line" else packet.show(dump=True))
    if form == "count":
        print(count)


def with_pyshark(form: str, path: str) -> None:
    """Prints packets as pyshark does, which lets tshark dissect them."""
    count = 0
    with import_module("pyshark").FileCapture(path, keep_packets=False) as packets:
        for packet in packets:
            if form == "count":
                count += "MQTT" in packet
            else:
                print(f"{packet.number} {packet.highest_layer} {packet.length}" if form == "line" else packet)
    if form == "count":
        print(count)


def main() -> None:
    """The command."""
    library, form, path = sys.argv[1:]
    if form == "version":
        print(f"{library} {version(library)}")
    elif library == "scapy":
        with_scapy(form, path)
    else:
        with_pyshark(form, path)


if __name__ == "__main__":
    main()
