"""Network messages (message-reference#Network Messages, notes 6 and 7)."""

from zdissect.grammar import enums
from zdissect.grammar.data import DEL, ERR, PUT, QUERY, REPLY
from zdissect.grammar.declarations import DECLARATIONS
from zdissect.grammar.extensions import NODE_ID, QOS, RESPONDER_ID, TIMESTAMP, TIMESTAMP_STACK
from zdissect.grammar.flags import Z, flag, reserved
from zdissect.grammar.structures import M, N, locators, wire_expr
from zdissect.grammar.types import (
    Z64,
    Bit,
    Bits,
    Blob,
    Choice,
    Extension,
    Extensions,
    Fixed,
    Group,
    Message,
    Repeat,
    Vle,
)

REQUEST_ID = Vle("request_id", 32, "Number of the request, chosen by the querier.", column="request_id")

INTEREST_OPTIONS = Bits("options", (
    Bit("A", 7, "Whether declarations may be merged.", says=("one by one", "aggregate")),
    Bit("M", 6, "Whose table the scope is looked up in.", column="key_mapping", under="R",
        says=("scope is in the receiver's mapping", "scope is in the sender's mapping")),
    Bit("N", 5, "Whether a suffix follows the scope.", says=("no suffix", "suffix present")),
    Bit("R", 4, "Whether the interest is restricted to a key expression.",
        says=("everything", "restricted to a key expression")),
    Bit("T", 3, "Liveliness tokens.", says=("no tokens", "tokens")),
    Bit("Q", 2, "Queryables.", says=("no queryables", "queryables")),
    Bit("S", 1, "Subscribers.", says=("no subscribers", "subscribers")),
    Bit("K", 0, "Key expressions.", says=("no key expressions", "key expressions")),
), "Kinds of declarations that are asked for, and on which keys.", when="mode != 0")  # fmt: skip

INTEREST = Message(
    "INTEREST", 0x19, "network", "Asks for declarations: existing ones, future ones, or both.",
    "message-reference#INTEREST (0x19)",
    (Z, Bit("mode", 5, "What is asked for; Final ends an interest.", width=2, enum=enums.MODE,
            column="interest_mode")),
    (
        Vle("id", 32, "Number of the interest, chosen by its sender.", column="interest_id", keeps=32),
        INTEREST_OPTIONS,
        *wire_expr("mode != 0 and R", "mode != 0 and R and N"),
        Extensions(QOS, TIMESTAMP, NODE_ID),
    ),
)  # fmt: skip

RESPONSE_FINAL = Message(
    "RESPONSE_FINAL", 0x1A, "network", "Ends the answers to a request.", "message-reference#RESPONSE_FINAL (0x1A)",
    (Z, reserved(5, 2)), (REQUEST_ID, Extensions(QOS, TIMESTAMP)),
)  # fmt: skip

RESPONSE = Message(
    "RESPONSE", 0x1B, "network", "One answer to a request.", "message-reference#RESPONSE (0x1B)",
    (Z, M, N),
    (
        REQUEST_ID, *wire_expr(),
        Extensions(QOS, TIMESTAMP, RESPONDER_ID, TIMESTAMP_STACK),
        Choice("body", REPLY, ERR, doc="The value, or an error."),
    ),
)  # fmt: skip

REQUEST = Message(
    "REQUEST", 0x1C, "network", "Asks the queryables of a key expression.", "message-reference#REQUEST (0x1C)",
    (Z, M, N),
    (
        REQUEST_ID, *wire_expr(),
        Extensions(
            QOS, TIMESTAMP, NODE_ID,
            Extension("target", 4, Z64, True, "Which queryables are asked.", "query#QueryTarget Extension",
                      (Vle("value", 64, "Which queryables are asked.", enum=enums.TARGET, column="target"),)),
            Extension("budget", 5, Z64, False, "How many answers are wanted at most.", "query#Budget Extension",
                      (Vle("value", 32, "Largest number of answers; not 0.", column="budget", check="budget",
                           keeps=32),)),
            Extension("timeout", 6, Z64, False, "How long the querier waits.", "query#Timeout Extension",
                      (Vle("value", 64, "Time until the querier gives up.", render="milliseconds",
                           column="timeout_ms"),)),
            TIMESTAMP_STACK,
        ),
        Choice("body", QUERY, PUT, DEL, doc="The query; zenoh-pico also reads PUT and DEL here.", refused=(PUT, DEL)),
    ),
)  # fmt: skip

