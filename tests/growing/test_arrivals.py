"""When a file counts: by the clock of the process alone."""

import os

from zdissect.export.inputs import find
from zdissect.growing.arrivals import Settling


def test_a_file_counts_when_it_has_not_changed(tmp_path):
    path = tmp_path / "x.pcap"
    settling = Settling(2.0)

    def settled(now_s):
        there, names = settling.look(find(str(tmp_path)), now_s)
        assert names <= there.keys()
        return [*names]

    path.write_bytes(b"a")
    assert settled(100.0) == settled(101.9) == []
    assert settled(102.0) == ["x.pcap"]
    path.write_bytes(b"ab")
    assert settled(102.5) == settled(104.4) == []
    os.utime(path, (1, 1))  # its clock went back: it has changed
    assert settled(104.6) == settled(106.5) == []
    assert settled(106.6) == ["x.pcap"]
    path.unlink()
    assert settled(107.0) == []
    path.write_bytes(b"ab")
    os.utime(path, (1, 1))
    assert settled(200.0) == []


def test_a_file_that_goes_while_it_is_looked_at(tmp_path):
    path = tmp_path / "x.pcap"
    path.touch()
    files = find(str(tmp_path))
    path.unlink()
    assert Settling(0).look(files, 0.0) == ({}, set())
