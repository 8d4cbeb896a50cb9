"""Names of values, as the specification and the API spell them."""

from zdissect.grammar.types import Enum

WHATAMI = Enum("WhatAmI, two-bit form", {0: "router", 1: "peer", 2: "client"}, strict="invalid-value")
"""INIT, JOIN, HELLO (notes 1.8)."""

WHATAMI_MAP = Enum("WhatAmI, bitmap form", {1: "router", 2: "peer", 4: "client"}, strict="invalid-value")
"""Link state (notes 1.8)."""

WHAT = Enum(
    "roles asked for by SCOUT",
    {
        1: "router",
        2: "peer",
        3: "router|peer",
        4: "client",
        5: "router|client",
        6: "peer|client",
        7: "router|peer|client",
    },
    strict="scout-nothing",
)

RESOLUTION = Enum("resolution", {0: "8 bit", 1: "16 bit", 2: "32 bit", 3: "64 bit"})
"""Width of sequence numbers or request ids (notes 1.9)."""

DEFAULT_BITS = 32
"""The resolution where none is stated."""

SN_MASKS = (0x7F, 0x3FFF, 0x0FFFFFFF, 0xFFFFFFFF)
"""Mask of sequence numbers by resolution: smaller than the names say (notes 1.9)."""

PRIORITY = Enum(
    "priority",
    {
        0: "Control",
        1: "RealTime",
        2: "InteractiveHigh",
        3: "InteractiveLow",
        4: "DataHigh",
        5: "Data",
        6: "DataLow",
        7: "Background",
    },
)
DATA = 5
"""The priority of messages that don't state one."""

CLOSE_REASON = Enum(
    "close reason",
    {
        0: "GENERIC",
        1: "UNSUPPORTED",
        2: "INVALID",
        3: "MAX_SESSIONS",
        4: "MAX_LINKS",
        5: "EXPIRED",
        6: "UNRESPONSIVE",
        7: "CONNECTION_TO_SELF",
    },
    {
        0: "A normal end.",
        1: "Something isn't supported.",
        2: "A message or parameter was refused.",
        3: "The acceptor has as many sessions as it may.",
        4: "The session has as many links as it may.",
        5: "Nothing arrived for the lease.",
        6: "The other side doesn't answer (since 1.0).",
        7: "Both ends have the same ZenohID (since 1.6).",
    },
    strict="unknown-close-reason",
)

TARGET = Enum(
    "query target",
    {0: "BestMatching", 1: "All", 2: "AllComplete"},
    {
        0: "The single best-matching queryable (default).",
        1: "All matching queryables.",
        2: "All matching queryables that are complete.",
    },
    strict="invalid-value",
)

CONSOLIDATION = Enum(
    "consolidation",
    {0: "Auto", 1: "None", 2: "Monotonic", 3: "Latest"},
    {
        0: "As the queryables prefer (default).",
        1: "All samples as they are.",
        2: "No sample older than one already sent for its key.",
        3: "Only the newest sample of each key.",
    },
    strict="unknown-consolidation",
    otherwise="Auto",
)

MODE = Enum("interest mode", {0: "Final", 1: "Current", 2: "Future", 3: "CurrentFuture"})

ENC = Enum("encoding of the body", {0: "Unit", 1: "Z64", 2: "ZBuf"}, strict="reserved-encoding")

SLICE_KIND = Enum("slice", {0: "raw", 1: "SHM pointer"}, strict="invalid-value")

RANGED = 2
"""The bit of QOS_LINK_TAG that stands for a priority range."""

QOS_LINK_TAG = Enum(
    "QoSLink",
    {
        0: "no QoS",
        1: "QoS",
        2: "QoS with a priority range",
        4: "QoS with a reliability",
        6: "QoS with a priority range and a reliability",
    },
    strict="invalid-value",
)

BOUND = Enum("remote bound", {0: "north", 1: "south"})

LANES = Enum("SHM lanes", {0: "disabled", 1: "enabled"})

OAM_ID = Enum("OAM", {1: "link state"})

ENCODING = Enum(
    "encoding",
    {
        0: "zenoh/bytes",
        1: "zenoh/string",
        2: "zenoh/serialized",
        3: "application/octet-stream",
        4: "text/plain",
        5: "application/json",
        6: "text/json",
        7: "application/cdr",
        8: "application/cbor",
        9: "application/yaml",
        10: "text/yaml",
        11: "text/json5",
        12: "application/python-serialized-object",
        13: "application/protobuf",
        14: "application/java-serialized-object",
        15: "application/openmetrics-text",
        16: "image/png",
        17: "image/jpeg",
        18: "image/gif",
        19: "image/bmp",
        20: "image/webp",
        21: "application/xml",
        22: "application/x-www-form-urlencoded",
        23: "text/html",
        24: "text/xml",
        25: "text/css",
        26: "text/javascript",
        27: "text/markdown",
        28: "text/csv",
        29: "application/sql",
        30: "application/coap-payload",
        31: "application/json-patch+json",
        32: "application/json-seq",
        33: "application/jsonpath",
        34: "application/jwt",
        35: "application/mp4",
        36: "application/soap+xml",
        37: "application/yang",
        38: "audio/aac",
        39: "audio/flac",
        40: "audio/mp4",
        41: "audio/ogg",
        42: "audio/vorbis",
        43: "video/h261",
        44: "video/h263",
        45: "video/h264",
        46: "video/h265",
        47: "video/h266",
        48: "video/mp4",
        49: "video/ogg",
        50: "video/raw",
        51: "video/vp8",
        52: "video/vp9",
        65535: "(custom)",
    },
    strict="unknown-encoding",
)
"""Encoding ids (notes 1.5); 65535 means that the whole name is in the schema."""
