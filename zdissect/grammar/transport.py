"""Transport messages (message-reference#Transport Messages, notes 2 to 4)."""

from zdissect.grammar import enums
from zdissect.grammar.extensions import PATCH, TRANSPORT_QOS
from zdissect.grammar.flags import Z, flag, reserved
from zdissect.grammar.network import NETWORK
from zdissect.grammar.structures import BATCH_SIZE, PACKED, RESOLUTION, VERSION, lease, zid_nibble
from zdissect.grammar.types import (
    ALWAYS,
    UNIT,
    Z64,
    ZBUF,
    Bit,
    Blob,
    Choice,
    Extension,
    Extensions,
    Fixed,
    Message,
    Node,
    Repeat,
    Rest,
    Text,
    Vle,
)

A = flag("A", 5, on="acknowledges", off="opens")
S_SIZE = flag("S", 6, on="resolution and batch size present", off="default resolution and batch size")
R = Bit("R", 5, "Channel of the messages.", says=("best effort", "reliable"), column="reliability")

_PUBLIC_KEY: tuple[Node, ...] = (
    Blob("modulus", 64, "Modulus of the RSA key, little endian.", render="opaque"),
    Blob("exponent", 64, "Exponent of the RSA key, little endian.", render="opaque"),
)
SN_KEPT = 32
"""Bits of a sequence number that the Rust codec keeps, whatever the negotiated resolution (notes 1.9)."""
_NONCE = "Nonce, encrypted for the receiver."

AUTH_INIT = Extension(
    "auth", 3, ZBUF, False, "Authentication: a chain of extensions of its own.", "notes 2.3",
    (Extensions(
        Extension("public_key", 1, ZBUF, False, "Public key; in an answer also a nonce.", "notes 2.3",
                  (*_PUBLIC_KEY, Blob("nonce", 64, _NONCE, when="A", render="opaque"))),
        Extension("user_password", 2, UNIT, False, "The opener can authenticate by user and password.", "notes 2.3"),
        Extension("user_password_nonce", 2, Z64, False, "Challenge of the acceptor.", "notes 2.3",
                  (Vle("nonce", 64, "Nonce that the MAC is made with.", render="hex"),)),
        when="",
    ),),
)  # fmt: skip

AUTH_OPEN = Extension(
    "auth", 3, ZBUF, False, "Authentication: a chain of extensions of its own.", "notes 2.3",
    (Extensions(
        Extension("public_key", 1, ZBUF, False, "Answer to the challenge.", "notes 2.3",
                  (Blob("nonce", 64, _NONCE, render="opaque"),)),
        Extension("public_key_ack", 1, UNIT, False, "The answer was right.", "notes 2.3"),
        Extension("user_password", 2, ZBUF, False, "Who the opener is.", "notes 2.3", (
            Text("user", 64, "Name of the user.", any_bytes=True),
            Blob("mac", 64, "HMAC-SHA3-256 of the password; the key is the nonce, 8 bytes little endian.",
                 render="opaque"),
        )),
        Extension("user_password_ack", 2, UNIT, False, "User and password were right.", "notes 2.3"),
        when="",
    ),),
)  # fmt: skip

FIRST_PRIORITY = Bit("first", 3, "First priority of the range.", width=8, enum=enums.PRIORITY)
LAST_PRIORITY = Bit("last", 11, "Last priority of the range.", width=8, enum=enums.PRIORITY)
LINK_TAG = Bit("tag", 0, "What is stated.", width=3, enum=enums.QOS_LINK_TAG)

QOS_LINK = Extension(
    "qos_link", 1, Z64, False, "Priorities are supported; priority range and reliability of this link.", "notes 2.3",
    (Vle("value", 64, "What this link is for.", bits=(
        reserved(20, 44),
        Bit("reliable", 19, "Reliability of this link.", says=("best effort", "reliable")),
        LAST_PRIORITY, FIRST_PRIORITY, LINK_TAG,
    )),),
)  # fmt: skip

