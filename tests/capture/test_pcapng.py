import struct

import pytest


@pytest.mark.parametrize("order", ["<", ">"])
def test_packet_blocks_of_all_kinds(build, read, order):
    frames, error = read(
        build.section(order)
        + build.interface(113, 8, order=order)
        + build.packet(b"enhanced", ticks=0x0006_0A24_181E_4000, wire_len=90, order=order)
        + build.old_packet(b"obsolete!", ticks=5, order=order)
        + build.simple_packet(b"simple", order=order)
        + build.simple_packet(b"to snap ", wire_len=1500, order=order)
    )
    assert error == ""
    assert [frame.number for frame in frames] == [1, 2, 3, 4]
    assert [frame.data for frame in frames] == [b"enhanced", b"obsolete!", b"simple", b"to snap "]
    assert [frame.wire_len for frame in frames] == [90, 9, 6, 1500]
    assert [frame.ts_ns for frame in frames] == [0x0006_0A24_181E_4000 * 1000, 5000, 0, 0]
    assert {frame.link for frame in frames} == {113}


def test_simple_packet_without_a_snaplen(build, read):
    frames, error = read(build.section() + build.interface(snaplen=0) + build.simple_packet(b"simple"))
    assert (frames[0].data, error) == (b"simple", "")


@pytest.mark.parametrize(
    ("resolution", "ticks", "ns"),
    [
        (None, 7, 7000),
        (0, 7, 7 * 10**9),
        (3, 7, 7 * 10**6),
        (6, 1700000000123456, 1700000000123456000),
        (9, 1700000000123456789, 1700000000123456789),
        (12, 1999, 1),
        (0x80, 3, 3 * 10**9),
        (0x80 | 1, 3, 1_500_000_000),
        (0x80 | 32, 1 << 63, 2**31 * 10**9),
        (0x80 | 127, (1 << 64) - 1, 0),
        (127, (1 << 64) - 1, 0),
    ],
)
@pytest.mark.parametrize("seconds", [None, 1_600_000_000, -5])
def test_resolutions_and_offsets(build, read, resolution, ticks, ns, seconds):
    options = build.option(2, b"eth0")
    if resolution is not None:
        options += build.option(9, bytes([resolution]))
    if seconds is not None:
        options += build.option(14, struct.pack("<q", seconds))
    options += build.option(0, b"") + build.option(9, b"\x01")  # after the end of the options: not one
    packets = build.packet(b"x", ticks=ticks) + build.old_packet(b"x", ticks=ticks)
    frames, error = read(build.section() + build.interface(options=options) + packets)
    assert error == ""
    assert [frame.ts_ns for frame in frames] == [ns + (seconds or 0) * 10**9] * 2


def test_interfaces_have_their_own_link_type_and_time(build, read):
    frames, error = read(
        build.section()
        + build.interface(1)
        + build.packet(b"a", 0, 1)
        + build.interface(101, options=build.option(9, b"\x09"))
        + build.packet(b"b", 1, 1)
        + build.packet(b"c", 0, 1)
    )
    assert error == ""
    assert [(frame.link, frame.ts_ns, frame.data) for frame in frames] == [
        (1, 1000, b"a"),
        (101, 1, b"b"),
        (1, 1000, b"c"),
    ]


def test_sections_have_their_own_byte_order_and_interfaces(build, read):
    parts = []
    for order, link in ("<", 1), (">", 113), ("<", 0):
        parts += [build.section(order, options=build.option(4, b"test", order)), build.interface(link, order=order)]
        parts += [build.packet(b"data", order=order)]
    frames, error = read(b"".join(parts))
    assert error == ""
    assert [(frame.number, frame.link) for frame in frames] == [(1, 1), (2, 113), (3, 0)]


def test_options_of_packets_and_unknown_blocks_are_passed_over(build, read):
    unknown = [build.block(kind, b"whatever" * 9) for kind in (0, 4, 5, 0x0A, 0x0BAD, 0x40000BAD, 0x80000001)]
    packet = build.packet(b"data!", options=build.option(1, b"a comment") + build.option(0, b""))
    frames, error = read(build.section() + b"".join(unknown) + build.interface() + packet.join(unknown))
    assert error == ""
    assert [frame.data for frame in frames] == [b"data!"] * 6


def test_header_without_frames_is_no_error(build, read):
    assert read(build.section()) == ([], "")
    assert read(build.section() + build.interface()) == ([], "")


def test_cut(build, read):
    start = build.section() + build.interface() + build.packet(b"data")
    frames, error = read(start + build.packet(b"more")[:20])
    assert len(frames) == 1
    assert error == (
        "cut short: it ends at byte 104, inside block 4, which starts at byte 84; the frame before was read; "
        "to get the rest, copy it again when the capture has been stopped"
    )
    assert "it starts as pcapng but ends at byte 20, inside the file header" in read(start[:20])[1]
    assert "ends at byte 87, inside block 4, which starts at byte 84" in read(start + b"\x06\0\0")[1]
    assert "ends at byte 104, inside block 4" in read(start + build.block(99, bytes(50))[:20])[1]


def damaged_blocks(build) -> dict[str, bytes]:
    packet = build.packet(b"data")
    return {
        "its length cannot be 4": struct.pack("<II", 99, 4) + bytes(20),
        "its length cannot be 28": build.block(6, bytes(16)),
        "its length cannot be 4294967295": struct.pack("<II", 6, 0xFFFFFFFF) + bytes(50),
        "its length cannot be 1073741824": struct.pack("<II", 1, 1 << 30) + bytes(50),
        "its length cannot be 12": build.block(1, b""),
        "its length is 36 at its start, but not at its end": packet[:-4] + bytes(4),
        "its length is 20 at its start, but not at its end": build.block(99, bytes(8))[:-4] + b"oops",
        "a packet of interface 3, which no block describes": build.packet(b"data", 3),
        "a packet of interface 258, which no block describes": build.old_packet(b"data", 258),
        "a frame of 5 bytes in a block of 36": packet[:20] + b"\x05" + packet[21:],
        "a frame of 9 bytes in a block of 20": build.simple_packet(b"data", 9),
        "an option of 255 bytes, where 4 are left": build.interface(options=struct.pack("<HHI", 2, 255, 0)),
        "a section header without a byte-order magic (it has 01020304)": build.block(0x0A0D0D0A, b"\1\2\3\4" * 4),
        "a section of pcapng version 2.0, but only 1 is known": build.section(major=2),
    }


def test_damage_is_named_with_its_place_and_ends_the_reading(build, read):
    start = build.section() + build.interface() + build.packet(b"good")
    for why, block in damaged_blocks(build).items():
        frames, error = read(start + block + build.packet(b"never seen"))
        assert [frame.data for frame in frames] == [b"good"]
        assert error == (
            f"damaged in block 4, which starts at byte 84: {why}; the frame before was read; "
            "what follows cannot be found: copy it again"
        )


def test_simple_packet_before_any_interface(build, read):
    assert (
        "a packet of interface 0, which no block describes" in read(build.section() + build.simple_packet(b"data"))[1]
    )
