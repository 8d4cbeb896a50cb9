"""`zdissect.dissect`, `read_captures` and `encode`: what programs are given, and how they are told what is wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import zdissect
from tests.generators import SeededChoices, ValueGenerator
from tests.in_blocks import small_blocks
from tests.vectors import vectors
from zdissect.capture import open_capture
from zdissect.dissection import Dissection
from zdissect.engine.encoder import encode as write
from zdissect.engine.lazy_messages import LazyTape
from zdissect.filters import FilterError, compile_filter
from zdissect.grammar.registry import MESSAGES
from zdissect.output import jsonl
from zdissect.pipeline import dissect

SAMPLES = Path(__file__).parents[2] / "samples"
PUSH = "3d 00 03 6b 2f 61 01 03 31 31 31"
SOUND = [one for one in vectors.load() if not one.remarks and one.entry not in ("serial", "serial-old", "cbatch")]


def jsonl_of(path: Path) -> list[str]:
    command = [sys.executable, "-m", "zdissect_cli", "-q", "-T", "jsonl", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_importing_it_imports_nothing_else():
    code = "import sys, zdissect; print(*(name for name in sys.modules if name.startswith('zdissect')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["zdissect"]


def test_names():
    assert set(zdissect.__all__) <= set(dir(zdissect))
    assert all(getattr(zdissect, name) for name in zdissect.__all__)
    with pytest.raises(AttributeError, match="no attribute 'disect'"):
        _ = zdissect.disect


@pytest.mark.parametrize("name", ["query-router.pcap", "compression-mixed.pcap", "liveliness.pcap", "tunnels.pcap"])
def test_rows_are_those_of_the_command_line(name):
    messages = list(zdissect.read_captures(SAMPLES / name))
    assert len(messages) > 10
    rows = [json.loads(jsonl.line({**one.row, "file": None})) for one in messages]
    assert rows == [{**json.loads(line), "file": None} for line in jsonl_of(SAMPLES / name)]


def test_trees_and_values_do_not_depend_on_how_rows_are_read(monkeypatch):
    path = SAMPLES / "pubsub-tcp.pcap"
    slow = list(zdissect.read_captures(path))
    monkeypatch.setattr("zdissect.fed.WORTH_FRAMES", 1)
    with small_blocks(4):
        fast = list(zdissect.read_captures(path))
    assert any(isinstance(one._decoded.tape, LazyTape) for one in fast)
    pairs = list(zip(fast, slow, strict=True))
    assert len(pairs) > 30
    for one, other in pairs:
        assert one.tree() == other.tree()
        assert one.values == other.values
        assert one.nodes() == other.nodes()
        assert list(one.fields()) == list(other.fields())


def test_every_message_of_a_capture_is_written_as_it_was():
    for name in ("query-router.pcap", "liveliness.pcap", "gossip.pcap"):
        for one in zdissect.read_captures(SAMPLES / name):
            assert zdissect.encode(one.values, one.kind) == one.data


def test_a_filter_does_not_change_what_is_known():
    path = SAMPLES / "query-router.pcap"
    chosen = list(zdissect.read_captures(path, filter=lambda one: one.name == "RESPONSE"))
    assert [one.row for one in chosen] == [one.row for one in zdissect.read_captures(path) if one.name == "RESPONSE"]
    assert any("request_frame" in one for one in chosen)


@pytest.mark.parametrize(
    "text", ["message == RESPONSE", "zenoh.response", "zenoh.put.payload and sn > 0", "frame.number < 60"]
)
def test_display_filters(text):
    path = SAMPLES / "query-router.pcap"
    with open_capture(str(path)) as capture:
        wanted = compile_filter(text)
        rows = [
            message.row
            for item in dissect(capture)
            if isinstance(item, Dissection)
            for message, selected in zip(item.messages, wanted.select(item), strict=True)
            if selected
        ]
    found = [one.row for one in zdissect.read_captures(path, text)]
    assert len(found) > 3
    assert [(one["message"], one.get("sn"), one.get("request_id")) for one in found] == [
        (one["message"], one.get("sn"), one.get("request_id")) for one in rows
    ]


def test_filters_that_can_not_be_used():
    with pytest.raises(FilterError, match="key_expr"):
        next(zdissect.read_captures(SAMPLES / "query-router.pcap", "key_exp == 3"))
    for name in ("-", "/dev/null"):
        with pytest.raises(FilterError, match=r"depends on later messages.* is read once"):
            next(zdissect.read_captures(name, "zenoh.request.answered == false"))


def test_what_comes_later_takes_two_passes_over_all_files(tmp_path):
    sample = SAMPLES / "query-router.pcap"
    asked = [*zdissect.read_captures(sample, "request.answered == false")]
    assert [(one.row["message"], one.row["frame_number"]) for one in asked] == [("REQUEST", 141), ("REQUEST", 143),
                                                                                ("REQUEST", 144)]  # fmt: skip
    first, second = tmp_path / "1.pcap", tmp_path / "2.pcap"
    data, at = sample.read_bytes(), 24
    for _ in range(39):
        at += 16 + int.from_bytes(data[at + 8 : at + 12], "little")
    first.write_bytes(data[:at])
    second.write_bytes(data[:24] + data[at:])
    found = zdissect.read_captures([first, second], "request.answered == true")
    whole = zdissect.read_captures(sample, "request.answered == true")
    assert [one.row["request_id"] for one in found] == [one.row["request_id"] for one in whole]


def test_captures_are_read_as_they_are_asked_for():
    messages = zdissect.read_captures([SAMPLES / "pubsub-tcp.pcap", "not there"])
    assert next(messages).name == "INIT_SYN"
    messages.close()


def test_a_file_that_is_missing_or_cut_is_told_after_the_messages(tmp_path):
    whole = (SAMPLES / "pubsub-tcp.pcap").read_bytes()
    (tmp_path / "cut.pcap").write_bytes(whole[: len(whole) // 2])
    found = []
    with pytest.raises(zdissect.CaptureError, match="cut short"):
        found.extend(zdissect.read_captures(tmp_path / "cut.pcap"))
    assert len(found) > 10
    with pytest.raises(zdissect.CaptureError, match="no such file"):
        next(zdissect.read_captures(tmp_path / "nothing.pcap"))


def test_several_files_are_one_capture(tmp_path):
    whole = (SAMPLES / "query-router.pcap").read_bytes()
    at, frames = 24, 0
    while frames < 40:
        at += 16 + int.from_bytes(whole[at + 8 : at + 12], "little")
        frames += 1
    first, second = tmp_path / "1.pcap", tmp_path / "2.pcap"
    first.write_bytes(whole[:at])
    second.write_bytes(whole[:24] + whole[at:])
    keys = [one.get("key_expr") for one in zdissect.read_captures([first, second])]
    assert keys == [one.get("key_expr") for one in zdissect.read_captures(SAMPLES / "query-router.pcap")]


@pytest.mark.parametrize("one", SOUND, ids=lambda one: f"{one.file}:{one.line}")
def test_vectors_come_back(one):
    """Whatever the bytes are taken for: the messages in them are written as they were."""
    for message in zdissect.dissect(one.data, one.entry if one.entry.isupper() else ""):
        if message.kind and not message.findings:
            assert zdissect.encode(message.values, message.kind) == message.data


@given(st.integers(0, 1 << 32))
def test_every_message_alone(seed):
    choices = SeededChoices(seed)
    message = MESSAGES[choices.number(len(MESSAGES) - 1)]
    kind = (message.path or message.name).lower()
    data = write(message, ValueGenerator(choices, clean=True).entry(message, {}))
    found = zdissect.dissect(data, kind)
    assert found.complete
    assert found[0].kind == kind
    assert found[0].data == data
    assert zdissect.encode(found[0].values, kind) == data
    assert found[0].tree()
    assert found[0].nodes()


@given(st.binary(max_size=60))
def test_any_bytes(data):
    for message in zdissect.dissect(data):
        assert message.row["message"] == message.name
        assert repr(message).startswith("<")
        assert message.tree()
        assert message.values is not None
        assert message.nodes()


def test_names_of_values():
    (push,) = zdissect.dissect(PUSH)
    assert push["push.suffix"] == push["zenoh.push.suffix"] == "k/a"
    assert push["payload"] == push["put.payload"] == b"111"
    assert push["zenoh.key_expr"] == push["key_expr"] == "k/a"  # a derived field, and its column
    assert (push["push.n"], push["push.m"]) == (1, 0)
    assert push.all("put.payload") == [b"111"]
    assert "zenoh.put" in push
    assert push["zenoh.put"] == "PUT"
    assert "put.timestamp" not in push
    assert push.get("put.timestamp.time", 7) == 7
    with pytest.raises(KeyError, match="isn't there in this PUSH"):
        _ = push["put.timestamp.time"]
    with pytest.raises(KeyError, match=r"did you mean zenoh\.push\.suffix"):
        _ = push["push.sufix"]


def test_a_frame_and_what_it_carries():
    values = zdissect.dissect(PUSH)[0].values
    batch = zdissect.encode([{"message": "FRAME", "sn": 7, "messages": [values, values]}], "stream")
    found = zdissect.dissect(batch)
    assert [one.name for one in found] == ["FRAME", "PUSH", "PUSH"]
    frame, *pushes = found
    assert "push.suffix" not in frame
    assert [one["sn"] for one in pushes] == [7, 7]
    assert len(frame.values["messages"]) == 2
    assert frame.data == batch[2:]
    assert "PUSH" not in frame.tree()
    assert found.tree().count("PUSH  0x1d") == 2
    assert len(found[1:]) == 2


def test_findings_stand_with_their_message():
    (push,) = zdissect.dissect(PUSH + " 00", "push")
    assert [one["code"] for one in push.findings]
    assert push.findings[0]["message"] in push.tree()
    frame, first, second = zdissect.dissect("25 07 1d 83 00 02 1d 01 02", "datagram")
    assert [len(one.findings) for one in (frame, first, second)] == [0, 1, 0]
    assert "vle-overlong" in first.tree()
    assert "vle-overlong" not in second.tree() + frame.tree()


def test_text_is_read_as_a_paste():
    assert zdissect.dissect("[4]")[0].name == "KEEP_ALIVE"
    assert zdissect.dissect(bytearray(b"\x04"))[0].name == "KEEP_ALIVE"
    with pytest.raises(zdissect.PasteError, match="isn't a hex digit"):
        zdissect.dissect("xyz")
    with pytest.raises(zdissect.PasteError, match="2 runs of bytes"):
        zdissect.dissect("[3, 0] [3, 1]")


@pytest.mark.parametrize(
    ("values", "kind", "why"),
    [
        ({"message": "PUSHH"}, "", "did you mean push"),
        ({}, "", "the name of a message"),
        ({"message": "PUSH"}, "strem", "did you mean stream"),
        ({"message": "KEEP_ALIVE"}, "packet", "no reading is called 'packet'"),
        ([{"message": "KEEP_ALIVE"}], "put", "no reading is called 'put'"),
        ([{"message": "PUT"}], "stream", "isn't a message here"),
        ({"message": "PUSH", "scope": 1 << 70}, "", "doesn't fit"),
    ],
)
def test_what_can_not_be_written(values, kind, why):
    with pytest.raises(ValueError, match=why):
        zdissect.encode(values, kind)


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [("", "04 04"), ("datagram", "04 04"), ("tcp", "02 00 04 04"), ("stream", "02 00 04 04"),
     ("lowlatency", "02 00 00 00 04 04"), ("network", "04 04")],
)  # fmt: skip
def test_batches(kind, wanted):
    assert zdissect.encode([{"message": "KEEP_ALIVE"}] * 2, kind).hex(" ") == wanted


def test_layouts_of_one_name():
    values = {"message": "OAM", "id": 9, "value": 5}
    assert zdissect.encode(values).hex() == "3f0905"
    assert zdissect.encode(values, "transport_oam").hex() == "200905"
    assert zdissect.dissect(b"\x20\x09\x05", "transport_oam")[0].kind == "transport_oam"


def test_time_counts_from_the_first_frame_whatever_it_carries():
    """Frame 4 is the first that carries Zenoh; the same holds in all commands."""
    path = SAMPLES / "pubsub-tcp.pcap"
    with open_capture(str(path)) as capture:
        first, *others = capture
    relative = next(frame.ts_ns for frame in others if frame.number == 4) - first.ts_ns
    assert relative > 0
    (message,) = zdissect.read_captures(path, filter=f"frame.time_relative <= {relative}ns")
    assert message["frame_number"] == 4
    assert not [*zdissect.read_captures(path, filter=f"frame.time_relative < {relative}ns")]
