"""Extensions that several messages know (notes 2.2 and 2.3). Those of one message stand with it."""

from zdissect.grammar import enums
from zdissect.grammar.flags import reserved
from zdissect.grammar.structures import STAMP_FIELDS, entity
from zdissect.grammar.types import ALWAYS, UNIT, Z64, ZBUF, Bit, Bits, Extension, Group, Repeat, Rest, Vle

TRANSPORT_PRIORITY = Bit("priority", 0, "Priority of the messages.", width=3, enum=enums.PRIORITY, column="priority")

TRANSPORT_QOS = Extension(
    "qos", 1, Z64, True, "Priority of the messages; absent means Data.", "message-reference#Frame QoS Extension",
    (Vle("value", 64, "Priority in the low bits.", bits=(reserved(3, 61), TRANSPORT_PRIORITY)),),
)  # fmt: skip

QOS = Extension(
    "qos", 1, Z64, False, "Priority and congestion control; absent means Data, Drop, not express.",
    "message-reference#QoS Extension",
    (Vle("value", 64, "Quality of service in the low byte.", bits=(
        reserved(6, 58),
        Bit("F", 5, "Whether the first message blocks when the link is congested (since 1.5).",
            says=("drop", "block first"), column="block_first"),
        Bit("E", 4, "Whether the batch is sent at once.", says=("may wait in a batch", "express"), column="express"),
        Bit("D", 3, "Whether the sender waits when the link is congested.",
            says=("may be dropped", "don't drop"), column="dont_drop"),
        Bit("priority", 0, "Priority of the message.", width=3, enum=enums.PRIORITY, column="priority"),
    )),),
)  # fmt: skip

TIMESTAMP = Extension(
    "timestamp",
    2,
    ZBUF,
    False,
    "When the message was made.",
    "message-reference#Timestamp Extension",
    STAMP_FIELDS,
    loose=ALWAYS,
)

NODE_ID = Extension(
    "node_id", 3, Z64, True, "Source node of the routing tree that the message follows, as the sender numbers it.",
    "notes 2.3 and 13 no. 12",
    (Vle("value", 16, "Index of the node in the sender's link state.", column="node_id", keeps=16),),
)  # fmt: skip

TIMESTAMP_STACK = Extension(
    "timestamp_stack", 7, ZBUF, False, "Where and when the message passed (since 1.10).", "notes 2.3",
    (
        Bits("configuration", (
            reserved(3, 5),
            Bit("on_receive", 2, "Stamp on reception.", says=("no", "stamp on receive")),
            Bit("on_route", 1, "Stamp when routed.", says=("no", "stamp on route")),
            Bit("on_send", 0, "Stamp when sent.", says=("no", "stamp on send")),
        ), "Where stamps are taken.", check="stamp_points"),
        Repeat("stamps", (
            Bits("point", (
                Bit("custom", 7, "Whether the stamp is the application's own.", says=("a timestamp", "custom bytes")),
                reserved(3, 4),
                Bit("received", 2, "Taken on reception.", says=("no", "taken on receive")),
                Bit("routed", 1, "Taken when routed.", says=("no", "taken on route")),
                Bit("sent", 0, "Taken when sent.", says=("no", "taken on send")),
            ), "Where this stamp was taken."),
            Group("stamp", STAMP_FIELDS, "The stamp.", when="not custom", length=64),
            Group("custom_stamp", (Rest("value", "Bytes of the application."),), "The application's own stamp.",
                  when="custom", length=64),
        ), Vle("count", 8, "Number of stamps."), "Stamps taken so far."),
    ),
    loose=ALWAYS,
)  # fmt: skip

SOURCE_INFO = Extension(
    "source_info",
    1,
    ZBUF,
    False,
    "Who made the sample.",
    "push#SourceInfo",
    entity("source", sequence=True),
    loose=ALWAYS,
)

RESPONDER_ID = Extension(
    "responder_id",
    3,
    ZBUF,
    False,
    "Who answered.",
    "reply#ResponderId",
    entity("responder", sequence=False),
    loose=ALWAYS,
)

SHM = Extension(
    "shm", 2, UNIT, True, "The payload is in shared memory.", "push#Shm",
)  # fmt: skip

PATCH = Extension(
    "patch", 7, Z64, False, "Level of protocol patches; 1 has fragment markers (since 1.0.4).", "notes 2.2",
    (Vle("value", 8, "Patch level; 0 is 1.0.0.", column="patch", keeps=8),),
)  # fmt: skip


def attachment(id: int, spec: str) -> Extension:
    """The application's attachment; its id differs between messages."""
    return Extension(
        "attachment", id, ZBUF, False, "Opaque bytes of the application.", spec, render="payload", column="attachment"
    )
