"""`zdissect hex`: every form of input and output, what it says of its choice, errors."""

import json
import subprocess
import sys
import time
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from zdissect_cli.main import cli

PUSH = "1d 00 01 02 62 65"
OLD_BARE = "2B000563DD01210D01235B202039385D205B4553504944465D7B45535033327D20205A656E6F682D5069636F21ACF219FF"


class Run(NamedTuple):
    code: int
    out: str
    err: str


def run(*args: str, stdin: bytes = b"") -> Run:
    result = CliRunner().invoke(cli, ["hex", *args], input=stdin, standalone_mode=False)
    if isinstance(result.exception, click.ClickException):
        return Run(result.exception.exit_code, result.stdout, result.exception.format_message())
    if result.exception:
        raise result.exception
    return Run(result.return_value, result.stdout, result.stderr)


@pytest.mark.parametrize(
    "args",
    [
        ("1d0001026265",),
        ("1d", "00", "01", "02", "62", "65"),
        ("0x1d,0x00,0x01,0x02,0x62,0x65",),
        ("[29, 0, 1, 2, 98, 101]",),
        (r'b"\x1d\x00\x01\x02be"',),
        ("00000000: 1d00 0102 6265                           ....be",),
        ("0000   1d 00 01 02 62 65                                 ....be",),
    ],
)
def test_forms_of_input(args):
    result = run(*args)
    assert result.code == 0
    assert result.out == run(PUSH).out
    assert "read as network (PUSH): a network message; decodes to its last byte" in result.err


def test_tree():
    result = run("010903")
    assert result.out.splitlines() == [
        "0000  01                          SCOUT  0x01",
        "                                    0... ....  Z  no extensions",
        "                                    .00. ....  reserved",
        "                                    ...0 0001  id SCOUT",
        *result.out.splitlines()[4:],
    ]
    assert result.err == (
        "3 bytes (plain hex) read as scouting (SCOUT): a scouting datagram; "
        "protocol version 9, decodes to its last byte\n"
    )


def test_what_else_fits():
    assert run("0300").err.endswith("\nalso fits: declaration (U_SUBSCRIBER)\n")


def test_a_serial_frame_says_why():
    assert run(OLD_BARE).err == (
        "49 bytes (plain hex) read as serial (FRAME): a serial frame, old framing, without COBS; "
        "length and CRC fit, decodes to its last byte\n"
        "next best: stream (FRAME), but 1 error, 4 bytes not decoded\n"
    )


def test_a_forced_reading_that_does_not_fit_says_what_does():
    result = run("--as", "batch", OLD_BARE)
    assert result.code == 0
    assert "4 bytes left over in batch" in result.out
    assert result.err.splitlines()[1] == (
        "fits better: serial (FRAME): a serial frame, old framing, without COBS; "
        "length and CRC fit, decodes to its last byte"
    )


def test_a_reading_that_any_bytes_fit():
    numbers = ", ".join(map(str, [38, 0, 66, 255, 0, 1, 32, *range(32, 64), 0]))
    result = run(f"[{numbers}]")
    assert result.err.splitlines() == [
        "40 bytes (array, decimal) read as stream (OPEN_SYN OAM): a batch with its length prefix; "
        "the length prefix fits, 1 error",
        "next best: datagram (FRAGMENT), which fits any bytes",
    ]
    assert "\n0027  00                          OAM  0x00\n" in result.out
    assert "cookie: 32 bytes" in result.out


def test_offsets_count_through_all_batches():
    out = run("0100 04 0200 0300").out
    assert [line for line in out.splitlines() if line.startswith("Batch")] == [
        "Batch 1 at 0x0000, 3 bytes", "Batch 2 at 0x0003, 4 bytes"]  # fmt: skip
    assert "\n0005  03                          CLOSE" in out


def test_several_pieces():
    result = run("[4, 4]\n[3, 0]")
    assert result.err.count("read as datagram") == 2
    assert "2 bytes (array, decimal in line 2) read as datagram (CLOSE)" in result.err
    assert "\n\n0000  03" in result.out


def test_standard_input():
    assert run(stdin=PUSH.encode()).out == run("-", stdin=PUSH.encode()).out == run(PUSH).out


def test_files(tmp_path):
    for name, content in {
        "text": PUSH.encode(),
        "bom": b"\xef\xbb\xbf" + PUSH.encode(),
        "utf-16": PUSH.encode("utf-16"),
        "raw": bytes.fromhex(PUSH),
    }.items():
        path = tmp_path / name
        path.write_bytes(content)
        assert run("-f", str(path)).out == run(PUSH).out, name
    assert "(raw bytes)" in run("-f", str(tmp_path / "raw")).err
    assert run("-f", "-", stdin=PUSH.encode()).out == run(PUSH).out


