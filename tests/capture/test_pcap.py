import pytest


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("magic", "nanoseconds", "extra"), [(0xA1B2C3D4, 1000, b""), (0xA1B23C4D, 1, b""), (0xA1B2CD34, 1000, bytes(8))]
)
def test_byte_orders_and_resolutions(build, read, order, magic, nanoseconds, extra):
    records = [
        build.pcap_record(b"one", 1700000000, 123456, order=order, extra=extra),
        build.pcap_record(b"", 4294967295, 999999, order=order, extra=extra),
        build.pcap_record(b"cut", 0, 1, 1500, order=order, extra=extra),
    ]
    frames, error = read(build.pcap_header(order, magic) + b"".join(records))
    assert error == ""
    assert [frame.number for frame in frames] == [1, 2, 3]
    assert [frame.data for frame in frames] == [b"one", b"", b"cut"]
    assert [frame.wire_len for frame in frames] == [3, 0, 1500]
    assert [frame.ts_ns for frame in frames] == [
        1700000000 * 10**9 + 123456 * nanoseconds,
        4294967295 * 10**9 + 999999 * nanoseconds,
        nanoseconds,
    ]
    assert {frame.link for frame in frames} == {1}


def test_frame_check_sequence_bits_are_no_part_of_the_link_type(build, read):
    frames, _ = read(build.pcap_header(link=0x54000114) + build.pcap_record(b"x"))
    assert frames[0].link == 276


def test_header_without_frames_is_no_error(build, read):
    assert read(build.pcap_header()) == ([], "")


def test_frames_longer_than_snaplen(build, read):
    """Loopback frames of full batches are longer than 65535 bytes, whatever the file header says."""
    frames, error = read(build.pcap_header(snaplen=96) + build.pcap_record(bytes(300_000)))
    assert (len(frames[0].data), error) == (300_000, "")


def test_snaplen_above_the_usual_is_believed(build, read):
    frames, error = read(build.pcap_header(snaplen=3 << 20) + build.pcap_record(bytes(2 << 20)))
    assert (len(frames[0].data), error) == (2 << 20, "")


@pytest.mark.parametrize("size", [1, 15, 16, 20])
def test_cut_inside_a_record(build, read, size):
    content = build.pcap_header() + build.pcap_record(b"data") + build.pcap_record(b"other data")[:size]
    frames, error = read(content)
    assert len(frames) == 1
    assert error == (
        f"cut short: it ends at byte {len(content)}, inside record 2, which starts at byte 44; "
        "the frame before was read; to get the rest, copy it again when the capture has been stopped"
    )


def test_cut_inside_the_file_header(build, read):
    assert read(build.pcap_header()[:11]) == (
        [],
        "cut short: it starts as pcap but ends at byte 11, inside the file header; "
        "there is no frame in it; capture or copy it again",
    )
    assert read(build.pcap_header()[:2]) == ([], "cut short: it ends after 2 bytes, inside the file header")


def test_absurd_length(build, read):
    good = build.pcap_header() + build.pcap_record(b"a") + build.pcap_record(b"b")
    frames, error = read(good + b"\xff" * 40)
    assert len(frames) == 2
    assert error == (
        "damaged in record 3, which starts at byte 58: a frame of 4294967295 bytes, where at most 1048576 "
        "are possible; the 2 frames before that were read; what follows cannot be found: copy it again"
    )


def test_snaplen_cannot_make_absurd_lengths_possible(build, read):
    _, error = read(build.pcap_header(snaplen=0xFFFFFFFF) + b"\x7f" * 40)
    assert "a frame of 2139062143 bytes, where at most 16777216 are possible; no frame comes before that" in error
