import gzip
import io
import lzma
import random
import subprocess
import sys
import tracemalloc
import zlib
from functools import partial

import lz4.frame
import pytest
from backports import zstd

from zdissect.capture.packed import PackedStream, UnpackError
from zdissect.capture.packings import GZIP, LZ4, XZ, ZSTD, packing_of


@pytest.fixture(scope="module")
def content(build):
    noise = random.Random(1).randbytes
    return build.pcap_header() + b"".join(build.pcap_record(noise(40) + bytes(900)) for _ in range(100))


def unpack(packed: bytes, size: int) -> tuple[bytes, str]:
    """All that comes out, asking for `size` bytes at a time, and the text of the error or ""."""
    stream = PackedStream(GZIP, packed[:4], io.BytesIO(packed[4:]))
    out = bytearray()
    try:
        while piece := stream.read(size):
            assert len(piece) <= size
            out += piece
    except UnpackError as error:
        with pytest.raises(UnpackError):
            stream.read(1)
        return bytes(out), str(error)
    return bytes(out), ""


@pytest.mark.parametrize("size", [7, 258, 4096, 1 << 20])
def test_members_and_padding(content, size):
    packed = gzip.compress(content) + gzip.compress(b"") + bytes(100) + gzip.compress(content) + bytes(70_000)
    assert unpack(packed, size) == (content + content, "")


@pytest.mark.parametrize("size", [1, 5, 10, 50])
def test_members_that_end_where_a_piece_ends(size):
    """A piece of output that is full, and the last one of its member, as the input at hand is."""
    packed = gzip.compress(b"0123456789" * 5)
    stream = PackedStream(GZIP, packed, io.BytesIO(packed))
    assert b"".join(iter(lambda: stream.read(size), b"")) == b"0123456789" * 10


@pytest.mark.parametrize("size", [7, 1 << 20])
def test_everything_before_a_cut_comes_out(content, size):
    packed = gzip.compress(content)
    for end in range(20, len(packed), 97):
        out, error = unpack(packed[:end], size)
        assert out == zlib.decompressobj(31).decompress(packed[:end])
        assert error == f"the gzip data end too early, at byte {end}"


def test_everything_before_damage_comes_out(content):
    head, tail = content[:50_000], content[50_000:]
    packer = zlib.compressobj(wbits=31)
    good = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = good + b"\xff" * 20 + packer.compress(tail) + packer.flush()
    for size in 7, 1000, 1 << 20:
        out, error = unpack(packed, size)
        assert out == head
        assert "damaged" in error


def test_wrong_checksum(content):
    packed = bytearray(gzip.compress(content))
    packed[-6] ^= 1
    out, error = unpack(bytes(packed), 1 << 20)
    assert out == content
    assert error == (
        f"the gzip data are damaged before byte {len(packed)} "
        "(zlib: Error -3 while decompressing data: incorrect data check)"
    )


def test_frames_come_before_the_error(read, content):
    packed = gzip.compress(content)
    frames, error = read(packed + b"garbage")
    assert len(frames) == 100
    assert error.startswith("the gzip data are damaged before byte")
    assert error.endswith("; the 100 frames before that were read; to get the rest, copy it again")
    frames, error = read(packed[:-1])
    assert len(frames) == 100
    assert error.startswith(f"the gzip data end too early, at byte {len(packed) - 1}; the 100 frames before that")
    assert read(packed[:3])[1].startswith("the gzip data end too early, at byte 3; nothing could be read")
    assert read(gzip.compress(packed))[1].endswith(
        "what is packed in it looks like gzip data again: unpack them once more"
    )
    assert "ends at unpacked byte 95604, inside record 100, which starts" in read(gzip.compress(content[:-20]))[1]


def test_little_memory_whatever_the_content(build, read):
    """A bomb in gzip, and lengths out of garbage."""
    bomb = gzip.compress(build.section() + build.block(99, bytes(64 << 20)), 1)
    tracemalloc.start()
    try:
        assert read(bomb) == ([], "")
        assert "damaged" in read(build.pcap_header() + b"\xff" * 100)[1]
        assert "damaged" in read(build.section() + b"\x06\0\0\0" + b"\xff" * 100)[1]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 << 20


PACKERS = {GZIP: gzip.compress, ZSTD: zstd.compress, LZ4: lz4.frame.compress, XZ: lzma.compress}
SKIPPABLE = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"
"""A frame of zstd that holds nothing; pzstd begins with one."""


@pytest.mark.parametrize("packing", PACKERS, ids=lambda packing: packing.name)
def test_each_packing(build, read, content, packing):
    """Members one after the other, padding, bytes one by one as from a slow pipe, a cut anywhere, and damage."""
    pack, name = PACKERS[packing], packing.name
    packed = pack(content) + pack(b"") + bytes(100) + pack(build.pcap_record(b"last"))
    assert packing_of(packed[:4]) is packing
    frames, error = read(packed)
    assert (len(frames), error, frames[-1].data) == (101, "", b"last")
    stream = PackedStream(packing, packed[:4], OneByOne(packed[4:]))
    assert b"".join(iter(lambda: stream.read(999), b"")) == content + build.pcap_record(b"last")
    noise = random.Random(2).randbytes
    one = pack(content + b"".join(build.pcap_record(noise(900)) for _ in range(500)))  # several blocks
    for end in range(4, len(one), len(one) // 20):
        frames, error = read(one[:end])
        assert error.startswith(f"the {name} data end too early, at byte {end}; ")
    assert frames, "what comes before the cut is read"
    frames, error = read(one + b"garbage" * 9)
    assert len(frames) == 600
    assert error.startswith(f"the {name} data are damaged before byte {len(one) + 63} (")
    assert f"looks like {name} data again" in read(pack(one))[1]


class OneByOne(io.BytesIO):
    """Gives what there is: a byte at a time."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return self.read(1)


def test_frames_that_hold_nothing(read, content):
    frames, error = read(SKIPPABLE + zstd.compress(content) + SKIPPABLE)
    assert (len(frames), error) == (100, "")


def test_a_piece_comes_as_soon_as_it_is_flushed(build):
    """Someone packs a live capture: what was flushed is read, though the member goes on."""
    record = build.pcap_header() + build.pcap_record(b"now")
    packer = zstd.ZstdCompressor()
    packed = packer.compress(record, mode=packer.FLUSH_BLOCK)
    assert PackedStream(ZSTD, packed, io.BytesIO()).read(len(record)) == record


@pytest.mark.parametrize("packing", PACKERS, ids=lambda packing: packing.name)
def test_a_bomb_takes_time_only(build, packing):
    """400 megabytes of zeros, by a process that may have little memory of its own."""
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (400 << 20,) * 2)\n"
        "from zdissect.capture import open_capture; print(list(open_capture('-')))"
    )
    content = build.section() + build.block(99, bytes(400 << 20))
    pack = {GZIP: partial(gzip.compress, compresslevel=1), XZ: partial(lzma.compress, preset=0)}.get(
        packing, PACKERS[packing]
    )
    done = subprocess.run([sys.executable, "-c", program], input=pack(content), capture_output=True)
    assert done.stdout == b"[]\n", done.stderr
