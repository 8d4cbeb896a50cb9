"""Frames in temporary files."""

from zdissect.capture.spool import Spool
from zdissect.records import Frame


def test_frames_and_what_is_written_beside_them():
    with Spool() as spool:
        for number, data in enumerate((b"first", b"", b"the third"), 1):
            spool.add(Frame("in", number, 10 * number, 1, 99, data))
        assert len(spool) == 3
        assert [frame.data for frame in spool.frames()] == [b"first", b"", b"the third"]
        assert spool.frame(2) == Frame("", 3, 30, 1, 99, b"the third")
        spool.write(2, 4, b"THIRD")
        spool.write(0, 3, b"far too long")
        assert spool.new(0, 0, 9) == b"\0\0\0fa"
        assert spool.new(1, 0, 9) == b""
        assert spool.new(2, 0, 9) == b"\0\0\0\0THIRD"
        assert spool.old(2, 4, 99) == b"third"
        spool.add(Frame("in", 4, 40, 1, 4, b"more"))
        assert spool.old(3, 0, 4) == b"more"
        assert spool.new(3, 0, 4) == bytes(4)
