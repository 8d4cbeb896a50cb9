"""The unit of a serial line: a frame, once its COBS encoding is removed (notes 3.6)."""

from zdissect.grammar.flags import reserved
from zdissect.grammar.transport import TRANSPORT
from zdissect.grammar.types import Bit, Bits, Choice, Fixed, Group, Unit

DELIMITER = b"\0"
"""The delimiter of frames."""
CRC_POLYNOMIAL = 0x04C11DB7
"""The polynomial of the usual CRC-32, but used as if it were reflected (notes 3.6)."""

LINK_HEADER = Bits(
    "header",
    (
        reserved(3, 5),
        Bit("reset", 2, "The link must be set up again.", says=("no reset", "resets the link")),
        Bit("ack", 1, "Answers an init.", says=("no answer", "acknowledges")),
        Bit("init", 0, "Sets the link up.", says=("data", "sets up the link")),
    ),
    "Kind of the frame; older senders have none.",
    when="kind",
)

SERIAL_FRAME = Unit(
    "serial",
    (
        LINK_HEADER,
        Fixed("length", 2, "Length of the data, bytes.", render="bytes"),
        Group(
            "",
            (Choice("messages", *TRANSPORT, doc="Transport messages, to the end of the data.", many="all"),),
            "Data of the frame: a batch.",
            size="length",
        ),
        Fixed("crc", 4, "CRC of the data; not the usual CRC-32.", render="hex"),
    ),
    "A frame of a serial line, without its COBS encoding.",
    "notes 3.6",
    inputs=("kind",),
)
"""`kind` says whether the frame begins with the header byte (1) or, as older senders wrote it, with the length (0)."""
