"""How fast captures are read: divide FRAMES by the time of a round for frames per second."""

import gzip
import struct

import pytest

from zdissect.capture import open_capture

FRAMES = 100_000
DATA = bytes(80)


def pcap() -> bytes:
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
    return header + (struct.pack("<IIII", 1_700_000_000, 5, len(DATA), len(DATA)) + DATA) * FRAMES


def pcapng() -> bytes:
    section = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    interface = struct.pack("<IIHHII", 1, 20, 1, 0, 262144, 20)
    high, low = divmod(1_700_000_000_000_000, 1 << 32)
    packet = struct.pack("<IIIIIII", 6, 112, 0, high, low, len(DATA), len(DATA)) + DATA + struct.pack("<I", 112)
    return section + interface + packet * FRAMES


@pytest.mark.parametrize(
    ("make", "packed"), [(pcap, False), (pcapng, False), (pcap, True)], ids=["pcap", "pcapng", "gz"]
)
def test_read_capture(benchmark, tmp_path, make, packed):
    path = tmp_path / "capture"
    path.write_bytes(gzip.compress(make(), 1) if packed else make())

    def read() -> int:
        with open_capture(str(path)) as capture:
            return sum(1 for _ in capture)

    assert benchmark(read) == FRAMES
    if benchmark.stats:  # not where benchmarks are switched off
        benchmark.extra_info["frames_per_second"] = round(FRAMES / benchmark.stats["min"])