PUSH = Message(
    "PUSH", 0x1D, "network", "Publishes a value, or a deletion, to a key expression.", "push#PUSH Network Message",
    (Z, M, N),
    (
        *wire_expr(),
        Extensions(QOS, TIMESTAMP, NODE_ID, TIMESTAMP_STACK),
        Choice("body", PUT, DEL, doc="The value, or the deletion."),
    ),
)  # fmt: skip

DECLARE = Message(
    "DECLARE", 0x1E, "network", "Declares or undeclares something.", "message-reference#DECLARE (0x1E)",
    (Z, reserved(6), flag("I", 5, on="answers an interest", off="answers no interest")),
    (
        Vle("interest_id", 32, "Number of the interest that is answered.", when="I", column="interest_id", keeps=32),
        Extensions(QOS, TIMESTAMP, NODE_ID),
        Choice("declaration", *DECLARATIONS, doc="What is declared or undeclared."),
    ),
)  # fmt: skip

_NODE_OPTIONS = Vle("options", 64, "What the entry says of the node.", bits=(
    reserved(5, 59),
    Bit("G", 4, "Whether it is a gateway (since 1.9).", says=("no gateway", "gateway")),
    Bit("H", 3, "Whether its links have weights.", says=("no weights", "link weights")),
    Bit("L", 2, "Whether its locators are given.", says=("no locators", "locators")),
    Bit("W", 1, "Whether its role is given.", says=("a router", "role given")),
    Bit("P", 0, "Whether its ZenohID is given.", says=("ZenohID given before", "ZenohID given")),
))  # fmt: skip

LINK_STATE = Group("link_state", (
    Repeat("nodes", (
        _NODE_OPTIONS,
        Vle("psid", 64, "Index of the node in the sender's graph."),
        Vle("sn", 64, "Version of the entry; the higher one counts."),
        Blob("zid", 64, "ZenohID of the node.", when="P", render="zid", check="zid"),
        Fixed("whatami", 1, "Role of the node.", when="W", enum=enums.WHATAMI_MAP),
        locators("Number of locators.", "L"),
        Repeat("links", (Vle("link", 64, "Index of a neighbour in the sender's graph."),),
               Vle("link_count", 64, "Number of links."), "Links of the node."),
        Repeat("weights", (Vle("weight", 16, "Weight of a link; 0 is unset (100).", keeps=16),), "link_count",
               "Weights, in the order of the links.", when="H"),
    ), Vle("count", 64, "Number of nodes."), "Nodes that the sender describes."),
), "What the sender knows of the network (notes 7.4).", when="enc == 2 and id == 1", length=64)  # fmt: skip

OAM = Message(
    "OAM", 0x1F, "network", "Operations, administration and management; the link state of routers and peers.",
    "message-reference#OAM (0x1F)",
    (Z, Bit("enc", 5, "Encoding of the body.", width=2, enum=enums.ENC)),
    (
        Vle("id", 16, "What the body is about.", enum=enums.OAM_ID, keeps=16),
        Extensions(QOS, TIMESTAMP),
        Vle("value", 64, "Body, an integer.", when="enc == 1"),
        LINK_STATE,
        Blob("body", 64, "Body, bytes.", when="enc == 2 and id != 1", render="opaque"),
    ),
)  # fmt: skip

NETWORK = (INTEREST, RESPONSE_FINAL, RESPONSE, REQUEST, PUSH, DECLARE, OAM)