def test_lines_and_rows():
    assert run("-T", "line", PUSH).out == '  PUSH  PUT  2 bytes  "be"\n'
    row = json.loads(run("-T", "jsonl", PUSH).out)
    assert (row["message"], row["body"], row["payload"], row["buffer"]) == ("PUSH", "PUT", "6265", "bytes")
    rows = [json.loads(line) for line in run("-T", "jsonl", "0100 04 0200 0300").out.splitlines()]
    assert [(row["message"], row["message_index"], row["offset"]) for row in rows] == [
        ("KEEP_ALIVE", 0, 2), ("CLOSE", 1, 5)]  # fmt: skip


def test_a_sub_message_alone_is_a_line_and_a_row():
    assert run("-T", "line", "010474657874").out == 'PUT  4 bytes  "text"\n'
    row = json.loads(run("-T", "jsonl", "62 01 01 03 2f2a2a").out)
    assert (row["layer"], row["message"], row["body"], row["key_suffix"]) == (
        "declaration",
        "D_SUBSCRIBER",
        None,
        "/**",
    )


def test_dump():
    assert run("-x", "04").out.endswith("      0000  04                                                .\n")
    out = run("-x", "01bf25007d00036b2f6101287a01000f507a7a7a7a7a").out
    assert "\nDecompressed, 50 bytes\n" in out
    assert "\n      0030  7a 7a " in out
    assert "      0010  50 7a 7a 7a 7a 7a" in out


def test_bytes_of_a_payload():
    assert "(the first 2 bytes)" in run("--bytes", "2", "010474657874").out


def test_quiet_and_colour():
    assert run("-q", "04").err == ""
    assert "\x1b[" in run("--color", "always", "04").out
    assert "\x1b[" not in run("04").out


def test_findings_can_fail():
    overlong = "25 80 00"
    assert [run(*args, overlong).code for args in ((), ("--fail-on", "error"), ("--fail-on", "warning"))] == [0, 0, 3]


def test_unknown_reading():
    assert run("--as", "putt", "04") == Run(
        2, "", "Invalid value for --as: no reading is called 'putt'; did you mean put?"
    )
    assert run("--as", "zzz", "04").err.startswith(
        "Invalid value for --as: no reading is called 'zzz'; give one of stream, datagram, "
    )


def test_usage():
    assert run("04", "-f", "x") == Run(2, "", "give the bytes as text or with -f FILE, not both")


def test_text_that_is_not_hex():
    assert run("1d 0g") == Run(
        1, "", "zdissect: line 1, column 5: `g` isn't a hex digit; put `#` before remarks\n  1d 0g\n      ^\n"
    )


def test_nothing_to_read():
    for args in (("",), ()):
        result = run(*args)
        assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
        assert "there is nothing to read" in result.err


def test_files_that_cannot_be_read(tmp_path):
    assert run("-f", str(tmp_path / "none")).err == f"zdissect: {tmp_path}/none: No such file or directory\n"
    assert run("-f", str(tmp_path)).code == 1
    capture = tmp_path / "a.pcap"
    capture.write_bytes(b"\xd4\xc3\xb2\xa1" + bytes(20))
    assert run("-f", str(capture)) == Run(
        1, "", "zdissect: this is a capture, not text: use `zdissect FILE`, without hex\n"
    )


def test_help_names_every_reading():
    out = CliRunner().invoke(cli, ["hex", "--help"]).stdout
    for word in ("stream", "datagram", "scouting", "network", "packet", "serial", "compressed", "lowlatency", "data"):
        assert f"  {word} " in out


@given(st.text(max_size=60))
def test_any_text(text):
    assert run("-q", "--", text).code in (0, 1)


@given(st.binary(max_size=60), st.sampled_from(["tree", "line", "json", "jsonl"]))
def test_any_input(data, form):
    assert run("-T", form, stdin=data).code in (0, 1)


@given(st.binary(min_size=1, max_size=60), st.sampled_from(["tree", "line", "json", "jsonl"]))
def test_any_bytes(data, form):
    assert run("-T", form, "-x", "0x" + data.hex()).code == 0


def test_nothing_heavy_is_imported():
    code = (
        "import sys; from zdissect_cli.main import cli; cli.main(['hex', '04'], standalone_mode=False); "
        "print(sorted({'rich', 'scapy', 'lz4', 'cobs', 'asyncio', 'zdissect.pipeline', 'zdissect.flow.link', 'json'} "
        "& {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")


def test_numbers_of_64_bits_are_unsigned():
    """A FRAME and its PUSH; OPEN with a lease in seconds; REQUEST with a timeout."""
    largest = (1 << 64) - 1
    frame, push = (json.loads(one) for one in run("-T", "jsonl", f"25 {'ff' * 9} 7d00016b010176").out.splitlines())
    assert frame["sn"] == push["sn"] == largest
    assert json.loads(run("-T", "jsonl", f"42 {'ff' * 9} 04 01 61").out)["lease_ms"] == largest * 1000
    request = f"fc 01 00 01 6b 26 {'ff' * 9} 03"
    assert json.loads(run("-T", "jsonl", request).out)["timeout_ms"] == largest
    assert f"timeout_ms {largest}" in run("-T", "line", request).out


