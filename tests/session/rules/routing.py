"""Rules of link states, NodeId and shared memory (notes 9 no. 52 to 55)."""

from tests.conversation import CLIENT, OTHER_ROUTER, ROUTER, Conversation
from tests.messages import declare, entity, link_state, node, push
from tests.session.cases import ERROR, WARNING, case

ROUTERS = (OTHER_ROUTER, ROUTER)
VIA_1 = [{"ext": "node_id", "value": 1}]


@case("node-id-client", WARNING, "PUSH", "push.ext_node_id")
def node_id_on_the_way_to_a_client(fault: bool) -> Conversation:
    conversation = (
        Conversation(nodes=(CLIENT if fault else OTHER_ROUTER, ROUTER)).open().frame(1, link_state(node(1, b"\x07")))
    )
    return conversation.frame(1, push(extensions=VIA_1))


@case("node-id-unknown", WARNING, "PUSH", "push.ext_node_id")
def a_node_that_the_sender_didnt_tell_of(fault: bool) -> Conversation:
    """Each side numbers the nodes for itself."""
    conversation = Conversation(nodes=ROUTERS).open().frame(0 if fault else 1, link_state(node(1, b"\x07")))
    return conversation.frame(1, push(extensions=VIA_1))


@case("far-queryable", WARNING, "DECLARE", "d_queryable.ext_queryable_info.value")
def a_queryable_hundreds_of_hops_away(fault: bool) -> Conversation:
    info = {"ext": "queryable_info", "distance": 300 if fault else 3, "complete": 0}
    return Conversation().open().frame(1, declare(entity("QUERYABLE", 1, extensions=[info])))


@case("psid-unknown", WARNING, "OAM", "oam.link_state.nodes.whatami")
def a_node_whose_zid_was_never_told(fault: bool) -> Conversation:
    conversation = Conversation(nodes=ROUTERS).open().frame(0, link_state(node(0, b"\x07"), node(1, b"\x08")))
    return conversation.frame(0, link_state(node(2 if fault else 1, version=2)))


@case("link-state-old", WARNING, "OAM", "oam.link_state.nodes.sn", b"\x01")
def an_entry_that_is_older_than_before(fault: bool) -> Conversation:
    conversation = Conversation(nodes=ROUTERS).open().frame(0, link_state(node(0, b"\x07", version=2 if fault else 0)))
    return conversation.frame(0, link_state(node(0, version=1)))


@case("shm-unnegotiated", ERROR, "PUSH", "push.header")
def a_payload_in_shared_memory(fault: bool) -> Conversation:
    pointer = {"kind": 1, "pointer": {"data_length": 64, "segment": 1, "index": 0, "generation": 0}}
    body = {"message": "PUT", "extensions": [{"ext": "shm"}], "slices": [pointer]}
    return Conversation().open(shm=not fault).frame(0, push(body=body))
