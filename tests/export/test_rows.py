"""What is in the tables: the rows of `-T jsonl`, whatever the way of reading."""

import json

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

from tests.conversation import Conversation
from tests.export.tables import NAMES, SAMPLES, as_json, converted, frames, held, rows, where
from tests.packets import CaptureBuilder, Parties
from zdissect.dissector import Dissector
from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import decode_sessions
from zdissect.export.file_stats import FileStats
from zdissect.grammar.columns import NAMES as COLUMNS
from zdissect.pipeline import dissect


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """All samples, converted."""
    path = tmp_path_factory.mktemp("rows") / "out"
    report = converted(SAMPLES, path)
    assert not report.bad
    counted = report.done.accounting
    parts = ("decoded", "undecoded", "skipped", "framing", "opaque", "not_zenoh", "repeated")
    assert counted["captured"] == sum(counted[name] for name in parts) > 0
    return path


@pytest.mark.parametrize("name", NAMES)
def test_messages_equal_json_lines(out, name):
    done = CliRunner().invoke(cli, ["-T", "jsonl", str(SAMPLES / name)], standalone_mode=False)
    wanted = [held(json.loads(line)) | {"file": name} for line in done.stdout.splitlines()]
    got = [as_json(row) for row in rows(out) if row["file"] == name]
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        assert one == other


def test_captures_add_up(out):
    captures = rows(out, "captures")
    assert sorted(row["file"] for row in captures) == NAMES
    for row in captures:
        name = row["file"]
        some = frames(SAMPLES / name)
        assert (row["capture"], row["part"], row["status"], row["error"]) == (name, 0, "ok", None)
        assert (row["frames"], row["bytes"]) == (len(some), sum(len(frame.data) for frame in some))
        assert (row["first_ts_ns"], row["last_ts_ns"]) == (some[0].ts_ns, some[-1].ts_ns)
        assert row["size"] == (SAMPLES / name).stat().st_size
        assert row["format"] == ("pcapng" if name.endswith("ng") else "pcap")
        assert row["link_types"]
        assert row["decoded_bytes"] + row["undecoded_bytes"] + row["skipped_bytes"] <= row["payload_bytes"]
    for table in ("messages", "findings"):
        assert sum(row[table] for row in captures) == len(rows(out, table))


def test_findings_of_messages_are_in_the_table_too(out):
    """With the same place. The table has those of skipped bytes too."""
    in_rows = {
        (row["file"], row["frame_number"], row["flow_id"], row["buffer"], one["offset"], one["code"], one["message"])
        for row in rows(out)
        for one in row["findings"] or ()
    }
    table = {
        tuple(row[name] for name in ("file", "frame_number", "flow_id", "buffer", "offset", "code", "message"))
        for row in rows(out, "findings")
    }
    assert in_rows
    assert in_rows <= table


def test_sessions(out):
    found = {row["flow_id"]: row for row in rows(out, "sessions") if row["file"] == "query-router.pcap"}
    assert len(found) == 3
    for row in found.values():
        assert (row["handshake"], row["ended"], row["close_reason"]) == ("complete", "close", "GENERIC")
        assert row["other_role"] == "router"
        assert row["opener_zid"] != row["other_zid"]
        assert row["session"] == row["flow_id"]
        messages = [one for one in rows(out) if (one["file"], one["flow_id"]) == (row["file"], row["flow_id"])]
        sent = [sum(one["initiator"] is side for one in messages) for side in (True, False)]
        assert [row["opener_messages"], row["other_messages"]] == sent
        assert {one["src_zid"] for one in messages} == {row["opener_zid"], row["other_zid"]}
        assert row["first_ts_ns"] == messages[0]["ts_ns"]


def test_rows_name_their_place_and_version(out):
    messages = rows(out)
    assert messages
    for row in messages:
        assert row["schema_version"] == 1
        if row["ts_ns"] is not None or row["file"] != "flipped-time.pcapng":
            assert row["ts_ns"] // 1000 == round(row["ts"].timestamp() * 1e6)
        assert None not in (row["file"], row["frame_number"], row["buffer"], row["offset"], row["length"])


def test_processes_make_the_same_rows(out, tmp_path):
    converted(SAMPLES, tmp_path / "two", jobs=2)
    for table in ("messages", "findings", "captures", "sessions"):
        assert sorted(rows(tmp_path / "two", table), key=where) == sorted(rows(out, table), key=where)


@pytest.mark.parametrize("keep", [-1, 0, 2, 100_000])
def test_payloads_are_cut(keep, tmp_path):
    converted(SAMPLES, tmp_path / "out", Settings(payload=keep), include=("pubsub-tcp.pcap",))
    whole = [row["payload"] for name, batch in _decoded("pubsub-tcp.pcap") if name == "messages"
             for row in batch.to_pylist()]  # fmt: skip
    assert max(len(payload) for payload in whole if payload is not None) > 2
    for row, payload in zip(rows(tmp_path / "out"), whole, strict=True):
        if payload is not None:
            assert row["payload"] == (None if keep < 0 else payload[:keep])
            assert row["payload_len"] == len(payload)


def _decoded(name, **options):
    return decode_sessions(frames(SAMPLES / name), Settings(**options))


def test_whole_messages_as_json():
    """They hold every field, and no other column changes."""
    for name in ("query-router.pcap", "compression-mixed.pcap", "scouting-multicast.pcap"):
        with_fields = [
            row for table, batch in _decoded(name, fields=True) if table == "messages" for row in batch.to_pylist()
        ]
        without = [row for table, batch in _decoded(name) if table == "messages" for row in batch.to_pylist()]
        assert without
        for row, plain in zip(with_fields, without, strict=True):
            node = json.loads(row.pop("fields"))
            assert node["name"].startswith("zenoh.")
            assert node["children"]
            assert node["start"] == row["offset"] * 8
            assert row | {"fields": None} == plain


def test_decode_sessions_needs_no_files():
    """Frames alone make all tables; what isn't known of the files is null."""
    files: dict[str, FileStats] = {}
    some = frames(SAMPLES / "query-router.pcap")
    tables = dict(decode_sessions(some, None, files))
    assert set(tables) == {"messages", "findings", "captures", "sessions"}
    (row,) = tables["captures"].to_pylist()
    assert row["format"] is None
    assert row["frames"] == len(some) == files[some[0].source].frames
    assert tables["messages"].schema.names == list(COLUMNS)


def test_batches_are_bounded_by_bytes():
    sizes = [batch.num_rows for table, batch in _decoded("query-router.pcap", batch_bytes=2000) if table == "messages"]
    assert len(sizes) > 3
    assert sum(sizes) == 310


def test_links_of_a_session_name_the_same_one():
    """Also those that are there at the end of the capture."""
    capture = CaptureBuilder()
    for port in (40001, 40002):
        Conversation(capture, parties=Parties(ports=(port, 7447))).open(multilink=True)
    tables = dict(decode_sessions(capture.frames))
    assert [(row["flow_id"], row["session"]) for row in tables["sessions"].to_pylist()] == [
        ("tcp.0", "tcp.0"), ("tcp.1", "tcp.0"),
    ]  # fmt: skip


def test_messages_of_a_frame_are_numbered_through():
    """Whatever others say in between: a part of what a frame holds may come late."""
    capture = CaptureBuilder()
    for port in (40001, 40002):
        Conversation(capture, parties=Parties(ports=(port, 7447))).init_syn()
    one, other = dissect(capture.frames)
    found = []
    for item in (one, other, one):
        Dissector.number(item)
        found.append(item.first)
    assert found == [(1, 1), (1, 1), (2, 2)]
