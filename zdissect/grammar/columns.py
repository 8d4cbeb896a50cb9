"""The message table: its columns, and how a field's value becomes a column's value.

A field names its column in the grammar; here are the types of the columns and the few conversions. The types are those
of Arrow that Spark has too: no unsigned integers, times as int64 nanoseconds next to a microsecond timestamp.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from zdissect.grammar.field import Field
from zdissect.grammar.primitives import congestion_text, encoding_text, ntp64_ns, zid_text
from zdissect.grammar.types import Bit

SCHEMA_VERSION = 1


class Column(NamedTuple):
    """A column of the message table."""

    name: str
    type: str
    """bool, int8 to int64, string, binary, timestamp (us, UTC), list<...> or list<struct<...>>."""
    doc: str


def _columns(text: str) -> tuple[Column, ...]:
    rows = (line.split(None, 2) for line in text.strip().splitlines())
    return tuple(Column(name, kind, doc) for name, kind, doc in rows)


COLUMNS = _columns("""
file                string        Path of the capture file.
frame_number        int64         Number of the frame that completes the message, from 1.
ts                  timestamp     Capture time of that frame.
ts_ns               int64         The same, nanoseconds since 1970 UTC.
message_index       int32         Position of the message in its frame, from 0.
message_number      int64         Position among its sender's messages in the conversation, in stream order, from 0.
flow_id             string        Name of the conversation in the capture: tcp.0, udp.3.
src_ip              string        Address of the sender; null on raw Ethernet, as are the next three.
src_port            int32         Port of the sender.
dst_ip              string        Address of the receiver.
dst_port            int32         Port of the receiver.
link                string        tcp, udp, ws, raweth, serial.
initiator           bool          Whether the side that opened the conversation sent it.
buffer              string        Where its bytes come from: tcp, udp, raweth, reassembled, decompressed.
offset              int64         Where it starts in that buffer, bytes.
length              int64         Its length, bytes.
src_zid             string        ZenohID of the sender, as Zenoh's logs write it.
dst_zid             string        ZenohID of the receiver.
src_role            string        Role of the sender: router, peer, client.
dst_role            string        Role of the receiver.
layer               string        scouting, transport, network.
message             string        Name of the message: INIT_SYN, FRAME, PUSH; null for a batch whose messages can't be identified.
body                string        Name of the sub-message: PUT, QUERY, REPLY, D_SUBSCRIBER.
reply_body          string        PUT or DEL inside a REPLY.
sn                  int64         Sequence number, its own or that of the FRAME around it.
reliability         string        reliable or best_effort.
priority            string        Control to Background.
congestion_control  string        Drop, Block, BlockFirst.
express             bool          Whether it is sent at once, without waiting to fill a batch.
compressed          bool          Whether its batch was compressed.
fragments           list<int64>   Numbers of the frames that a reassembled message came from.
key_expr            string        Full key expression; null where it can't be known.
key_frame           int64         Number of the frame that declared its prefix, or the entity that is undeclared.
key_scope           int64         Declared id of its prefix.
key_mapping         string        Whose table the scope is in: sender or receiver.
key_suffix          string        Text after the prefix.
expr_id             int64         Id that D_KEYEXPR gives or U_KEYEXPR frees.
entity_id           int64         Id of a subscriber, queryable or token.
interest_id         int64         Id of an interest, own or answered.
interest_mode       string        Final, Current, Future, CurrentFuture.
interest_frame      int64         Number of the frame with the interest that is answered.
request_id          int64         Id of a request, own or answered.
request_frame       int64         Number of the frame with the request that is answered.
response_time_ns    int64         Time since that request.
target              string        BestMatching, All, AllComplete.
budget              int64         Most answers that are wanted.
timeout_ms          int64         How long the querier waits.
consolidation       string        Auto, None, Monotonic, Latest.
parameters          string        Parameters of the selector.
payload             binary        The value.
payload_len         int64         Its length, bytes.
encoding            string        How to read the value, with its schema.
encoding_id         int64         Id of the encoding.
encoding_schema     string        Schema of the encoding.
attachment          binary        The application's attachment.
timestamp           timestamp     When the sample was made, by the clock of its source.
timestamp_ntp64     int64         The same as NTP64, 64 bits.
timestamp_id        string        Id of that clock.
source_zid          string        SourceInfo: ZenohID of the node that made the sample.
source_eid          int64         SourceInfo: number of the entity.
source_sn           int64         SourceInfo: sequence number of the sample.
responder_zid       string        ResponderId: ZenohID of the node that answered.
responder_eid       int64         ResponderId: number of the entity.
node_id             int64         NodeId: source of the routing tree.
node_zid            string        ZenohID of that node, by the sender's link state.
version             int32         Protocol version.
zid                 string        ZenohID in INIT, JOIN, SCOUT, HELLO.
whatami             string        Role in INIT, JOIN, HELLO; roles asked for by SCOUT.
resolution_sn       int32         Width of sequence numbers, bits.
resolution_rid      int32         Width of request ids, bits.
batch_size          int64         Largest batch, bytes.
lease_ms            int64         Lease, milliseconds.
initial_sn          int64         First sequence number of a side.
patch               int64         Patch level.
cookie              binary        Cookie of the handshake.
close_reason        string        Reason of a CLOSE.
locators            list<string>  Locators of a HELLO or of link state.
extensions          list<struct<id:int32,encoding:string,mandatory:bool,name:string,length:int64,value:binary>>  All extensions.
fields              string        The whole message as JSON, if asked for.
findings            list<struct<severity:string,code:string,offset:int64,message:string>>  What is wrong with it.
schema_version      int32         Version of this table.
""")  # noqa: E501

NAMES = tuple(column.name for column in COLUMNS)

HIDDEN = frozenset({"dont_drop", "block_first", "encoding_value"})
"""Entries of rows that other columns are made from, and that aren't columns of the table."""

