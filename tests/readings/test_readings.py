"""What bytes are taken for: the vectors, issues of the past, what is cut, whatever is there."""

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zdissect.grammar.registry import MESSAGES
from zdissect.readings import NAMES, UnknownName, canonical, read_as, readings
from zdissect.readings.kinds import message_names


def _vectors():
    """tests/vectors/vectors.py (importlib mode puts nothing on the path)."""
    spec = importlib.util.spec_from_file_location("vectors", Path(__file__).parents[1] / "vectors" / "vectors.py")
    module = sys.modules.setdefault("vectors", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module.load()


LAYERS = {"transport": "datagram"}
ENTRIES = {"batch": "datagram", "cbatch": "compressed", "ll": "lowlatency", "scout": "scouting", "stream": "stream",
           "serial": "serial", "serial-old": "serial", "reassembled": "network",
           **{("TRANSPORT_" if message.path else "") + message.name: LAYERS.get(message.layer, message.layer)
              for message in MESSAGES}}  # fmt: skip
VECTORS = [vector for vector in _vectors() if vector.file != "malformed.txt" and vector.data]
OTHERWISE = {
    "An empty batch", "Consolidation beyond one byte", "FRAGMENT with the largest sequence number that 64 bits hold",
    "D_KEYEXPR with a scope and without a suffix", "U_SUBSCRIBER, the id alone",
    "U_QUERYABLE, the id alone", "D_QUERYABLE without QueryableInfo", "QUERY with consolidation Auto, written out",
    "QUERY with a consolidation that nobody knows", "A mandatory extension that SCOUT skips",
}  # fmt: skip
"""Vectors of two to four bytes that are as well, or better, read as something else."""
BROKEN = {"Reserved encoding, M=1, in a batch"}
"""Three bytes of which one isn't decoded."""

COOKIE = bytes(range(0x20, 0x40))
TRAILING = bytes([38, 0, 66, 255, 0, 1, 32]) + COOKIE + b"\0"
OLD_BARE = "2B000563DD01210D01235B202039385D205B4553504944465D7B45535033327D20205A656E6F682D5069636F21ACF219FF"
OLD_COBS = "0213180108F24FF55A857B02F8BC4AB8050C1F93F16B156348FB00"


def first(text: str) -> str:
    return readings(bytes.fromhex(text))[0].name


def test_vectors_are_read_as_what_they_are():
    wrong = {vector.name for vector in VECTORS if readings(vector.data)[0].name != ENTRIES[vector.entry]}
    assert wrong <= OTHERWISE | BROKEN


@pytest.mark.parametrize("vector", [one for one in VECTORS if one.name in OTHERWISE], ids=lambda vector: vector.name)
def test_what_is_ambiguous_is_among_those_that_fit(vector):
    found = next(one for one in readings(vector.data) if one.name == ENTRIES[vector.entry])
    assert found.complete


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("010903", "scouting"),  # SCOUT, and not INIT, which has the same id
        ("22091001aa0112 7463702f3132372e302e302e313a37343437", "scouting"),  # HELLO, and not OPEN
        ("8109 1202bb 2701", "datagram"),  # INIT
        ("04", "datagram"),  # KEEP_ALIVE, and not a REPLY that is cut
        ("0300", "datagram"),
        ("02000300", "stream"),
        ("1a", "declaration"),  # D_FINAL
        ("02", "data"),  # DEL
        ("1d0102", "network"),
        ("5d1d010608b99dd1ea06", "network"),
        ("1d00" + "25d6cff1433d01022f310114" + "61" * 15, "stream"),  # 1d is also PUSH
        ("0100 04 0100 04 0200 0300", "stream"),
        ("00 25ffba85457d00036b2f63010474696e79", "compressed"),
        ("01bf25007d00036b2f6101287a01000f507a7a7a7a7a", "compressed"),
        ("0b0000007d00036b2f610103313131 0100000004 020000000300 02000300", "lowlatency"),
        (OLD_BARE, "serial"),
        (OLD_COBS, "serial"),
        ("020101010101010100", "serial"),
        ("020301010101010100", "serial"),
        ("0102030102110573EC75F900", "serial"),
        ("010204031122063 38D036DFB00", "serial"),
    ],
)
def test_examples(text, name):
    assert readings(bytes.fromhex(text.replace(" ", "")))[0].name == name


