"""Rules of key expressions (notes 9 no. 41, 42, 44 and 45)."""

from tests.conversation import Conversation
from tests.messages import RECEIVER, SENDER, d_keyexpr, declare, entity, interest, push, request, response, u_keyexpr
from tests.session.cases import ERROR, NOTE, case


def declared(side: int = 0, text: str = "demo") -> Conversation:
    """A session where a side has declared id 1."""
    return Conversation().open().frame(side, declare(d_keyexpr(1, text)))


@case("unknown-scope", ERROR, "PUSH", "push.scope", b"\x02")
def a_scope_that_nobody_declared(fault: bool) -> Conversation:
    return declared().frame(0, push(2 if fault else 1, "/x"))


@case("unknown-scope", ERROR, "PUSH", "push.scope", b"\x01")
def a_scope_in_the_other_table(fault: bool) -> Conversation:
    return declared().frame(0, push(1, "/x", RECEIVER if fault else SENDER))


@case("unknown-scope", ERROR, "DECLARE", "d_subscriber.scope", b"\x02")
def a_subscriber_on_an_unknown_scope(fault: bool) -> Conversation:
    return declared().frame(0, declare(entity("SUBSCRIBER", 1, 2 if fault else 1)))


@case("unknown-scope", ERROR, "INTEREST", "interest.scope", b"\x02")
def an_interest_in_an_unknown_scope(fault: bool) -> Conversation:
    return declared().frame(0, interest(1, S=1, R=1, M=1, scope=2 if fault else 1))


@case("scope-undeclared", ERROR, "PUSH", "push.scope", b"\x01")
def a_scope_that_was_freed(fault: bool) -> Conversation:
    conversation = declared().frame(0, declare(u_keyexpr(1)))
    if not fault:
        conversation.frame(0, declare(d_keyexpr(1, "demo")))
    return conversation.frame(0, push(1, "/x"))


@case("expr-id-remapped", ERROR, "DECLARE", "d_keyexpr.expr_id", b"\x01")
def an_id_gets_another_key(fault: bool) -> Conversation:
    """The same key again does no harm."""
    return declared().frame(0, declare(d_keyexpr(1, "other" if fault else "demo")))


@case("expr-id-remapped", ERROR, "DECLARE", "d_keyexpr.expr_id", b"\x01")
def an_id_gets_another_key_while_it_is_alive(fault: bool) -> Conversation:
    conversation = declared()
    if not fault:
        conversation.frame(0, declare(u_keyexpr(1)))
    return conversation.frame(0, declare(d_keyexpr(1, "other")))


@case("scope-ambiguous", NOTE, "DECLARE", "d_keyexpr.scope", b"\x01")
def a_declaration_with_a_prefix_that_both_sides_know(fault: bool) -> Conversation:
    conversation = declared().frame(1, declare(d_keyexpr(1, "other" if fault else "demo")))
    return conversation.frame(0, declare(d_keyexpr(2, 1, "/x")))


@case("invalid-keyexpr", ERROR, "PUSH", "push.suffix")
def a_key_with_an_empty_chunk(fault: bool) -> Conversation:
    """Only the whole of prefix and suffix can be judged."""
    return declared().frame(0, push(1, "//x" if fault else "/x"))


@case("invalid-keyexpr", ERROR, "DECLARE", "d_subscriber.suffix")
def a_key_that_isnt_canonical(fault: bool) -> Conversation:
    return Conversation().open().frame(0, declare(entity("SUBSCRIBER", 1, "a/**/*" if fault else "a/*/**")))


@case("invalid-keyexpr", ERROR, "DECLARE", "d_keyexpr.suffix")
def a_declared_key_that_ends_with_a_slash(fault: bool) -> Conversation:
    return Conversation().open().frame(0, declare(d_keyexpr(1, "demo/" if fault else "demo")))


@case("wildcard-reply", NOTE, "RESPONSE", "response.suffix")
def an_answer_with_a_wildcard(fault: bool) -> Conversation:
    return Conversation().open().frame(0, request(1, "demo/**")).frame(1, response(1, "demo/*" if fault else "demo/x"))


@case("keyexpr-in-use", NOTE, "DECLARE", "u_keyexpr.expr_id", b"\x01")
def an_id_is_freed_that_a_subscriber_was_declared_with(fault: bool) -> Conversation:
    expr = (1, "/x") if fault else ("demo/x", "")
    return declared().frame(0, declare(entity("SUBSCRIBER", 5, *expr))).frame(0, declare(u_keyexpr(1)))
