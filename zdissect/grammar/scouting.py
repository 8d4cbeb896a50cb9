"""Scouting messages (notes 5). They stand alone in a datagram; their ids are those of INIT and OPEN, so only the
conversation tells them apart."""

from zdissect.grammar import enums
from zdissect.grammar.flags import Z, flag, reserved
from zdissect.grammar.structures import PACKED, VERSION, ZID_LEN, locators, zid_nibble
from zdissect.grammar.types import Bit, Bits, Extensions, Message

SCOUT = Message(
    "SCOUT", 0x01, "scouting", "Asks which nodes are there.", "notes 5",
    (Z, reserved(5, 2)),
    (
        VERSION,
        Bits("packed", (
            ZID_LEN,
            flag("I", 3, on="ZenohID present", off="no ZenohID"),
            Bit("what", 0, "Roles that are asked for.", width=3, enum=enums.WHAT, column="whatami"),
        ), "Length of the ZenohID and roles that are asked for."),
        zid_nibble("zid", when="I"),
        Extensions(tolerant=True),
    ),
)  # fmt: skip

HELLO = Message(
    "HELLO", 0x02, "scouting", "Answers a SCOUT: a node's identity and locators.", "notes 5",
    (Z, reserved(6), flag("L", 5, on="locators present", off="no locators: the source address is the locator")),
    (VERSION, PACKED, zid_nibble("zid"), locators("Number of locators.", "L"), Extensions(tolerant=True)),
)  # fmt: skip

SCOUTING = (SCOUT, HELLO)
