"""Larger captures, where they are at hand: rotated files are what they were cut from."""

import pytest

from tests.export.tables import ROOT, converted, rows

SHARED = ROOT.parent / "shared" / "captures"
PLACE = {"file", "frame_number", "key_frame", "request_frame", "interest_frame", "fragments"}

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="these captures are not here")


def _plain(found):
    return [{name: value for name, value in row.items() if name not in PLACE} for row in found]


def test_rotated_files_give_the_rows_of_the_whole(tmp_path):
    converted(SHARED, tmp_path / "whole", include=("15-base-rotate.pcap",))
    report = converted(SHARED, tmp_path / "parts", include=("15-rotated.part*",))
    assert report.captures == 1
    assert rows(tmp_path / "whole")
    for table in ("messages", "findings", "sessions"):
        assert _plain(rows(tmp_path / "parts", table)) == _plain(rows(tmp_path / "whole", table))


def test_rewritten_copies_are_never_merged(tmp_path):
    """Some twenty observations of one session; all but the rotated parts stand alone."""
    report = converted(SHARED, tmp_path / "out", include=("15-*.pcap*",))
    captures = rows(tmp_path / "out", "captures")
    assert len({row["capture"] for row in captures}) == report.captures == len(captures) - 3
