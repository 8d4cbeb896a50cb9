"""The ready queries say what the captures hold: whatever the order of frames, over rotated files, in any direction."""

import re
import shutil
from collections import Counter

import pytest

from tests.export import losses
from tests.export.tables import SAMPLES, converted, rows
from zdissect.export.ready_queries import DUCKDB_VIEWS, QUERIES
from zdissect.export.tables import TABLES


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """The tables of captures in which numbers are missing, or seem to."""
    place = tmp_path_factory.mktemp("losses")
    (place / "captures").mkdir()
    losses.write(place / "captures")
    converted(place / "captures", place / "out")
    return place / "out"


def answer(out, title):
    """The rows of a query, by DuckDB."""
    duckdb = pytest.importorskip("duckdb")
    (sql,) = (query.sql for query in QUERIES if query.title == title)
    with duckdb.connect() as connection:
        for table in TABLES:
            connection.execute(DUCKDB_VIEWS.format(out=out, table=table))
        cursor = connection.execute(sql)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def test_loss_is_what_the_findings_say(out):
    capture = {row["file"]: row["capture"] for row in rows(out, "captures")}
    wanted: Counter[tuple[str, str]] = Counter()
    for row in rows(out, "findings"):
        if row["code"].startswith("sn-gap"):
            wanted[capture[row["file"]], row["flow_id"]] += int(re.search(r"(\d+) missing", row["message"])[1])
    lost: Counter[tuple[str, str]] = Counter()
    for row in answer(out, "Loss per channel"):
        lost[row["capture"], row["flow_id"]] += int(row["lost"])
    assert +lost == wanted
    # three left out before the last one; two and three more where the numbers that come late are passed over
    assert [wanted[f"late-{name}.pcap", f"{link}.0"] for name, link in
            (("udp", "udp"), ("tcp", "tcp"), ("wide", "tcp"), ("narrow", "tcp"))] == [8] * 4  # fmt: skip
    assert wanted["rotated.pcap", "tcp.1"] == 2
    assert not any(name in ("reordered.pcap", "from-the-middle.pcap", "again.pcap") for name, _ in wanted)


def test_messages_are_numbered_in_the_order_of_their_stream(out):
    """From 0 on, and whatever the order in which segments were captured."""
    capture = {row["file"]: row["capture"] for row in rows(out, "captures")}
    found: dict[tuple[str, str, int], list[dict[str, object]]] = {}
    for row in rows(out):
        found.setdefault((capture[row["file"]], row["flow_id"], row["src_port"]), []).append(row)
    moved = 0
    for some in found.values():
        some.sort(key=lambda row: row["message_number"])
        assert [row["message_number"] for row in some] == [*range(len(some))]
        times = [row["ts_ns"] for row in some]
        moved += times != sorted(times)
    assert moved > 4
    for flow, port in (("tcp.0", 40001), ("tcp.0", 7447), ("tcp.1", 40002), ("tcp.1", 7447)):
        numbers = [row["sn"] for row in found["reordered.pcap", flow, port] if row["message"] == "FRAME"]
        assert len(numbers) == 40
        assert numbers == [*range(numbers[0], numbers[0] + 40)]


def test_the_rows_of_captures_in_another_order_have_the_same_numbers():
    from tests.observed import observed

    capture = losses.two()
    plain, moved = (observed(some).rows for some in (capture.frames, losses.in_another_order(capture.frames)))
    assert [row["sn"] for row in plain if "sn" in row] != [row["sn"] for row in moved if "sn" in row]

    def in_order(some):
        told = [(row["flow_id"], row["src_port"], row["message_number"], row["message"], row.get("sn")) for row in some]
        return sorted(told)

    assert in_order(plain) == in_order(moved)


def test_one_file_that_is_not_whole_is_not_hidden_by_others(tmp_path):
    for name in ("a.pcap", "a.pcap1", "b.pcap"):
        shutil.copy(SAMPLES / "pubsub-tcp.pcap", tmp_path / name)
    (tmp_path / "a.pcap1").write_bytes((tmp_path / "a.pcap1").read_bytes()[:-5])
    converted(tmp_path, tmp_path / "out")
    states = {row["capture"]: row["status"] for row in answer(tmp_path / "out", "What became of the bytes")}
    files = {row["file"]: row["capture"] for row in rows(tmp_path / "out", "captures")}
    assert states[files["a.pcap1"]] == "cut"
    assert states["b.pcap"] == "ok"
