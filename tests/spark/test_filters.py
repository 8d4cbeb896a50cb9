"""Display filters in Spark: as an option of the data source, as a condition in SQL, and of `batch --spark`."""

from collections import Counter

import pytest

pytest.importorskip("pyspark")
from click.testing import CliRunner
from zdissect_cli.main import cli

from tests.filtered import SAMPLES, samples
from zdissect.filters import compile_filter, sql

DIRECTORY = SAMPLES[0].parent

TEXTS = [
    'key_expr within "nano/**"',
    "payload contains 6e:61 and payload[0:2] == 6e:61",
    'payload matches "MESSAGE.*[0-9]$" or key_expr matches "^demo"',
    "severity >= warning",
    "finding != sn-gap",
    "not finding and count(ext.id) > 0",
    "all ext.id in {1, 3}",
    "tcp.stream == 0 and tcp.port == 7447",
    "ip.addr == 127.0.0.0/8",
    "timestamp > 2025-01-01 and ts > 2025-01-01",
    "timestamp_ntp64 > 5 and timestamp_ntp64 < 0x8000000000000000",
    "response_time_ns < timeout_ms or sn != request_id",
    'upper(key_expr[0:4]) == "NANO" or len(key_expr) > 20',
    "string(sn) contains 9",
    "sn & 3 == 1",
    "frame_number == fragments",
    'key_expr contains key_suffix and key_expr == "it\'s \\\\ \\n"',
    "lease_ms == 10s",
    "src_zid != 0a and express == true",
    "file and offset > 5 and length < 100 and timestamp",
]


def test_conditions_in_sql_select_the_same(spark):
    from zdissect.spark import read_messages

    sql.register(spark)
    messages = read_messages(spark, str(DIRECTORY)).cache()
    for text in TEXTS:
        wanted = compile_filter(text)
        found = messages.where(wanted.sql("spark")).select("flow_id", "message_number", "message").collect()
        expected = [row for row in samples().rows if wanted.row(row)]
        assert Counter(map(tuple, found)) == Counter(
            (row["flow_id"], row["message_number"], row.get("message")) for row in expected
        ), text


def test_the_option_filter(spark):
    from zdissect.spark import read_messages

    for text in ('key_expr within "nano/**"', "zenoh.push.n and frame.len > 80"):
        found = read_messages(spark, str(DIRECTORY), filter=text)
        assert found.count() == sum(sum(compile_filter(text).select(item)) for item in samples().items) > 0


def test_batch_by_spark(spark, tmp_path):
    import pyarrow.parquet as pq

    text = 'key_expr within "nano/**"'
    arguments = ["batch", str(DIRECTORY), "-o", str(tmp_path / "out"), "--spark", "-q", "-Y", text]
    assert CliRunner().invoke(cli, arguments, standalone_mode=False).return_value == 0
    found = pq.read_table(tmp_path / "out" / "messages")
    captures = pq.read_table(tmp_path / "out" / "captures")
    assert found.num_rows == len(samples().rows_of(text)) > 0
    assert sum(captures["messages"].to_pylist()) == found.num_rows
