"""The four tables: their columns, types and meanings, as text. Those of `messages` are in `grammar/columns.py`."""

from zdissect.grammar.columns import COLUMNS, Column

MESSAGES = "messages"
"""The name of the table of messages."""

TABLES_VERSION = 1
"""Version of the layout of `findings`, `captures` and `sessions`; `messages` has that of the grammar."""


def _columns(text: str) -> tuple[Column, ...]:
    rows = (line.split(None, 2) for line in text.strip().splitlines())
    return tuple(Column(name, kind, doc) for name, kind, doc in rows)


FINDINGS = _columns("""
file                   string     Path of the capture file.
frame_number           int64      Number of the frame where it was found; null for a finding about the file.
ts                     timestamp  Capture time of that frame.
ts_ns                  int64      The same, nanoseconds since 1970 UTC.
flow_id                string     Conversation: tcp.0, udp.3.
buffer                 string     Buffer of `offset`, as in messages, or stream: a TCP direction; null: in no bytes.
offset                 int64      Where it begins in that buffer, bytes.
length                 int64      How many bytes it concerns.
severity               string     note, warning, error.
group                  string     malformed, protocol, sequence, capture.
code                   string     What `zdissect explain CODE` explains.
message                string     What was found here.
schema_version         int32      Version of this table.
""")

CAPTURES = _columns("""
file                   string        Path of the capture file.
capture                string        Path of the first file of the capture: files of one rotated capture share it.
part                   int32         Position of the file in its capture, from 0.
format                 string        pcap or pcapng; with +gzip, +zstd, +lz4 or +xz if packed; null if it isn't known.
link_types             list<int32>   LINKTYPE_ values of its interfaces.
size                   int64         Size of the file, bytes.
frames                 int64         Frames read.
bytes                  int64         Captured bytes of these frames.
payload_bytes          int64         TCP and UDP payload bytes of these frames, whatever they carry.
decoded_bytes          int64         Of these, Zenoh that was decoded (counted where it became complete).
undecoded_bytes        int64         Of these, Zenoh that no field owns.
skipped_bytes          int64         Of these, bytes of Zenoh streams that belong to no batch.
missing_bytes          int64         Bytes of Zenoh streams that aren't in the capture.
unopened_frames        int64         Frames that may hold Zenoh but weren't opened: unknown link types, tunnels...
unopened               list<struct<what:string,frames:int64,background:bool>>  All frames without TCP or UDP, by reason.
messages               int64         Rows of this file in messages.
findings               int64         Rows of this file in findings.
first_ts               timestamp     Capture time of its first frame.
first_ts_ns            int64         The same, nanoseconds since 1970 UTC.
last_ts                timestamp     Capture time of its last frame.
last_ts_ns             int64         The same, nanoseconds since 1970 UTC.
status                 string        ok; cut (good up to its end); damaged (good up to the damage); unreadable; failed.
error                  string        What is wrong and what to do; null if it is ok.
schema_version         int32         Version of this table.
""")

SESSIONS = _columns("""
file                   string     Path of the first file of the capture.
flow_id                string     Conversation: tcp.0, udp.3. Each link of a session is a row.
session                string     Conversation with which the session began: the same for all its links.
link                   string     tcp, udp, ws, raweth, serial.
opener_ip              string     Address of the side that opened the conversation, or spoke first; null on raweth.
opener_port            int32      Its port.
opener_zid             string     Its ZenohID.
opener_role            string     router, peer, client.
opener_version         int32      Its protocol version.
opener_lease_ms        int64      The lease it announced.
opener_initial_sn      int64      Its first sequence number.
opener_messages        int64      Messages it sent in this conversation.
opener_bytes           int64      Bytes of its batches.
other_ip               string     Address of the other side.
other_port             int32      Its port.
other_zid              string     Its ZenohID.
other_role             string     router, peer, client.
other_version          int32      Its protocol version.
other_lease_ms         int64      The lease it announced.
other_initial_sn       int64      Its first sequence number.
other_messages         int64      Messages it sent in this conversation.
other_bytes            int64      Bytes of its batches.
handshake              string     complete, partial, join (multicast), none.
resolution_sn          int32      Agreed width of sequence numbers, bits.
resolution_rid         int32      Agreed width of request ids, bits.
batch_size             int64      Agreed largest batch, bytes.
patch                  int64      Agreed patch level.
qos                    bool       Whether priorities were agreed on.
low_latency            bool       Whether low latency was agreed on.
compression            bool       Whether compression was agreed on.
multilink              bool       Whether several links were agreed on.
shm                    bool       Whether shared memory was agreed on.
first_ts               timestamp  When it first carried something.
first_ts_ns            int64      The same, nanoseconds since 1970 UTC.
last_ts                timestamp  When it last carried something.
last_ts_ns             int64      The same, nanoseconds since 1970 UTC.
skipped_bytes          int64      Bytes of its streams that belong to no batch.
ended                  string     close, fin, rst, lease, reused, silent, open (still there when the capture ended).
ended_by               string     opener or other; null if neither did.
close_reason           string     Reason of the CLOSE.
schema_version         int32      Version of this table.
""")

TABLES: dict[str, tuple[Column, ...]] = {
    "messages": COLUMNS,
    "findings": FINDINGS,
    "captures": CAPTURES,
    "sessions": SESSIONS,
}
"""Name of each table, which is that of its directory too, and its columns."""

ABOUT = {
    "messages": "One row per message: scouting, transport and network messages each have their own. A declaration, or "
    "the data in a PUSH, is part of the row of its network message.",
    "findings": "One row per finding, including those about a whole file.",
    "captures": "One row per input file, including those that can't be read.",
    "sessions": "One row per conversation that carried a session: who talked, what was agreed on, how it ended.",
}
