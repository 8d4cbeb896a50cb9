"""Rules of entities and interests (notes 9 no. 43 and 46 to 51)."""

from tests.conversation import CLIENT, OTHER_PEER, OTHER_ROUTER, PEER, ROUTER, Conversation
from tests.messages import d_keyexpr, declare, entity, final, gone, interest, u_keyexpr
from tests.session.cases import ERROR, NOTE, WARNING, case


@case("undeclare-unknown", WARNING, "DECLARE", "u_keyexpr.expr_id", b"\x02")
def an_id_is_freed_that_stands_for_nothing(fault: bool) -> Conversation:
    return Conversation().open().frame(0, declare(d_keyexpr(1, "demo"))).frame(0, declare(u_keyexpr(2 if fault else 1)))


@case("undeclare-unknown", WARNING, "DECLARE", "declare.header")
def a_token_ends_that_never_was(fault: bool) -> Conversation:
    """Ids are numbered for each kind."""
    conversation = Conversation().open().frame(0, declare(entity("SUBSCRIBER" if fault else "TOKEN", 3)))
    return conversation.frame(0, declare(gone("TOKEN", 3)))


@case("undeclare-unknown", WARNING, "DECLARE", "declare.header")
def a_subscriber_ends_twice(fault: bool) -> Conversation:
    conversation = (
        Conversation().open().frame(0, declare(entity("SUBSCRIBER", 3))).frame(0, declare(gone("SUBSCRIBER", 3)))
    )
    return conversation.frame(0, declare(gone("SUBSCRIBER", 3))) if fault else conversation


@case("entity-remapped", WARNING, "DECLARE", "declare.header")
def a_living_queryable_gets_another_key(fault: bool) -> Conversation:
    """The same key again is an update."""
    conversation = Conversation().open().frame(0, declare(entity("QUERYABLE", 3, "demo/x")))
    return conversation.frame(0, declare(entity("QUERYABLE", 3, "demo/y" if fault else "demo/x")))


@case("final-without-interest", ERROR, "DECLARE", "d_final.header", b"\x1a")
def an_end_of_no_interest(fault: bool) -> Conversation:
    return Conversation().open().frame(0, interest(1)).frame(1, final(None if fault else 1))


@case("unknown-interest", WARNING, "DECLARE", "declare.interest_id", b"\x02")
def an_answer_to_no_interest(fault: bool) -> Conversation:
    return (
        Conversation()
        .open()
        .frame(0, interest(1))
        .frame(1, declare(entity("SUBSCRIBER", 1), interest=2 if fault else 1))
    )


@case("second-interest-final", WARNING, "DECLARE", "declare.interest_id", b"\x01")
def the_end_of_an_interest_comes_again(fault: bool) -> Conversation:
    conversation = Conversation().open().frame(0, interest(1)).frame(1, final(1))
    return conversation.frame(1, final(1)) if fault else conversation


@case("second-interest-final", WARNING, "DECLARE", "declare.interest_id", b"\x00")
def the_first_declarations_end_twice(fault: bool) -> Conversation:
    """Peers end the interest 0, which nobody declares, once when a session starts."""
    conversation = Conversation(nodes=(PEER, OTHER_PEER)).open().frame(1, final(0)).frame(0, final(0))
    return conversation.frame(0, final(0)) if fault else conversation


@case("declaration-after-final", WARNING, "DECLARE", "declare.interest_id", b"\x01")
def an_answer_after_the_end(fault: bool) -> Conversation:
    conversation = Conversation().open().frame(0, interest(1)).frame(1, final(1))
    return conversation.frame(1, declare(entity("SUBSCRIBER", 1), interest=1 if fault else None))


@case("interest-mode", NOTE, "INTEREST", "interest.options", b"\x02")
def an_interest_in_the_subscribers_of_now(fault: bool) -> Conversation:
    kinds = {"S": 1} if fault else {"T": 1}
    return Conversation().open().frame(0, interest(1, "Current", **kinds))


@case("interest-aggregate", ERROR, "INTEREST", "interest.options", b"\x88")
def tokens_merged(fault: bool) -> Conversation:
    kinds = {"T": 1} if fault else {"S": 1}
    return Conversation().open().frame(0, interest(1, A=1, **kinds))


@case("interest-empty", WARNING, "INTEREST", "interest.options", b"\x00")
def an_interest_in_nothing(fault: bool) -> Conversation:
    return Conversation().open().frame(0, interest(1, S=int(not fault)))


@case("interest-flags", WARNING, "INTEREST", "interest.options", b"\x42")
def a_mapping_without_a_key(fault: bool) -> Conversation:
    expr = {"M": 1} if fault else {"M": 1, "R": 1, "N": 1, "scope": 0, "suffix": "demo"}
    return Conversation().open().frame(0, interest(1, S=1, **expr))


@case("interest-unanswered", WARNING, "KEEP_ALIVE", "keep_alive.header")
def nobody_ends_an_interest(fault: bool) -> Conversation:
    """Only one in what is there now is ended; one in what will be may stay open for ever."""
    return Conversation().open().frame(0, interest(1, "CurrentFuture" if fault else "Future")).idle(11)


@case("entity-remapped", WARNING, "DECLARE", "declare.header")
def the_entity_0_of_a_client_gets_another_key(fault: bool) -> Conversation:
    """Between routers 0 is no id: entities are told by their keys there."""
    nodes = (CLIENT if fault else OTHER_ROUTER, ROUTER)
    conversation = Conversation(nodes=nodes).open().frame(0, declare(entity("SUBSCRIBER", 0, "demo/x")))
    return conversation.frame(0, declare(entity("SUBSCRIBER", 0, "demo/y")))


@case("undeclare-unknown", WARNING, "DECLARE", "declare.header")
def a_router_undeclares_another_key(fault: bool) -> Conversation:
    """Between routers an undeclaration has id 0, and names the key."""
    conversation = Conversation(nodes=(OTHER_ROUTER, ROUTER)).open()
    for name in ("demo/x", "demo/y"):
        conversation.frame(0, declare(entity("SUBSCRIBER", 0, name)))
    expr = {"ext": "wire_expr", "N": 1, "M": 1, "scope": 0, "suffix": "demo/z" if fault else "demo/x"}
    return conversation.frame(0, declare(gone("SUBSCRIBER", 0, expr)))


@case("interest-final-unknown", WARNING, "INTEREST", "interest.id", b"\x02")
def an_interest_ends_that_never_was(fault: bool) -> Conversation:
    return Conversation().open().frame(0, interest(1)).frame(0, interest(2 if fault else 1, "Final"))


@case("interest-role", WARNING, "INTEREST", "interest.header")
def a_router_is_interested_in_a_router(fault: bool) -> Conversation:
    return Conversation(nodes=(OTHER_ROUTER if fault else PEER, ROUTER)).open().frame(0, interest(1))
