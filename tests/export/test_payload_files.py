"""Payloads as files: names, the index, what isn't overwritten."""

import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zdissect.export.payload_files import AlreadyThere, PayloadFiles
from zdissect.export.payload_names import extension, payload_name

ROW = {"payload": b"data", "ts_ns": 17, "frame_number": 3, "message": "PUSH", "body": "PUT", "file": "in.pcap"}


@pytest.mark.parametrize(
    ("key", "encoding", "name"),
    [
        ("nano/t0", "text/plain", "000007-nano-t0.txt"),
        ("../../etc/passwd", "zenoh/bytes", "000007-etc-passwd.bin"),
        ("a\0b\n\u202ec", None, "000007-a_b_c.bin"),
        (None, "image/png", "000007.png"),
        ("x" * 5000, "application/json;utf-8", f"000007-{'x' * 80}.json"),
        ("ключ/日本", "../../x", "000007.bin"),
        ("CON", "application/exe", "000007-CON.bin"),
    ],
)
def test_names(key, encoding, name):
    assert payload_name(7, key, encoding) == name


@given(st.text(), st.text())
def test_names_are_safe(key, encoding):
    name = payload_name(1, key, encoding)
    assert name.isascii()
    assert len(name) < 120
    assert not {*name} & {*'/\\:*?"<>|\0 \n'}
    assert name[0].isdigit()


def test_extensions_of_what_zenoh_knows():
    names = {"application/cdr": "cdr", "image/jpeg": "jpg", "application/soap+xml": "soap", "video/h264": "h264"}
    assert {name: extension(name) for name in names} == names


def test_files_and_index(tmp_path):
    with PayloadFiles(str(tmp_path / "out")) as files:
        files.write(ROW | {"key_expr": 'a,"b"', "src_ip": "::1", "src_port": 7447, "payload": b"\0" * 9})
        files.write(ROW | {"key_expr": "A,b", "encoding": "text/json"})
        files.write(ROW | {"key_expr": "a,B", "payload": b""})
    out = tmp_path / "out"
    names = ["000001-a_b.bin", "000002-A_b.json", "000003-a_B.bin"]
    assert sorted(path.name for path in out.iterdir()) == [*names, "index.csv", "index.jsonl"]
    assert [(out / name).read_bytes() for name in names] == [bytes(9), b"data", b""]
    with (out / "index.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    lines = [json.loads(line) for line in (out / "index.jsonl").read_text().splitlines()]
    assert [row["file"] for row in rows] == [line["file"] for line in lines] == names
    assert rows[0]["key_expr"] == lines[0]["key_expr"] == 'a,"b"'
    assert rows[0]["src"] == "[::1]:7447"
    assert (lines[0]["length"], lines[0]["ts"], lines[0]["dst"]) == (9, 17, None)


def test_nothing_is_overwritten_without_force(tmp_path):
    mine = tmp_path / "000001-a.bin"
    mine.write_bytes(b"mine")
    with pytest.raises(AlreadyThere, match=r"000001-a\.bin already exists"), PayloadFiles(str(tmp_path)) as files:
        files.write(ROW | {"key_expr": "a"})
    assert mine.read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == [mine.name], "what isn't complete has no index"
    with PayloadFiles(str(tmp_path), force=True) as files:
        files.write(ROW | {"key_expr": "a"})
    assert mine.read_bytes() == b"data"
    with pytest.raises(AlreadyThere, match=r"index\.csv already exists"), PayloadFiles(str(tmp_path)):
        pass


def test_a_link_is_not_followed(tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    out = tmp_path / "out"
    out.mkdir()
    (out / "000001-a.bin").symlink_to(other)
    with PayloadFiles(str(out), force=True) as files:
        files.write(ROW | {"key_expr": "a"})
    assert other.read_bytes() == b"mine"
