"""Network messages: their key, what they answer, what they declare (notes 6 and 7)."""

from zdissect.engine.messages import DecodedMessage
from zdissect.grammar.enums import DEFAULT_BITS
from zdissect.session import message_checks
from zdissect.session.key_tables import Declared
from zdissect.session.message_checks import key_field, shown
from zdissect.session.model import Link, Session
from zdissect.session.overdue import await_answer, await_final


def feed(link: Link, message: DecodedMessage, direction: int, frame: int, ts_ns: int) -> None:
    """Takes a network message of a direction of a link."""
    session, side = link.session, direction ^ link.flip
    row = message.row
    name = row["message"]
    if "key_scope" in row:
        resolve(session, message, side)
        message_checks.key(message)
    if name == "DECLARE":
        declare(session, message, side, frame)
    elif name == "REQUEST":
        bits = session.agreed.rid_bits if session.agreed is not None else DEFAULT_BITS
        request = session.sides[side].requests.ask(message, frame, ts_ns, bits)
        if request is not None:
            await_final(link, direction, request)
    elif name == "RESPONSE" or name == "RESPONSE_FINAL":
        answer(session, message, side, ts_ns)
    elif name == "INTEREST":
        roles = (session.sides[side].role, session.sides[1 - side].role)
        interest = session.sides[side].declared.interest(message, frame, ts_ns, session.complete, roles)
        if interest is not None:
            await_answer(link, direction, interest)
    elif name == "OAM":
        session.sides[side].graph.feed(message, session.complete)
    if "node_id" in row:
        node(session, message, side)
    if "extensions" in row:
        message_checks.shared_memory(message, session.agreed)
    message_checks.defaults(message)


def resolve(session: Session, message: DecodedMessage, side: int) -> None:
    """Puts the full key expression into the row, if it can be known."""
    row = message.row
    scope, suffix = row["key_scope"], row.get("key_suffix") or ""
    if scope == 0:
        row["key_expr"] = suffix
        return
    if row.get("body") == "D_KEYEXPR":
        declared = prefix_of_declaration(session, message, side, scope)
    else:
        owner = side if row.get("key_mapping") == "sender" else 1 - side
        declared = session.sides[owner].keys.get(scope)
    if declared is None:
        if session.complete:
            owner_name = "sender" if row.get("key_mapping") == "sender" else "receiver"
            message.remark("unknown-scope", f"the {owner_name} hasn't declared {scope}", key_field(row, "scope"))
        return
    if not declared.alive and session.complete:
        text = f"{scope} of frame {declared.frame} has been undeclared"
        message.remark("scope-undeclared", text, key_field(row, "scope"))
    row["key_frame"] = declared.frame
    if declared.key is not None:
        row["key_expr"] = declared.key + suffix


def prefix_of_declaration(session: Session, message: DecodedMessage, side: int, scope: int) -> Declared | None:
    """The prefix of a D_KEYEXPR with a scope: it has no M bit, and implementations disagree (notes 6.2)."""
    own, others = session.sides[side].keys.get(scope), session.sides[1 - side].keys.get(scope)
    if own is not None and others is not None and own.key != others.key:
        text = f"{scope} is {shown(own.key)} for the sender, {shown(others.key)} for the receiver"
        message.remark("scope-ambiguous", text, "d_keyexpr.scope")
    return own or others


def answer(session: Session, message: DecodedMessage, side: int, ts_ns: int) -> None:
    """RESPONSE and RESPONSE_FINAL: links them to their request."""
    asked = session.sides[1 - side].requests
    take = asked.answer if message.row["message"] == "RESPONSE" else asked.final
    take(message, ts_ns, session.complete)


def declare(session: Session, message: DecodedMessage, side: int, frame: int) -> None:
    """DECLARE: tables of key expressions, entities, answers to interests."""
    row = message.row
    body = row.get("body")
    interest = session.sides[1 - side].declared.answer(message, session.complete)
    if interest is not None and interest.frame:
        row["interest_frame"] = interest.frame
    if body is None:
        return
    if body == "D_KEYEXPR":
        session.epoch += 1
        ident = row.get("expr_id")
        if ident is not None and "key_scope" in row:
            old = session.sides[side].keys.declare(ident, row.get("key_expr"), frame)
            if old is not None:
                message.remark("expr-id-remapped", f"{ident} already stands for {shown(old)}", "d_keyexpr.expr_id")
    elif body == "U_KEYEXPR":
        free(session, message, side)
    elif body.startswith("D_") and body != "D_FINAL":
        current = interest is not None and interest.mode == "Current"
        session.sides[side].declared.declare(message, body[2:], frame, current, session.sourced)
    elif body.startswith("U_"):
        known = session.sides[side].declared.undeclare(message, body[2:], session.complete, session.sourced)
        if known is not None:
            row.setdefault("key_frame", known.frame)
            if not row.get("key_expr") and known.key is not None:
                row["key_expr"] = known.key
        elif row.get("key_expr") == "":
            del row["key_expr"]


def free(session: Session, message: DecodedMessage, side: int) -> None:
    """U_KEYEXPR: frees an id, and says which key it was."""
    row = message.row
    ident = row.get("expr_id")
    if ident is None:
        return
    session.epoch += 1
    known = session.sides[side].keys.undeclare(ident)
    if known is None:
        if session.complete:
            message.remark("undeclare-unknown", f"there is no key expression {ident}", "u_keyexpr.expr_id")
        return
    row["key_frame"] = known.frame
    if known.key is not None:
        row["key_expr"] = known.key
    if session.sides[side].declared.uses(ident):
        message.remark("keyexpr-in-use", f"entities declared with {ident} are still alive", "u_keyexpr.expr_id")


def node(session: Session, message: DecodedMessage, side: int) -> None:
    """NodeId: names the node by the sender's link state (notes 2.3, 13 no. 12)."""
    row = message.row
    ident = row["node_id"]
    field = f"{row['message'].lower()}.ext_node_id"
    if "client" in session.roles:
        message.remark("node-id-client", f"NodeId {ident} on a session with a client", field)
    zid = session.sides[side].graph.zids.get(ident)
    if zid is not None:
        row["node_zid"] = zid
    elif session.complete and ident:
        message.remark("node-id-unknown", f"node {ident} isn't in the sender's link state", field)
