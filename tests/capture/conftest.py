"""Capture files made by hand, byte by byte, so that the readers are tested against the standards and not each other."""

import struct
from pathlib import Path

import pytest

from zdissect.capture import CaptureError, open_capture
from zdissect.records import Frame

SHARED = Path(__file__).parents[2].parent / "shared" / "captures"


class Build:
    """Makes the parts of capture files; `order` is `<` or `>`."""

    @staticmethod
    def pcap_header(order="<", magic=0xA1B2C3D4, snaplen=262144, link=1) -> bytes:
        return struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link)

    @staticmethod
    def pcap_record(data: bytes, seconds=1, fraction=0, wire_len=None, order="<", extra=b"") -> bytes:
        length = len(data) if wire_len is None else wire_len
        return struct.pack(order + "IIII", seconds, fraction, len(data), length) + extra + data

    @staticmethod
    def option(code: int, value: bytes, order="<") -> bytes:
        return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)

    @staticmethod
    def block(kind: int, body: bytes, order="<") -> bytes:
        body += bytes(-len(body) % 4)
        length = struct.pack(order + "I", len(body) + 12)
        return struct.pack(order + "I", kind) + length + body + length

    @classmethod
    def section(cls, order="<", major=1, options=b"") -> bytes:
        return cls.block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, major, 0, -1) + options, order)

    @classmethod
    def interface(cls, link=1, snaplen=262144, options=b"", order="<") -> bytes:
        return cls.block(1, struct.pack(order + "HHI", link, 0, snaplen) + options, order)

    @classmethod
    def packet(cls, data: bytes, interface=0, ticks=0, wire_len=None, options=b"", order="<") -> bytes:
        length = len(data) if wire_len is None else wire_len
        head = struct.pack(order + "IIIII", interface, ticks >> 32, ticks & 0xFFFFFFFF, len(data), length)
        return cls.block(6, head + data + bytes(-len(data) % 4) + options, order)

    @classmethod
    def old_packet(cls, data: bytes, interface=0, ticks=0, order="<") -> bytes:
        head = struct.pack(order + "HHIIII", interface, 7, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
        return cls.block(2, head + data, order)

    @classmethod
    def simple_packet(cls, data: bytes, wire_len=None, order="<") -> bytes:
        length = len(data) if wire_len is None else wire_len
        return cls.block(3, struct.pack(order + "I", length) + data, order)


@pytest.fixture(scope="session")
def build() -> type[Build]:
    return Build


@pytest.fixture(scope="session")
def read(tmp_path_factory):
    """A function that reads bytes as a capture file: the frames, and the text of the error or ""."""
    path = tmp_path_factory.mktemp("capture") / "test.cap"

    def read(content: bytes) -> tuple[list[Frame], str]:
        path.write_bytes(content)
        frames: list[Frame] = []
        failure = None
        try:
            with open_capture(str(path)) as capture:
                frames.extend(capture)
        except CaptureError as error:
            failure = error
        if failure:
            assert failure.path == str(path)
            assert str(failure) == f"{path}: {failure.message}"
            return frames, failure.message
        assert capture.frames == len(frames)
        assert capture.bytes == sum(len(frame.data) for frame in frames)
        assert capture.link_types >= {frame.link for frame in frames}
        return frames, ""

    return read


@pytest.fixture(scope="session")
def captures() -> Path:
    """The shared captures of real traffic, which a plain checkout does not have."""
    if not SHARED.is_dir():
        pytest.skip("no shared captures here")
    return SHARED
