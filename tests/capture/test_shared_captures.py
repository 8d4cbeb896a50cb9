"""Frame counts of the shared captures of real traffic, as their manifest has them."""

import re

from zdissect.capture import CaptureError, open_capture

_ROW = re.compile(r"^\| (\S+\.(?:pcap|pcapng|pcap\.gz)) \|(.*)\|$", re.MULTILINE)


def test_frame_counts(captures):
    """Some rows say only what a capture is about: it has frames at least."""
    expected = {}
    for name, rest in _ROW.findall((captures / "MANIFEST.md").read_text()):
        path = captures / name if (captures / name).exists() else captures / "third-party" / name
        expected[path] = next((int(cell) for cell in rest.split("|") if cell.strip().isdigit()), None)
    stated = {path: frames for path, frames in expected.items() if frames is not None}
    assert len(stated) > 50
    assert {path: count(str(path)) for path in stated} == stated
    assert all(count(str(path)) for path in expected.keys() - stated.keys())


def test_link_types_and_errors(captures):
    for name, links in {
        "15-any-sll1.pcap": {113},
        "15-any-sll2.pcap": {276},
        "15-null-loopback.pcap": {0},
        "15-pcapng-two-interfaces.pcapng": {1, 101},
        "15-header-only.pcap": {1},
    }.items():
        with open_capture(str(captures / name)) as capture:
            assert {frame.link for frame in capture} <= capture.link_types == links
    assert error(captures / "15-zero-bytes.pcap") == "it is empty (0 bytes): capture or copy it again"
    assert "looks like text" in error(captures / "15-not-a-capture.pcap")
    assert "it starts as pcap but ends at byte 11" in error(captures / "15-header-cut.pcap")
    assert "ends at byte 48420, inside record 108, which" in error(captures / "15-truncated-last-record.pcap")


def count(path: str) -> int:
    frames = 0
    try:
        for frame in open_capture(path):
            frames += 1
            assert frame.number == frames
    except CaptureError:
        pass
    return frames


def error(path) -> str:
    try:
        list(open_capture(str(path)))
    except CaptureError as error:
        return error.message
    return ""