def test_a_byte_too_many():
    """A FRAGMENT would fit to the last byte, as it does for any bytes."""
    best, *others = readings(TRAILING)
    assert (best.name, best.complete, best.messages) == ("stream", False, ["OPEN_SYN", "OAM"])
    tape = best.units[0].tape
    assert [(code, start) for code, start, *_ in tape.remarks] == [("vle-overlong", 3), ("truncated", 40)]
    assert next(span[4] for span in tape.spans if span[0].name == "cookie") == COOKIE
    fragment = next(one for one in others if one.name == "datagram")
    assert fragment.complete
    assert not fragment.plausible


def test_serial_or_a_batch_with_bytes_left_over():
    data = bytes.fromhex(OLD_BARE)
    best, second, *_ = readings(data)
    assert (best.why, best.title) == (
        "length and CRC fit, decodes to its last byte",
        "a serial frame, old framing, without COBS",
    )
    assert (second.name, second.why) == ("stream", "1 error, 4 bytes not decoded")
    forced = read_as(data, "batch")
    assert [remark[:3] for part in forced.units for remark in part.tape.remarks] == [("trailing-bytes", 45, 49)]
    assert forced.messages == ["FRAME"]


def test_chained_batches_have_their_places():
    reading = readings(bytes.fromhex("010004 0100 04 02000300"))[0]
    assert [part.base for part in reading.units] == [0, 3, 6]
    assert reading.title == "3 batches with their length prefixes"


def test_decompressed_bytes_are_a_buffer_of_their_own():
    reading = readings(bytes.fromhex("01bf25007d00036b2f6101287a01000f507a7a7a7a7a"))[0]
    assert [(part.buffer.name, part.given) for part in reading.units] == [("bytes", True), ("decompressed", False)]
    assert reading.units[1].tape.data == bytes.fromhex("25007d00036b2f610128") + b"z" * 40


@pytest.mark.parametrize("name", [*NAMES, *message_names()])
def test_every_name_can_be_forced(name):
    for data in (b"", b"\x04", TRAILING):
        assert read_as(data, name).name == name


def test_names_in_any_spelling():
    assert [canonical(name) for name in ("PUT", "Low-Latency", "ll", "transport", " init_syn ", "D-Subscriber")] == [
        "put", "lowlatency", "lowlatency", "datagram", "init_syn", "d_subscriber"]  # fmt: skip


def test_unknown_names():
    with pytest.raises(UnknownName, match=r"no reading is called 'stroam'; did you mean stream\?"):
        read_as(b"", "stroam")
    with pytest.raises(UnknownName, match=r"no reading is called 'zzz'$"):
        canonical("zzz")


def test_one_message_by_name():
    assert read_as(bytes.fromhex("010474657874"), "put").messages == ["PUT"]
    assert read_as(bytes.fromhex("62010103"), "d_subscriber").why == "1 error, 1 byte not decoded"
    assert read_as(bytes.fromhex("1f01"), "oam").units[0].tape.spans[0][0].path == "zenoh.oam"
    assert read_as(bytes.fromhex("0001"), "transport_oam").complete


def test_cut_vectors_mostly_keep_their_reading():
    whole = [one for one in VECTORS if one.entry in ("batch", "stream", "scout") and len(one.data) > 8]
    names = [
        (ENTRIES[one.entry], readings(one.data[:size])[0].name)
        for one in whole
        for size in range(len(one.data) // 2, len(one.data))
    ]
    assert sum(want == got for want, got in names) > 0.9 * len(names)


@given(st.binary(max_size=200))
@example(b"")
@example(bytes(100))
@example(bytes.fromhex("4500"))
def test_any_bytes(data):
    found = readings(data)
    assert found
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    for one in found:
        if one.name != "packet":
            assert one.units or not data
        for part in one.units:
            assert 0 <= part.base <= len(data)


@given(st.sampled_from(VECTORS), st.data())
def test_damaged_vectors(vector, draw):
    data = bytearray(vector.data)
    at = draw.draw(st.integers(0, len(data) - 1))
    data[at] = draw.draw(st.integers(0, 255))
    assert readings(bytes(data[: draw.draw(st.integers(0, len(data)))]))