def test_the_excerpt_of_an_error_drives_no_terminal() -> None:
    evil = "3d 00 zz\x1b[31m \x1b]52;c;aGFjaw==\x1b\\ \x07\x9b1m\u202e"
    shown = run(evil).err
    assert all(line.isprintable() for line in shown.split("\n"))
    assert r"zz\x1b[31m \x1b]52;c;aGFjaw==" in shown


def test_what_little_of_much_data_is_decides_what_it_is() -> None:
    """A megabyte that is nothing doesn't take its time for each reading."""
    began = time.process_time()
    run("--bytes", "1", "-f", "-", stdin=b"\x01" * (1 << 20))
    assert time.process_time() - began < 20


def test_rows_have_their_findings_as_those_of_captures():
    """Two batches; the second one's PUSH has an unknown extension. Offsets count in what was pasted."""
    text = "0100 04  0a00 2502 bd00016b 09 010176"
    rows = [json.loads(line) for line in run("--as", "stream", "-T", "jsonl", text).out.splitlines()]
    found = {row["message"]: row["findings"] for row in rows}
    assert found["KEEP_ALIVE"] is None
    assert [one["code"] for one in found["PUSH"]] == ["unknown-extension"]
    assert found["PUSH"][0]["offset"] == next(row["offset"] for row in rows if row["message"] == "PUSH") + 4
    assert "[note: " in run("--as", "stream", "-T", "line", text).out


def test_json():
    (document,) = json.loads(run("-T", "json", PUSH).out)
    assert document["kind"] == "network"
    assert document["unit"]["messages"][0]["message"] == "PUSH"
    assert document["findings"] == []
    several = json.loads(run("-T", "json", "[2, 0, 4, 4] [1, 0, 4] <- two").out)
    assert [one["buffer"]["data"] for one in several] == ["02000404", "010004"]
    (wrong,) = json.loads(run("-T", "json", "--as", "close", "03 09").out)
    (finding,) = wrong["findings"]
    assert (finding["severity"], finding["code"]) == ("warning", "unknown-close-reason")
    assert finding["_range"] == [8, 8]


def test_display_filters():
    batch = "25 07 3d 00 03 6b 2f 61 01 03 31 31 31 3d 00 03 6b 2f 62 01 03 32 32 32 04"
    assert len(run("-T", "line", "-Y", 'key_expr == "k/b"', batch).out.splitlines()) == 1
    (row,) = map(json.loads, run("-T", "jsonl", "-Y", "zenoh.put.payload contains 31", batch).out.splitlines())
    assert row["key_expr"] == "k/a"
    tree = run("-Y", 'key_expr == "k/b"', batch).out
    assert '"k/b"' in tree
    assert '"k/a"' not in tree
    assert tree.count("PUSH  0x1d") == 2
    assert run("-Y", "zenoh.query", batch).out == ""
    assert run("-T", "json", "-Y", "zenoh.query", batch).out == "[]\n"
    assert len(json.loads(run("-T", "json", "-Y", "zenoh.put", batch).out)) == 1
    assert run("-Y", "zenoh.qury", batch).code == 2
    assert run("-Y", "zenoh.request.answered == false", batch).code == 2


def test_structures():
    done = run("--as", "timestamp", "a0 a4 c9 b8 df ff fb 84 6b 01 aa")
    assert "2026-11-27T21:02:53" in done.out
    assert run("--as", "timestmp", "01").code == 2


@pytest.mark.parametrize("form", ["line", "jsonl"])
def test_a_structure_alone_has_no_line_and_says_so(form: str) -> None:
    done = CliRunner().invoke(cli, ["hex", "--as", "zid", "-T", form, "3f010203"])
    assert done.stdout == ""
    wanted = f"-T {form} has a line for each message, and a structure zid is none: -T tree and -T json show it\n"
    assert done.stderr.endswith(wanted)
    assert CliRunner().invoke(cli, ["hex", "-q", "--as", "zid", "-T", form, "3f010203"]).output == ""


@pytest.mark.parametrize("form", ["line", "jsonl", "json", "tree"])
def test_nothing_matches_a_filter(form: str) -> None:
    for kind, why in (("keep_alive", "nothing matches sn == 3"), ("zid", "and a structure zid")):
        done = CliRunner().invoke(
            cli, ["hex", "--as", kind, "-T", form, "-Y", "sn == 3", "04" if "k" in kind else "00"]
        )
        assert why in done.stderr
        assert done.stdout == ("[]\n" if form == "json" else "")
