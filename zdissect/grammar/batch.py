"""What links carry in one piece: batches (notes 3) and scouting datagrams (notes 5)."""

from zdissect.grammar.flags import reserved
from zdissect.grammar.network import NETWORK
from zdissect.grammar.scouting import SCOUTING
from zdissect.grammar.transport import CLOSE, KEEP_ALIVE, TRANSPORT
from zdissect.grammar.types import Bit, Bits, Choice, Fixed, Group, Node, Rest, Unit

_CONTENT: tuple[Node, ...] = (
    Bits(
        "header",
        (reserved(1, 7), Bit("compressed", 0, "Whether the rest is one LZ4 block.", says=("plain", "compressed"))),
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
        KEEP_ALIVE,
        CLOSE,
        *NETWORK,
        doc="Network messages without a FRAME around them.",
        many="all",
        when="low_latency and not (compression and compressed)",
    ),
)

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
"""`prefix` is the size of the length prefix: 2 on streams, 4 on low-latency streams, 0 on datagrams."""

SCOUTING_DATAGRAM = Unit(
    "scouting",
    (Choice("messages", *SCOUTING, doc="Scouting messages.", many="all"),),
    "A scouting datagram.",
    "notes 5",
)

NETWORK_MESSAGE = Unit(
    "reassembled",
    (Choice("message", *NETWORK, doc="The message."),),
    "A network message put together from fragments.",
    "notes 4.5",
)
