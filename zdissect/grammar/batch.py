"""The units that links carry: batches (notes 3) and scouting datagrams (notes 5)."""

from zdissect.grammar.flags import reserved
from zdissect.grammar.network import NETWORK
from zdissect.grammar.scouting import SCOUTING
from zdissect.grammar.transport import CLOSE, KEEP_ALIVE, TRANSPORT
from zdissect.grammar.types import Bit, Bits, Choice, Fixed, Group, Node, Rest, Unit

COMPRESSED = Bit("compressed", 0, "Whether the rest is one LZ4 block.", says=("plain", "compressed"))

LOW_LATENCY = (KEEP_ALIVE, CLOSE, *NETWORK)
"""The messages that low-latency batches hold."""

_CONTENT: tuple[Node, ...] = (
    Bits(
        "header",
        (reserved(1, 7), COMPRESSED),
        "Header of a batch where compression was negotiated.",
        when="compression",
    ),
    Rest("compressed_data", "One LZ4 block.", when="compression and compressed", render="opaque"),
    Choice(
        "messages",
        *TRANSPORT,
        doc="Transport messages, to the end of the batch.",
        many="all",
        when="not low_latency and not (compression and compressed)",
    ),
    Choice(
        "messages",
        *LOW_LATENCY,
        doc="Network messages without a FRAME around them.",
        many="all",
        when="low_latency and not (compression and compressed)",
    ),
)

STREAM_PREFIX, LOW_LATENCY_PREFIX = 2, 4
"""Bytes of the length prefix on streams, and on low-latency streams; datagrams have none."""

BATCH = Unit(
    "batch",
    (
        Fixed("length", "prefix", "Length of the batch without this prefix, bytes.", when="prefix", render="bytes"),
        Group("", _CONTENT, "Content of the batch.", when="prefix", size="length"),
        Group("", _CONTENT, "Content of the batch.", when="not prefix"),
    ),
    "A batch: transport messages that travel together.",
    "notes 3.1 to 3.4",
    inputs=("prefix", "compression", "low_latency"),
)
"""`prefix` is the size of the length prefix."""

SCOUTING_DATAGRAM = Unit(
    "scouting",
    (Choice("messages", *SCOUTING, doc="Scouting messages.", many="all"),),
    "A scouting datagram.",
    "notes 5",
)

NETWORK_MESSAGE = Unit(
    "reassembled",
    (Choice("message", *NETWORK, doc="The message."),),
    "A network message reassembled from fragments.",
    "notes 4.5",
)
