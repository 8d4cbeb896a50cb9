"""Erlang, YAML, octal, base64 without a mark, and the tree that zdissect prints."""

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import zdissect
from zdissect.output.style import COLOUR, PLAIN
from zdissect.output.tree import TreeWriter
from zdissect.paste import PasteError, parse_paste

PUSH = bytes.fromhex("3d0003" + b"k/a".hex() + "0103313131")
FRAME, ALIVE = bytes.fromhex("0e0025c8017d00036b2f610103313131"), bytes.fromhex("010004")
SAMPLES = Path(__file__).parents[2] / "samples"


def forms(text):
    return [(piece.data, piece.form) for piece in parse_paste(text)]


@pytest.mark.parametrize(
    "text",
    [
        "<<61,0,3,107,47,97,1,3,49,49,49>>",
        '<<61, 0, 3, "k/a", 1, 3, "111">>',
        "Rx: <<16#3d, 16#00, 16#03, 16#6B, 47, 97, 1, 3, 49, 49, 49>>.",
        "<<0x3d, 0x00, 0x03, 0x6b, 47, 97, 1, 3, 49, 49, 49>>",
        "{ok,<<61:8,0,3,\n      107,47,97,1,3,49,49,49>>}",
        r'<<"=\0\x{3}k/a\1\003111">>'.replace(r"\x{3}", r"\003"),
    ],
)
def test_erlang(text):
    assert forms(text) == [(PUSH, "Erlang binary")]


def test_several_binaries():
    assert [data for data, _ in forms('[<<1,0,4>>,<<"a">>,<<>>]')] == [ALIVE, b"a"]


@pytest.mark.parametrize(("text", "why"), [("<<1,256>>", "largest is 255"), ("<<1,x>>", "isn't a byte or a text")])
def test_what_is_no_byte_in_erlang(text, why):
    with pytest.raises(PasteError, match=why):
        parse_paste(text)


YAML = """peers:
  - peer: 0
    host: 127.0.0.1
packets:
  - packet: 17
    timestamp: 1700000000.123
    data: !!binary |
      DgAlyAF9AANrL2EB
      AzExMQ==
  - packet: 19
    data: !!binary "AQAE"
"""
OLD_YAML = "# Packet 4\npeer0_0: !!binary |\n  DgAlyAF9AANrL2EBAzExMQ==\n# Packet 6\npeer1_0: !!binary |\n  AQAE\n"


@pytest.mark.parametrize("text", [YAML, OLD_YAML, YAML.replace("\n", "\r\n")])
def test_yaml(text):
    assert forms(text) == [(FRAME, "YAML"), (ALIVE, "YAML")]


def test_yaml_that_is_no_base64():
    with pytest.raises(PasteError, match="isn't base64"):
        parse_paste("a: !!binary |\n  DgAl!\nb: !!binary |\n  A\n")


OCTAL = [
    ("0000000 075 000 003 153 057 141 001 003 061 061 061\n0000013\n", "od dump, octal"),
    ("0000000 000075 065403 060457 001401 030461 000061\n0000013\n", "od dump, octal words of 2 bytes"),
    ("0000000   =  \\0 003   k   /   a 001 003   1   1   1\n0000013\n", "od dump, characters"),
    ("0000000 075 000 003 153 057 141 001 003 061 061 061     >=..k/a..111<\n0000013\n", "od dump, octal"),
    (" 075 000 003 153 057 141 001 003\n 061 061 061\n", "od dump, octal"),
]


@pytest.mark.parametrize(("text", "form"), OCTAL)
def test_octal(text, form):
    assert forms(text) == [(PUSH, form)]


def test_a_blank_among_numbers_is_a_character():
    """`od -c` prints a blank as a blank."""
    assert forms("0000000 001     001\n0000003\n") == [(b"\x01 \x01", "od dump, characters")]


@pytest.mark.skipif(not shutil.which("od"), reason="needs od")
@pytest.mark.parametrize("options", [["-b"], ["-c"], [], ["-b", "-v"], ["-t", "o1z"]])
@given(
    data=st.one_of(st.binary(min_size=1, max_size=70), st.binary(min_size=1, max_size=3).map(lambda part: part * 40))
)
def test_what_od_prints_comes_back(options, data):
    text = subprocess.run(["od", *options], input=data, capture_output=True, check=True).stdout.decode("latin-1")
    assert b"".join(piece.data for piece in parse_paste(text)) == data


@pytest.mark.parametrize("text", ["0000000 0075\n0000002\n", "[100 101 102]", "0000000  1d 00 61\n0000003\n"])
def test_what_is_not_octal(text):
    assert all("octal" not in form for _, form in forms(text))


def test_numbers_that_may_be_decimal_are_not_octal():
    with pytest.raises(PasteError):
        parse_paste(" 100 101 102")


def test_base64_without_a_mark():
    assert forms("PQADay9hAQMxMTE=") == [(PUSH, "base64, by its looks")]
    assert forms("DgAlyAF9AANr\nL2EBAzExMQ==") == [(FRAME, "base64, by its looks")]
    assert forms("deadBEEF0123")[0][1] == "plain hex"
    for word in ("password", "PASSWORD", "PassWord", "12345678x"):
        with pytest.raises(PasteError):
            parse_paste(word)


@pytest.mark.parametrize("style", [PLAIN, COLOUR])
@pytest.mark.parametrize("columns", [8, 16])
def test_our_own_tree(style, columns):
    """Of every message of a capture: what is printed of it can be pasted, if all of it is printed."""
    whole = 0
    for name in ("query-router.pcap", "liveliness.pcap", "scouting-multicast.pcap", "pubsub-tcp.pcap"):
        for message in zdissect.read_captures(SAMPLES / name):
            tape = message.item.tape
            text = "\n".join(TreeWriter(style, columns=columns).lines(tape, message.item.messages))
            if "... (the first" not in text:
                assert forms(text) == [(tape.data[tape.start : tape.stop], "zdissect's tree")]
                whole += 1
    assert whole > 100


def test_a_part_of_the_tree():
    lines = zdissect.dissect(FRAME).tree().split("\n")
    push = next(number for number, line in enumerate(lines) if "PUSH" in line)
    assert forms("\n".join(lines[push:])) == [(FRAME[5:], "zdissect's tree")]
    assert forms("\n".join(f"    {line}" for line in lines[push:])) == [(FRAME[5:], "zdissect's tree")]
    assert forms("\n".join([*lines, "", *lines])) == [(FRAME, "zdissect's tree")] * 2
    assert [data for data, _ in forms("\n".join([lines[0], *lines[push:]]))] == [FRAME[:2], FRAME[5:]]


def test_what_the_tree_leaves_out_is_asked_for():
    put = zdissect.encode({"message": "PUT", "payload": bytes(range(200))})
    with pytest.raises(PasteError, match="leaves out bytes"):
        parse_paste(zdissect.dissect(put, "put").tree())


def test_a_dump_is_no_tree():
    text = "0000   1d 00 61 62 61 62 20 63 64 20 31 32 20 33 34 fa   ab: cd 12 34.\n0010   fb fc   ..\n"
    assert forms(text)[0][1] == "Wireshark dump"


@given(st.text(alphabet='0123456789abcdef .:()"<>,|!\n\\x{}[]-#=VLE', max_size=200))
def test_any_text(text):
    for start in ("", "0000  3d   PUSH  0x1d\n", "0000000 075", "<<1,", "a: !!binary |\n  "):
        with suppress(PasteError):
            assert all(piece.data for piece in parse_paste(start + text))
