"""Ready queries on the tables. Each is the same text for DuckDB and for Spark SQL, and is run by the tests."""

from typing import NamedTuple


class ReadyQuery(NamedTuple):
    """A query, and what it tells."""

    title: str
    doc: str
    sql: str


QUERIES = (
    ReadyQuery(
        "Messages per key",
        "What is published, how often, how much and by whom. Through a router a sample is seen on each of its links.",
        """
SELECT key_expr, src_zid, count(*) AS puts, sum(payload_len) AS bytes, min(ts) AS first_ts, max(ts) AS last_ts
FROM messages
WHERE message = 'PUSH' AND body = 'PUT'
GROUP BY key_expr, src_zid
ORDER BY puts DESC, key_expr, src_zid
""",
    ),
    ReadyQuery(
        "Loss per channel",
        "Sequence numbers that are missing between one FRAME or FRAGMENT and the next of the same channel, in the "
        "order of the stream: lost on the way, dropped by the sender, or not captured (`sn-gap` and `sn-gap-captured` "
        "tell which). A gap in which the numbers wrap around to 0 counts as one.",
        """
WITH numbers AS (
  SELECT capture, flow_id, src_ip, src_port, initiator, src_zid, dst_zid, reliability, priority, message_number,
         CAST(sn AS DECIMAL(20, 0)) AS number, coalesce(CAST(messages.findings AS STRING), '') AS said
  FROM messages JOIN captures USING (file)
  WHERE message IN ('FRAME', 'FRAGMENT')
), carriers AS (
  SELECT *, number - lag(number) OVER channel - 1 AS missing
  FROM numbers
  WHERE said NOT LIKE '%sn-duplicate%' AND said NOT LIKE '%sn-backward%' AND said NOT LIKE '%sn-range%'
  WINDOW channel AS (
    PARTITION BY capture, flow_id, src_ip, src_port, initiator, reliability, priority
    ORDER BY message_number
  )
)
SELECT capture, flow_id, src_zid, dst_zid, reliability, priority, count(*) AS carriers,
       sum(CASE WHEN said LIKE '%sn-gap%' THEN greatest(missing, 1) ELSE 0 END) AS lost
FROM carriers
GROUP BY capture, flow_id, src_zid, dst_zid, reliability, priority
ORDER BY lost DESC, capture, flow_id, src_zid, reliability, priority
""",
    ),
    ReadyQuery(
        "Query latency",
        "How long answers to queries take to reach who isn't a router, for each key that has answers. Routers pass "
        "queries on: what they get is on its way. `zdissect queries` also knows routers that ask for themselves.",
        """
SELECT key_expr, count(*) AS replies,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY response_time_ns) / 1e6 AS median_ms,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY response_time_ns) / 1e6 AS p95_ms,
       max(response_time_ns) / 1e6 AS max_ms
FROM messages
WHERE message = 'RESPONSE' AND response_time_ns IS NOT NULL AND coalesce(dst_role, '') <> 'router'
GROUP BY key_expr
ORDER BY p95_ms DESC, key_expr
""",
    ),
    ReadyQuery(
        "Who declared what",
        "Subscribers, queryables and tokens, by the node that declared them. Routers pass on those of others.",
        """
SELECT src_zid, src_role, body, key_expr, count(*) AS declared, min(ts) AS first_ts
FROM messages
WHERE message = 'DECLARE' AND body IN ('D_SUBSCRIBER', 'D_QUERYABLE', 'D_TOKEN')
GROUP BY src_zid, src_role, body, key_expr
ORDER BY src_zid, body, key_expr
""",
    ),
    ReadyQuery(
        "Sessions that didn't end well",
        "Connections that ended without a CLOSE, or for a reason other than GENERIC.",
        """
SELECT file, flow_id, opener_zid, other_zid, ended, ended_by, close_reason, last_ts
FROM sessions
WHERE ended NOT IN ('close', 'open') OR close_reason <> 'GENERIC'
ORDER BY last_ts, file, flow_id
""",
    ),
    ReadyQuery(
        "What is wrong, worst first",
        "Findings by code, with a place to look at: `zdissect FILE`, then the frame with that number.",
        """
SELECT severity, code, count(*) AS number, first_file AS file,
       min(CASE WHEN file = first_file THEN frame_number END) AS frame_number
FROM (SELECT *, min(file) OVER (PARTITION BY severity, code) AS first_file FROM findings) AS placed
GROUP BY severity, code, first_file
ORDER BY CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, number DESC, code
""",
    ),
    ReadyQuery(
        "What became of the bytes",
        "Payload bytes of each capture. The rest isn't Zenoh, can't be read (TLS, QUIC), frames Zenoh (WebSocket), or "
        "was retransmitted.",
        """
SELECT capture, sum(payload_bytes) AS payload, sum(decoded_bytes) AS decoded, sum(undecoded_bytes) AS undecoded,
       sum(skipped_bytes) AS skipped, sum(missing_bytes) AS missing,
       coalesce(max(CASE WHEN status <> 'ok' THEN status END), 'ok') AS status
FROM captures
GROUP BY capture
ORDER BY capture
""",
    ),
    ReadyQuery(
        "Frames that weren't opened",
        "Captures with links, tunnels or packets that may hold Zenoh which isn't in the tables; `unopened` says what "
        "they are. It lists ordinary background (ARP, ICMP...) too, which isn't counted.",
        """
SELECT file, frames, unopened_frames, unopened
FROM captures
WHERE unopened_frames > 0
ORDER BY unopened_frames DESC, file
""",
    ),
)

DUCKDB_VIEWS = "CREATE VIEW {table} AS SELECT * FROM '{out}/{table}/*.parquet';"
SPARK_VIEWS = 'spark.read.parquet("{out}/{table}").createOrReplaceTempView("{table}")'
"""How the tables are named before the queries are run."""
