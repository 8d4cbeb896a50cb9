"""Wire expressions get the key that they stand for, if the capture tells it (notes 1.6 and 6.2)."""

from tests.conversation import Conversation
from tests.messages import (
    RECEIVER,
    SENDER,
    d_keyexpr,
    declare,
    entity,
    gone,
    interest,
    key,
    push,
    pushed,
    request,
    response,
    u_keyexpr,
)
from tests.observed import observed


def last(conversation: Conversation) -> str | None:
    """The key of the last message."""
    found = observed(conversation)
    assert not found.codes, found.located
    return found.keys[-1]


def declared(side: int = 0, text: str = "demo") -> Conversation:
    return Conversation().open().frame(side, declare(d_keyexpr(1, text)))


def test_scope_0_is_the_suffix_alone() -> None:
    assert last(Conversation().open().frame(0, push("demo/x"))) == "demo/x"


def test_each_mapping_in_each_direction() -> None:
    for declarer in (0, 1):
        assert last(declared(declarer).frame(declarer, push(1, "/x", SENDER))) == "demo/x"
        assert last(declared(declarer).frame(1 - declarer, push(1, "/x", RECEIVER))) == "demo/x"


def test_the_tables_of_both_sides_are_apart() -> None:
    conversation = declared(0, "zero").frame(1, declare(d_keyexpr(1, "one")))
    conversation.frame(0, push(1, "", SENDER), push(1, "", RECEIVER)).frame(
        1, push(1, "", SENDER), push(1, "", RECEIVER)
    )
    assert observed(conversation).keys[-4:] == ["zero", "one", "one", "zero"]


def test_no_slash_is_put_between_prefix_and_suffix() -> None:
    assert last(declared(text="demo/r").frame(0, push(1, "b/x"))) == "demo/rb/x"


def test_a_prefix_alone_is_a_key() -> None:
    assert last(declared().frame(0, push(1))) == "demo"


def test_wildcards_in_prefix_and_suffix() -> None:
    assert last(declared(text="demo/*").frame(0, declare(entity("SUBSCRIBER", 1, 1, "/**")))) == "demo/*/**"


def test_every_message_with_a_wire_expression_is_resolved() -> None:
    conversation = declared().frame(0, request(1, 1, "/q")).frame(1, response(1, 1, "/q", RECEIVER))
    conversation.frame(0, interest(1, S=1, R=1, N=1, M=1, scope=1, suffix="/i")).frame(
        0, declare(entity("TOKEN", 1, 1, "/t"))
    )
    assert observed(conversation).keys == ["demo", "demo/q", "demo/q", "demo/i", "demo/t"]


def test_a_freed_id_may_stand_for_something_else() -> None:
    conversation = declared().frame(0, declare(u_keyexpr(1)), declare(d_keyexpr(1, "other")))
    assert last(conversation.frame(0, push(1, "/x"))) == "other/x"


def test_a_late_use_still_has_the_old_key() -> None:
    found = observed(declared().frame(0, declare(u_keyexpr(1)), push(1, "/x")))
    assert (found.keys[-1], found.codes) == ("demo/x", ["scope-undeclared"])


def test_the_freed_key_is_told() -> None:
    assert observed(declared().frame(0, declare(u_keyexpr(1)))).of("U_KEYEXPR")[0]["key_expr"] == "demo"


def test_a_remapped_id_keeps_its_first_key() -> None:
    """As receivers do."""
    found = observed(declared().frame(0, declare(d_keyexpr(1, "other")), push(1, "/x")))
    assert (found.keys[-1], found.codes) == ("demo/x", ["expr-id-remapped"])


def test_a_declaration_may_have_a_prefix_of_the_senders_table() -> None:
    """As zenoh-pico writes it."""
    assert last(declared().frame(0, declare(d_keyexpr(2, 1, "/a")), push(2, "/x"))) == "demo/a/x"


def test_a_declaration_may_have_a_prefix_of_the_receivers_table() -> None:
    """As Rust reads it."""
    assert last(declared(1).frame(0, declare(d_keyexpr(2, 1, "/a")), push(2, "/x"))) == "demo/a/x"


def test_what_uses_an_unknown_prefix_stays_unknown() -> None:
    """The key is never invented, nor is that of what builds upon it."""
    conversation = Conversation(connect=False).frame(
        0, declare(d_keyexpr(2, 9, "/a")), push(2, "/x"), push(9, "/q"), sn=1
    )
    found = observed(conversation)
    assert found.keys == [None, None, None]
    assert not found.codes
    assert (found.rows[-1]["key_scope"], found.rows[-1]["key_suffix"]) == (9, "/q")


def test_the_frame_of_the_declaration_is_told() -> None:
    found = observed(declared().frame(0, push(1)))
    (declaration,), (use,) = found.of("D_KEYEXPR"), found.of("PUSH")
    assert use["key_frame"] == declaration["frame_number"]


def test_a_declaration_in_fragments_counts_from_its_last_one() -> None:
    conversation = declared().fragments(0, pushed("demo/big", bytes(100)), 3)
    assert last(conversation.frame(0, push(1, "/x"))) == "demo/x"


def test_undeclared_entities_are_named() -> None:
    for kind in ("SUBSCRIBER", "QUERYABLE", "TOKEN"):
        conversation = declared().frame(0, declare(entity(kind, 5, 1, "/e"))).frame(0, declare(gone(kind, 5)))
        (end,) = observed(conversation).of(f"U_{kind}")
        assert end["key_expr"] == "demo/e"


def test_an_undeclaration_may_name_its_key_itself() -> None:
    expr = {"ext": "wire_expr", **key(1, "/e")}
    conversation = declared().frame(0, declare(entity("TOKEN", 5, 1, "/e"))).frame(0, declare(gone("TOKEN", 5, expr)))
    assert observed(conversation).of("U_TOKEN")[0]["key_expr"] == "demo/e"


def test_a_null_key_in_an_undeclaration_means_nothing() -> None:
    null = {"ext": "wire_expr", "M": 0, "scope": 0}
    conversation = declared().frame(0, declare(entity("TOKEN", 5, 1, "/e"))).frame(0, declare(gone("TOKEN", 5, null)))
    assert observed(conversation).of("U_TOKEN")[0]["key_expr"] == "demo/e"
    late = Conversation(connect=False).frame(0, declare(gone("TOKEN", 5, null)), sn=1)
    assert "key_expr" not in observed(late).of("U_TOKEN")[0]