CARRIED = ("timestamp_ntp64", "payload", "attachment", "source_sn", "request_id")
"""Columns whose values change from message to message, while the others often stay the same."""
BIT_WORDS = {"reliability": ("best_effort", "reliable"), "key_mapping": ("receiver", "sender")}

Convert = Callable[[Any], Any]


def converter(field: Field) -> Convert | None:
    """How the field's value becomes its column's value; None if it stays as it is.

    Zids become text, enums names, widths bits.
    """
    column, node = field.column, field.node
    if field.render == "zid":
        return zid_text
    if column.startswith("resolution_"):
        return lambda value: 8 << value
    if isinstance(node, Bit) and node.width == 1:
        return BIT_WORDS[column].__getitem__ if column in BIT_WORDS else bool
    if field.enum is not None and column != "encoding_id":
        names = field.enum.names
        return lambda value: names.get(value, str(value))
    if field.scale != 1:
        scale = field.scale
        return lambda value: value * scale
    return None


def complete(row: dict[str, Any]) -> None:
    """Adds the columns of one message that follow from its others: defaults, names, lengths."""
    if row["layer"] == "network":
        if "dont_drop" in row:
            row["congestion_control"] = congestion_text(row.pop("dont_drop"), row.pop("block_first"))
        else:
            row["priority"], row["congestion_control"], row["express"] = "Data", "Drop", False
    elif row["message"] in ("FRAME", "FRAGMENT"):
        row.setdefault("priority", "Data")
    if row.get("payload") is not None:
        row.setdefault("encoding_id", 0)
    if "encoding_id" in row:
        row["encoding"] = encoding_text(row["encoding_id"], row.get("encoding_schema"))
    follow(row)


def follow(row: dict[str, Any]) -> None:
    """Adds the columns that follow from the columns in `CARRIED`."""
    for column, (source, derive) in FOLLOWING.items():
        value = row.get(source)
        if value is not None:
            row[column] = derive(value)


def changes(field: Field) -> bool:
    """Whether a leaf's value changes from message to message: what is carried, sequence numbers, and any time."""
    return field.column in CARRIED or field.column == "sn" or field.render == "ntp64"


def timestamp_us(ntp64: int) -> int:
    """The column `timestamp` that goes with `timestamp_ntp64`: microseconds since 1970."""
    return ntp64_ns(ntp64) // 1000


FOLLOWING: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "payload_len": ("payload", len),
    "timestamp": ("timestamp_ntp64", timestamp_us),
}
"""Columns that follow from one of `CARRIED` alone: from which one, and how."""