_LANES: tuple[Node, ...] = (
    Fixed("lanes", 1, "Whether each priority has its lane.", enum=enums.LANES),
    Repeat("lane_ids", (Vle("lane", 16, "Id of the lane of one priority.", keeps=16),), "8",
           "Lanes, Control to Background.", when="lanes"),
)  # fmt: skip

OAM = Message(
    "OAM", 0x00, "transport", "Operations, administration and management of the transport.",
    "message-reference#OAM (0x00)",
    (Z, Bit("enc", 5, "Encoding of the body.", width=2, enum=enums.ENC)),
    (
        Vle("id", 16, "What the body is about.", keeps=16),
        Extensions(TRANSPORT_QOS),
        Vle("value", 64, "Body, an integer.", when="enc == 1"),
        Blob("body", 64, "Body, bytes.", when="enc == 2", render="opaque"),
    ),
    path="transport_oam",
)  # fmt: skip

INIT = Message(
    "INIT", 0x01, "transport", "Opens a session: proposes or answers parameters.", "message-reference#INIT (0x01)",
    (Z, S_SIZE, A),
    (
        VERSION, PACKED, zid_nibble("zid"), RESOLUTION, BATCH_SIZE,
        Blob("cookie", 16, "State of the acceptor, to be returned in OPEN.", when="A", render="opaque",
             column="cookie"),
        Extensions(
            Extension("qos", 1, UNIT, False, "Priorities are supported.", "notes 2.2"),
            QOS_LINK,
            Extension("shm", 2, ZBUF, False, "Negotiates shared memory.", "notes 2.3", (
                Vle("segment", 32, "Authentication segment of the opener.", when="not A", keeps=32),
                Vle("challenge", 64, "Read from the opener's segment.", when="A", render="hex"),
                Vle("segment", 32, "Authentication segment of the acceptor.", when="A", keeps=32),
            )),
            AUTH_INIT,
            Extension("multilink", 4, ZBUF, False, "More links may join the session.", "notes 2.3",
                      (*_PUBLIC_KEY, Blob("nonce", 64, _NONCE, when="A", render="opaque"))),
            Extension("low_latency", 5, UNIT, False, "Wants the low-latency transport.", "notes 3.4"),
            Extension("compression", 6, UNIT, False, "Wants compressed batches.", "notes 3.2"),
            PATCH,
            Extension("region_name", 8, ZBUF, False, "Region of the sender (since 1.9).", "notes 2.2",
                      (Rest("name", "Name of the region.", text=True, check="region_name"),)),
        ),
    ),
    labels={"A": ("INIT_SYN", "INIT_ACK")},
)  # fmt: skip

OPEN = Message(
    "OPEN", 0x02, "transport", "Ends the handshake: lease and first sequence number of each side.",
    "message-reference#OPEN (0x02)",
    (Z, flag("T", 6, on="lease in seconds", off="lease in milliseconds"), A),
    (
        *lease(),
        Vle("initial_sn", 64, "First sequence number that the sender will use.", column="initial_sn", keeps=SN_KEPT),
        Blob("cookie", 64, "The cookie of INIT_ACK, returned.", when="not A", render="opaque", column="cookie"),
        Extensions(
            Extension("qos", 1, UNIT, False, "Defined, never sent.", "notes 2.2"),
            Extension("shm_challenge", 2, Z64, False, "Challenge or acknowledgement (up to 1.9).", "notes 2.3",
                      (Vle("value", 64, "What was read from the acceptor's segment; 1 in the answer.", render="hex"),)),
            Extension("shm", 2, ZBUF, False, "Challenge and lanes (since 1.10).", "notes 2.3", (
                Vle("challenge", 64, "Read from the acceptor's segment.", when="not A", render="hex"), *_LANES,
            )),
            AUTH_OPEN,
            Extension("multilink", 4, ZBUF, False, "Proves the key of the opener.", "notes 2.3",
                      (Blob("nonce", 64, _NONCE, render="opaque"),)),
            Extension("multilink_ack", 4, UNIT, False, "The link joined the session.", "notes 2.2"),
            Extension("low_latency", 5, UNIT, False, "Defined, never sent.", "notes 2.2"),
            Extension("compression", 6, UNIT, False, "Defined, never sent.", "notes 2.2"),
            Extension("remote_bound", 7, Z64, False, "Side of the gateway (since 1.9).", "notes 2.2",
                      (Vle("value", 8, "Side of the gateway.", enum=enums.BOUND, keeps=8),)),
        ),
    ),
    labels={"A": ("OPEN_SYN", "OPEN_ACK")},
)  # fmt: skip

