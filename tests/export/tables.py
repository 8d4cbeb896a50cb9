"""Converts captures in this process, and gives the rows."""

import json
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from zdissect.capture import open_capture
from zdissect.export.conversion_settings import Settings
from zdissect.export.directory import Job, Report, convert_directory
from zdissect.records import Frame

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "samples"
NAMES = sorted(path.name for path in SAMPLES.glob("*.pcap*"))
OLD_TIMES = [name for name in NAMES if name != "flipped-time.pcapng"]
"""Those with times that a pcap file can hold."""

Row = dict[str, Any]


class Quiet:
    """A watch that looks away."""

    def begin(self, files: int, size: int) -> None:
        pass

    def update(self, files: int, size: int, messages: int) -> None:
        pass


def converted(directory: Path, out: Path, settings: Settings | None = None, **options: Any) -> Report:
    """Converts a directory in this process."""
    job = Job(str(directory), str(out), settings or Settings(), **{"jobs": 1} | options)
    report = convert_directory(job, Quiet())
    assert report is not None
    return report


def rows(out: Path, table: str = "messages") -> list[Row]:
    """The rows of a table."""
    return [row for part in sorted((out / table).iterdir()) for row in pq.read_table(part).to_pylist()]


def where(row: Row) -> tuple[Any, ...]:
    """What rows of captures that were read by several processes are sorted by."""
    return tuple(str(row.get(name)) for name in ("file", "frame_number", "message_index", "flow_id", "code", "offset"))


def as_json(row: Row) -> Row:
    """A row as `-T jsonl` has it."""

    def plain(value: Any) -> Any:
        if isinstance(value, bytes):
            return value.hex()
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if hasattr(value, "strftime") else str(value)

    return json.loads(json.dumps(row, default=plain))


def held(row: Row) -> Row:
    """A row with what its columns can hold: `ts_ns` has 64 bits."""
    return row | {"ts_ns": row["ts_ns"] if -(1 << 63) <= row["ts_ns"] < 1 << 63 else None}


def frames(path: Path) -> list[Frame]:
    """The frames of a capture."""
    with open_capture(str(path)) as capture:
        return list(capture)


def write_pcap(path: Path, some: Iterable[Frame]) -> None:
    """Writes frames to a file, with nanoseconds."""
    link = 1
    records = []
    for frame in some:
        link = frame.link
        seconds, fraction = divmod(frame.ts_ns, 10**9)
        records += [struct.pack("<IIII", seconds, fraction, len(frame.data), frame.wire_len), frame.data]
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, link) + b"".join(records))
