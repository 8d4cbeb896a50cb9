import contextlib
import gzip
import io
import os
import pickle
import sys
import threading
import zlib

import pytest

from zdissect.capture import CaptureError, open_capture


@pytest.fixture
def sample(build, tmp_path):
    path = tmp_path / "sample.pcap"
    path.write_bytes(build.pcap_header(link=101) + build.pcap_record(b"one") + build.pcap_record(b"three"))
    return path


def error_of(path: str) -> str:
    with pytest.raises(CaptureError) as caught, open_capture(path) as capture:
        list(capture)
    assert caught.value.path == path
    return caught.value.message


def test_what_is_known_while_reading(sample):
    with open_capture(str(sample)) as capture:
        assert (capture.path, capture.format, capture.size) == (str(sample), "pcap", 64)
        assert (capture.frames, capture.bytes, capture.link_types) == (0, 0, {101})
        frames = iter(capture)
        assert next(frames).source == str(sample)
        assert (capture.frames, capture.bytes, capture.position) == (1, 3, 64)
        assert [frame.number for frame in capture] == [2]
        assert list(capture) == []
        assert (capture.frames, capture.bytes) == (2, 8)


def test_closes_itself(sample):
    """At the end, after a break and at the end of the block; left open, it would warn here (-W error)."""
    assert len(list(open_capture(str(sample)))) == 2
    for frame in open_capture(str(sample)):
        assert frame.number == 1
        break
    with open_capture(str(sample)) as capture:
        frames = iter(capture)
        next(frames)
    assert list(frames) == []


def test_format_is_told_by_content(build, tmp_path):
    plain = {"pcap": build.pcap_header() + build.pcap_record(b"x")}
    plain["pcapng"] = build.section() + build.interface() + build.packet(b"x")
    path = tmp_path / "misleading.txt.zip"
    for name, content in plain.items():
        for suffix, packed in ("", content), ("+gzip", gzip.compress(content)):
            path.write_bytes(packed)
            with open_capture(str(path)) as capture:
                assert capture.format == name + suffix
                assert [frame.data for frame in capture] == [b"x"]


def test_missing_file(sample):
    path = str(sample.with_name("simple.pcap"))
    assert error_of(path) == f"there is no such file; did you mean {sample}?"
    assert error_of("/no/such/place.pcap") == "there is no such file"
    assert "cannot be read" in error_of("null\0character")
    link = sample.with_name("link.pcap")
    link.symlink_to("nowhere.pcap")
    assert error_of(str(link)) == "it is a link to nowhere.pcap, which isn't there"


def test_directory(tmp_path):
    assert error_of(str(tmp_path)) == (
        f"it is a directory: give the files in it, or read them all with `zdissect batch {tmp_path} -o OUT`"
    )


def test_permission(sample, monkeypatch):
    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(io, "FileIO", refuse)
    assert error_of(str(sample)) == "permission denied: ask for read access, or run as a user who has it"


def test_empty(read):
    assert read(b"") == ([], "it is empty (0 bytes): capture or copy it again")
    assert read(gzip.compress(b"")) == ([], "what is packed in it is empty (0 bytes): capture or copy it again")


def test_disk_error_while_reading(sample, monkeypatch):
    """As from a network file system that goes away."""

    class Failing(io.FileIO):
        def readinto(self, buffer):
            if self.tell():
                raise OSError(5, "Input/output error")
            return super().readinto(memoryview(buffer)[:50])

    monkeypatch.setattr(io, "FileIO", Failing)
    frames = []
    with pytest.raises(CaptureError) as caught:
        frames.extend(open_capture(str(sample)))
    assert caught.value.message == "it cannot be read (Input/output error); the frame before was read"


def test_error_survives_pickling():
    error = pickle.loads(pickle.dumps(CaptureError("-", "is bad")))
    assert (str(error), error.path, error.message) == ("standard input: is bad", "-", "is bad")


def test_standard_input_as_a_stream(build, monkeypatch):
    packer = zlib.compressobj(wbits=31)
    parts = [build.pcap_header()] + [build.pcap_record(bytes([i]) * 10) for i in range(5)]
    packed = [packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH) for part in parts] + [packer.flush()]
    for pieces in parts, packed:
        assert lockstep(pieces, monkeypatch) == [bytes([i]) * 10 for i in range(5)]


def test_pcapng_on_standard_input_as_a_stream(build, monkeypatch):
    parts = [build.section() + build.interface(), build.packet(b"first"), build.block(99, b""), build.packet(b"second")]
    parts[2:] = [parts[2] + parts[3]]
    assert lockstep(parts, monkeypatch) == [b"first", b"second"]


def lockstep(pieces: list[bytes], monkeypatch) -> list[bytes]:
    """Read through a pipe whose writer goes on only when the frame before has come out at the other end."""
    reading, writing = os.pipe()
    arrived = threading.Semaphore(1)
    in_time = []

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), open(writing, "wb", buffering=0) as pipe:
            half = len(pieces[0]) // 2
            pipe.write(pieces[0][:half])
            pipe.write(pieces[0][half:])
            for piece in pieces[1:]:
                in_time.append(arrived.acquire(timeout=5))
                pipe.write(piece)

    writer = threading.Thread(target=write)
    data = []
    with open(reading) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        writer.start()
        with open_capture("-") as capture:
            assert capture.size is None
            assert capture.position is None
            for frame in capture:
                assert frame.source == "-"
                data.append(frame.data)
                arrived.release()
        assert not stdin.closed
        os.fstat(reading)  # still open
        writer.join()
    assert all(in_time), "frames were held back"
    return data


def test_standard_input_replaced_by_memory(build, monkeypatch):
    content = build.pcap_header() + build.pcap_record(b"x")
    for data in content, gzip.compress(content):
        memory = io.TextIOWrapper(io.BytesIO(data))
        monkeypatch.setattr(sys, "stdin", memory)
        assert [frame.data for frame in open_capture("-")] == [b"x"]
        assert not memory.closed


def test_standard_input_closed_or_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert error_of("-") == "it is closed: give the name of a file, or pipe a capture in"
    memory = io.TextIOWrapper(io.BytesIO())
    memory.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", memory)
    assert error_of("-") == "it is a terminal: pipe a capture in, or capture with `zdissect -i INTERFACE`"
