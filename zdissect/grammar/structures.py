"""Structures that several messages and extensions share (notes 1.3 to 1.7, 2.3)."""

from zdissect.grammar import enums
from zdissect.grammar.flags import flag, reserved
from zdissect.grammar.types import Bit, Bits, Blob, Fixed, Group, Node, Repeat, Text, Vle

N = flag("N", 5, on="suffix present", off="no suffix")
M = Bit(
    "M",
    6,
    "Whose table of declared key expressions the scope is looked up in.",
    says=("scope is in the receiver's mapping", "scope is in the sender's mapping"),
    column="key_mapping",
)
T_STAMP = flag("T", 5, on="timestamp present", off="no timestamp")


def wire_expr(scope_when: str = "", suffix_when: str = "N") -> tuple[Node, ...]:
    """Scope and suffix of a wire expression (notes 1.6)."""
    return (
        Vle(
            "scope",
            16,
            "Declared id of the prefix of the key expression; 0 is the global scope.",
            when=scope_when,
            column="key_scope",
        ),
        Text("suffix", 16, "Text after the prefix.", when=suffix_when, column="key_suffix"),
    )


def _stamp(column: str) -> tuple[Node, ...]:
    """Time and clock id of a timestamp (notes 1.4)."""
    time = "NTP64: seconds since 1970 UTC in bits 63..32, binary fraction below."
    clock = "Id of the clock: the ZenohID of the session that stamped it."
    return (
        Vle("time", 64, time, render="ntp64", column=f"{column}_ntp64" if column else ""),
        Blob("id", 64, clock, render="zid", column=f"{column}_id" if column else "", check="zid"),
    )


STAMP_FIELDS = _stamp("")
"""A timestamp that isn't the sample's own."""

TIMESTAMP = Group("timestamp", _stamp("timestamp"), "When the sample was made, by the clock of its source.", when="T")

ENCODING = Group(
    "encoding",
    (
        Vle(
            "value",
            32,
            "Id of the encoding and whether a schema follows.",
            render="encoding",
            column="encoding_value",
            keeps=17,
            bits=(
                Bit("S", 0, "Whether a schema follows.", says=("no schema", "schema follows")),
                Bit("id", 1, "Id of the encoding.", width=31, enum=enums.ENCODING, column="encoding_id"),
            ),
        ),
        Text(
            "schema",
            8,
            "Details of the encoding, such as a charset or type.",
            when="S",
            column="encoding_schema",
            any_bytes=True,
        ),
    ),
    "How to read the payload.",
    when="E",
)

BODY_ENCODING = Group("encoding", ENCODING.fields, "How to read the body.")
"""The encoding of a query body, which is always there."""


def zid_nibble(column: str, doc: str = "ZenohID of the sender.", when: str = "") -> Fixed:
    """A ZenohID whose length is in a packed byte in front (notes 1.3, nibble form)."""
    return Fixed("zid", "zid_len + 1", doc, when=when, raw=True, render="zid", column=column, check="zid")


ZID_LEN = Bit("zid_len", 4, "Length of the ZenohID in bytes, minus 1.", width=4, plus=1)

PACKED = Bits(
    "packed",
    (ZID_LEN, reserved(2, 2), Bit("whatami", 0, "Role of the sender.", width=2, enum=enums.WHATAMI, column="whatami")),
    "Length of the ZenohID and role of the sender.",
)


def entity(prefix: str, *, sequence: bool) -> tuple[Node, ...]:
    """SourceInfo (with a sequence number) and ResponderId (without) (notes 2.3)."""
    fields: tuple[Node, ...] = (
        Bits("packed", (ZID_LEN, reserved(0, 4)), "Length of the ZenohID."),
        zid_nibble(f"{prefix}_zid", "ZenohID of the node."),
        Vle("eid", 32, "Number of the entity in its session.", column=f"{prefix}_eid", keeps=32),
    )
    number = Vle("sn", 32, "Sequence number of the sample at its source.", column=f"{prefix}_sn", keeps=32)
    return (*fields, number) if sequence else fields


RESOLUTION = Bits(
    "resolution",
    (
        reserved(4, 4),
        Bit("rid", 2, "Width of request ids.", width=2, enum=enums.RESOLUTION, column="resolution_rid"),
        Bit("fsn", 0, "Width of sequence numbers.", width=2, enum=enums.RESOLUTION, column="resolution_sn"),
    ),
    "Widths of request ids and sequence numbers.",
    when="S",
)

DEFAULT_BATCH_SIZE, DEFAULT_MULTICAST_BATCH_SIZE = 65535, 8192
"""Batch sizes of an INIT and of a JOIN that don't state one (notes 4.1). The first is also the largest possible."""

BATCH_SIZE = Fixed(
    "batch_size",
    2,
    "Largest batch that the sender accepts, in bytes.",
    when="S",
    render="bytes",
    column="batch_size",
)

VERSION = Fixed(
    "version", 1, "Protocol version; 0x09 since Zenoh 1.0.", render="hex", column="version", check="version"
)


def lease() -> tuple[Node, ...]:
    """How long the sender may stay silent; the flag T gives its unit."""
    doc = "How long the sender may stay silent before its link counts as dead."
    return (
        Vle("lease", 64, doc, when="T", render="seconds", column="lease_ms", scale=1000),
        Vle("lease", 64, doc, when="not T", render="milliseconds", column="lease_ms"),
    )


def locators(count_doc: str, when: str) -> Repeat:
    """A list of locators (notes 1.7)."""
    doc = "Where the node can be reached: protocol/address[?metadata]."
    item = Text("locator", 8, doc, column="locators", check="locator")
    return Repeat("locators", (item,), Vle("count", 64, count_doc), "Where the node can be reached.", when=when)


def slices(when: str) -> Repeat:
    """A sliced payload: data, or pointers into shared memory (notes 2.3)."""
    pointer = Group(
        "pointer",
        (
            Vle("data_length", 64, "Length of the data in shared memory, bytes.", check="data_length"),
            Vle("segment", 16, "Metadata segment.", keeps=16),
            Vle("index", 16, "Index in the metadata segment.", keeps=16),
            Vle("generation", 32, "Generation of the buffer.", keeps=32),
        ),
        "Where the data is in shared memory; the data isn't on the wire.",
        when="kind == 1",
        length=32,
    )
    return Repeat(
        "slices",
        (
            Fixed("kind", 1, "What the slice holds.", enum=enums.SLICE_KIND),
            Blob("raw", 32, "Bytes of the payload.", when="kind != 1", render="payload"),
            pointer,
        ),
        Vle("count", 64, "Number of slices."),
        "The payload in slices, some of them in shared memory.",
        when=when,
    )
