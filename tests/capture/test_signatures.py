import pytest

SAMPLES = {
    "text: for a hex dump there is `zdissect hex`": "0000  1d 00 é\r\n".encode() * 50,
    "a zip archive": b"PK\x03\x04\x14\0",
    "LZ4 data of the old format: unpack them first, as in `lz4 -dc FILE | zdissect -`": b"\x02\x21\x4c\x18\0\0",
    "a snoop capture: convert it with `editcap FILE OUT.pcapng`": b"snoop\0\0\0\0\0\0\2\0\0\0\4",
    "a Microsoft Network Monitor capture": b"GMBU\0\2\1\0",
    "a tar archive": b"name".ljust(257, b"\0") + b"ustar\x0000",
    "an ERF capture": bytes(4) + (1_700_000_000).to_bytes(4, "little") + b"\x02\x04\x00\x60\0\0\0\x4a" + bytes(80),
    "nothing but zeros": bytes(600),
    "a program": b"\x7fELF\2\1\1",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_no_capture_is_named(read, name):
    frames, error = read(SAMPLES[name])
    assert frames == []
    assert error.startswith(f"not a pcap or pcapng capture: it looks like {name}")


def test_what_is_unknown_is_shown(read):
    assert read(b"\x00\x01\x02\xff\xfe\x80\x81\x82\x83") == (
        [],
        "not a pcap or pcapng capture: it starts with the bytes 00 01 02 ff fe 80 81 82",
    )


def test_text_cut_inside_a_character_is_text(read):
    assert "looks like text" in read("é".encode() * 300 + b"\xc3")[1]
