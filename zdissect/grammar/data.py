"""Data sub-messages: the bodies of PUSH, REQUEST and RESPONSE (message-reference#Data Sub-Messages, notes 7.1)."""

from zdissect.grammar import enums
from zdissect.grammar.extensions import SHM, SOURCE_INFO, attachment
from zdissect.grammar.flags import Z, flag, reserved
from zdissect.grammar.structures import BODY_ENCODING, ENCODING, T_STAMP, TIMESTAMP, slices
from zdissect.grammar.types import UNIT, ZBUF, Blob, Choice, Extension, Extensions, Message, Rest, Text, Vle

E = flag("E", 6, on="encoding present", off="no encoding: zenoh/bytes")
C = flag("C", 5, on="consolidation present", off="no consolidation: Auto")
CONSOLIDATION = Vle(
    "consolidation",
    64,
    "Which samples of a key are delivered.",
    when="C",
    enum=enums.CONSOLIDATION,
    column="consolidation",
)

PUT = Message(
    "PUT", 0x01, "data", "A value.", "push#PUT Data Sub-Message",
    (Z, E, T_STAMP),
    (
        TIMESTAMP, ENCODING,
        Extensions(SOURCE_INFO, SHM, attachment(3, "push#PUT Extensions")),
        slices("shm"),
        Blob("payload", 32, "The value.", when="not shm", render="payload", column="payload"),
    ),
)  # fmt: skip

PICO_ATTACHMENT = Extension(
    "pico_attachment", 3, ZBUF, False, "The attachment where zenoh-pico reads it.", "notes 13 no. 34",
    render="payload", column="attachment", yields_to="attachment",
)  # fmt: skip

DEL = Message(
    "DEL", 0x02, "data", "The deletion of a resource.", "push#DEL Data Sub-Message",
    (Z, reserved(6), T_STAMP),
    (TIMESTAMP, Extensions(SOURCE_INFO, attachment(2, "push#DEL Extensions"), PICO_ATTACHMENT)),
)  # fmt: skip

QUERY_BODY = Extension(
    "body", 3, ZBUF, False, "A value that goes with the query.", "query#QueryBody Extension; notes 13 no. 1 and 2",
    (
        BODY_ENCODING,
        slices("body_shm"),
        Rest("payload", "The value: the rest of the extension.", when="not body_shm", render="payload",
             column="payload"),
    ),
    loose="body_shm", mismatch="query-body-length",
)  # fmt: skip

QUERY = Message(
    "QUERY", 0x03, "data", "What is asked.", "query#QUERY Data Sub-Message",
    (Z, flag("P", 6, on="parameters present", off="no parameters"), C),
    (
        CONSOLIDATION,
        Text("parameters", 64, "Parameters of the selector, what comes after its `?`.", when="P",
             column="parameters"),
        Extensions(
            SOURCE_INFO,
            Extension("body_shm", 4, UNIT, False, "The body that follows is in shared memory.", "notes 13 no. 2",
                      before="body"),
            QUERY_BODY,
            attachment(5, "query#Attachment Extension"),
        ),
    ),
)  # fmt: skip

REPLY = Message(
    "REPLY", 0x04, "data", "A value that answers.", "reply#REPLY Data Sub-Message",
    (Z, reserved(6), C),
    (CONSOLIDATION, Extensions(), Choice("body", PUT, DEL, doc="The value, or the deletion.")),
)  # fmt: skip

ERR = Message(
    "ERR", 0x05, "data", "An error that answers.", "reply#ERR Data Sub-Message",
    (Z, E, reserved(5)),
    (
        ENCODING,
        Extensions(SOURCE_INFO, SHM),
        Blob("payload", 32, "The error.", render="payload", column="payload"),
    ),
)  # fmt: skip