CLOSE = Message(
    "CLOSE", 0x03, "transport", "Ends the link or the session.", "message-reference#CLOSE (0x03)",
    (Z, reserved(6), flag("S", 5, on="closes the session", off="closes this link")),
    (
        Fixed("reason", 1, "Why it ends.", enum=enums.CLOSE_REASON, column="close_reason"),
        Extensions(),
    ),
)  # fmt: skip

KEEP_ALIVE = Message(
    "KEEP_ALIVE", 0x04, "transport", "Says that the sender is alive.", "message-reference#KEEP_ALIVE (0x04)",
    (Z, reserved(5, 2)), (Extensions(),),
)  # fmt: skip

FRAME = Message(
    "FRAME", 0x05, "transport", "Carries network messages.", "message-reference#FRAME (0x05)",
    (Z, reserved(6), R),
    (
        Vle("sn", 64, "Sequence number in its channel and priority.", column="sn", keeps=SN_KEPT),
        Extensions(TRANSPORT_QOS),
        Choice("messages", *NETWORK, doc="Network messages, as many as follow.", many="while"),
    ),
)  # fmt: skip

FRAGMENT = Message(
    "FRAGMENT", 0x06, "transport", "Carries a piece of a network message.", "message-reference#FRAGMENT (0x06)",
    (Z, flag("M", 6, on="more fragments follow", off="last fragment"), R),
    (
        Vle("sn", 64, "Sequence number in its channel and priority.", column="sn", keeps=SN_KEPT),
        Extensions(
            TRANSPORT_QOS,
            Extension("first", 2, UNIT, False, "First fragment of a message (patch 1).", "notes 4.5"),
            Extension("drop", 3, UNIT, False, "The message was abandoned (patch 1).", "notes 4.5"),
        ),
        Rest("payload", "Bytes of the message, to the end of the batch.", render="opaque"),
    ),
)  # fmt: skip

JOIN = Message(
    "JOIN", 0x07, "transport", "Announces a member of a multicast group.", "message-reference#JOIN (0x07)",
    (Z, S_SIZE, flag("T", 5, on="lease in seconds", off="lease in milliseconds")),
    (
        VERSION, PACKED, zid_nibble("zid"), RESOLUTION, BATCH_SIZE, *lease(),
        Vle("next_sn_reliable", 64, "Next sequence number, reliable channel; 0 with QoS.", column="initial_sn",
            keeps=SN_KEPT),
        Vle("next_sn_best_effort", 64, "Next sequence number, best-effort channel; 0 with QoS.", keeps=SN_KEPT),
        Extensions(
            Extension("qos", 1, ZBUF, True, "Next sequence numbers of each priority.", "notes 2.2", (
                Repeat("priorities", (
                    Vle("next_sn_reliable", 64, "Next sequence number, reliable channel.", keeps=SN_KEPT),
                    Vle("next_sn_best_effort", 64, "Next sequence number, best-effort channel.", keeps=SN_KEPT),
                ), "8", "Control to Background."),
            ), loose=ALWAYS),
            Extension("shm", 2, ZBUF, True, "Defined, never sent.", "notes 2.3", render="opaque"),
            PATCH,
        ),
    ),
)  # fmt: skip

TRANSPORT = (OAM, INIT, OPEN, CLOSE, KEEP_ALIVE, FRAME, FRAGMENT, JOIN)
