"""Files that a live capture is written to: what is in them is what was captured."""

import os
from pathlib import Path

import pytest

from tests.capturing import SAMPLES
from zdissect.capture import CaptureError, open_capture
from zdissect.capture.autostop import Bounds
from zdissect.capture.ring import Ring
from zdissect.records import Frame


def frames(path: Path | str) -> list[Frame]:
    with open_capture(str(path), "x") as capture:
        return list(capture)


def written(ring: Ring, given: list[Frame]) -> list[str]:
    for frame in given:
        ring.write(frame)
    ring.close()
    assert not ring.kept  # there may be ever more of them
    return sorted(map(str, Path(ring.path).parent.iterdir()))


SAMPLE = frames(SAMPLES / "pubsub-tcp.pcap")


def test_one_file_holds_all_frames_as_they_were(tmp_path: Path) -> None:
    odd = Frame("x", 1, 1_700_000_000_123_456_789, 113, 99, b"cut short")
    (name,) = written(Ring(str(tmp_path / "out.pcapng"), Bounds()), [*SAMPLE, odd])
    assert name == str(tmp_path / "out.pcapng")
    assert [frame._replace(number=0) for frame in frames(name)] == [one._replace(number=0) for one in [*SAMPLE, odd]]


@pytest.mark.parametrize(("bounds", "sizes"), [(Bounds(packets=10), 10), (Bounds(filesize=1), None)])
def test_a_new_file_begins_when_one_is_full(tmp_path: Path, bounds: Bounds, sizes: int | None) -> None:
    names = written(Ring(str(tmp_path / "out.pcapng"), bounds), SAMPLE)
    assert len(names) > 1
    assert [os.path.basename(name)[:10] for name in names] == [
        f"out_{number:05}_" for number in range(1, len(names) + 1)
    ]
    parts = [frames(name) for name in names]
    assert [frame.data for part in parts for frame in part] == [frame.data for frame in SAMPLE]
    if sizes:
        assert {len(part) for part in parts[:-1]} == {sizes}
    else:
        assert all(os.path.getsize(name) >= 1000 for name in names[:-1])


def test_time_begins_a_new_file_and_only_the_last_are_kept(tmp_path: Path) -> None:
    now = [0.0]
    ring = Ring(str(tmp_path / "out"), Bounds(duration=10, files=2), lambda: now[0])
    for frame in SAMPLE[:5]:
        ring.write(frame)
        now[0] += 10
    ring.close()
    assert len(ring.kept) == 2
    assert sorted(os.listdir(tmp_path)) == sorted(os.path.basename(name) for name in ring.kept)
    assert [frame.data for name in ring.kept for frame in frames(name)] == [frame.data for frame in SAMPLE[3:5]]


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    there = tmp_path / "there.pcapng"
    there.write_text("precious")
    with pytest.raises(CaptureError, match="it already exists"):
        Ring(str(there), Bounds())
    assert there.read_text() == "precious"


def test_what_cannot_be_written_is_said_by_its_name(tmp_path: Path) -> None:
    """An error of a full disk names no file, and would be taken for one of standard output."""
    ring = Ring(str(tmp_path / "x.pcapng"), Bounds())
    ring.file.close()
    ring.file = open("/dev/full", "wb")  # noqa: SIM115
    ring.write(SAMPLE[0])  # into the buffer
    for act in (ring.flush, ring.close):
        with pytest.raises(OSError, match="No space left") as problem:
            act()
        assert problem.value.filename == "/dev/full"
    ring.file = open("/dev/full", "wb", 0)  # noqa: SIM115
    with pytest.raises(OSError, match="No space left") as problem, ring.file:
        ring.write(SAMPLE[0])
    assert problem.value.filename == "/dev/full"
