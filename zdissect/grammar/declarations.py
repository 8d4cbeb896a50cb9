"""Declaration bodies (notes 6.1). The chain of a declaration stands after its fields, that of DECLARE before it."""

from zdissect.grammar.flags import Z, reserved
from zdissect.grammar.structures import M, N, wire_expr
from zdissect.grammar.types import Z64, ZBUF, Bit, Bits, Extension, Extensions, Message, Node, Rest, Vle

EXPR_ID = "Id that stands for the key expression from now on."
ENTITY_ID = "Number of the entity, chosen by the node that declares it."

DISTANCE = Bit("distance", 8, "Hops to the queryable.", width=16)

QUERYABLE_INFO = Extension(
    "queryable_info", 1, Z64, False, "Completeness and distance; absent means not complete, 0.", "notes 2.2",
    (Vle("value", 64, "Completeness and distance.", bits=(
        reserved(24, 40),
        DISTANCE,
        reserved(1, 7),
        Bit("complete", 0, "Whether it answers for all keys of its expression.", says=("not complete", "complete")),
    )),),
)  # fmt: skip

WIRE_EXPR = Extension(
    "wire_expr", 0xF, ZBUF, True, "Key expression of what is undeclared; null where the id is enough.",
    "notes 2.3 and 13 no. 23",
    (
        Bits("flags", (
            reserved(2, 6),
            Bit("M", 1, M.doc, says=M.says, column="key_mapping"),
            Bit("N", 0, N.doc, says=N.says),
        ), "How the key expression is written."),
        Vle("scope", 16, "Declared id of the prefix; 0 is the global scope.", column="key_scope", keeps=16),
        Rest("suffix", "Text after the prefix, to the end.", when="N", text=True, column="key_suffix", check="suffix"),
    ),
)  # fmt: skip


def _declares(name: str, id: int, what: str, *known: Extension) -> Message:
    """D_SUBSCRIBER, D_QUERYABLE, D_TOKEN: an entity on a key expression."""
    fields: tuple[Node, ...] = (
        Vle("id", 32, ENTITY_ID, column="entity_id", keeps=32),
        *wire_expr(),
        Extensions(*known),
    )
    return Message(name, id, "declaration", f"Declares {what}.", "notes 6.1", (Z, M, N), fields)


def _undeclares(name: str, id: int, what: str) -> Message:
    """U_SUBSCRIBER, U_QUERYABLE, U_TOKEN: the end of an entity."""
    fields: tuple[Node, ...] = (Vle("id", 32, ENTITY_ID, column="entity_id", keeps=32), Extensions(WIRE_EXPR))
    flags = (Z, reserved(5, 2))
    return Message(name, id, "declaration", f"Undeclares {what}.", "notes 6.1", flags, fields)


D_KEYEXPR = Message(
    "D_KEYEXPR", 0x00, "declaration", "Gives a key expression an id.", "notes 6.1 and 6.2",
    (Z, reserved(6), N),
    (Vle("expr_id", 16, EXPR_ID, column="expr_id", check="expr_id", keeps=16), *wire_expr(), Extensions()),
)  # fmt: skip

U_KEYEXPR = Message(
    "U_KEYEXPR", 0x01, "declaration", "Frees the id of a key expression.", "notes 6.1",
    (Z, reserved(5, 2)),
    (Vle("expr_id", 16, "Id that stands for nothing from now on.", column="expr_id", keeps=16), Extensions()),
)  # fmt: skip

D_FINAL = Message(
    "D_FINAL", 0x1A, "declaration", "Ends the answer to an interest.", "notes 6.1 and 6.3",
    (Z, reserved(5, 2)), (Extensions(),),
)  # fmt: skip

DECLARATIONS = (
    D_KEYEXPR,
    U_KEYEXPR,
    _declares("D_SUBSCRIBER", 0x02, "a subscriber"),
    _undeclares("U_SUBSCRIBER", 0x03, "a subscriber"),
    _declares("D_QUERYABLE", 0x04, "a queryable", QUERYABLE_INFO),
    _undeclares("U_QUERYABLE", 0x05, "a queryable"),
    _declares("D_TOKEN", 0x06, "a liveliness token"),
    _undeclares("U_TOKEN", 0x07, "a liveliness token"),
    D_FINAL,
)
