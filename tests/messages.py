"""Network messages for conversations in tests: what a healthy node would write, unless told otherwise."""

from typing import Any

from zdissect.engine.encoder import encode
from zdissect.grammar.network import PUSH

Values = dict[str, Any]
SENDER, RECEIVER = 1, 0
MODES = {"Final": 0, "Current": 1, "Future": 2, "CurrentFuture": 3}


def key(scope: int | str, suffix: str = "", mapping: int = SENDER) -> Values:
    """A wire expression: a scope and a suffix, or the whole text."""
    if isinstance(scope, str):
        scope, suffix = 0, scope
    return {"M": mapping, "scope": scope} | ({"suffix": suffix} if suffix else {})


def put(payload: bytes = b"x", **values: Any) -> Values:
    """PUT."""
    return {"message": "PUT", "payload": payload, **values}


def push(scope: int | str = "demo/x", suffix: str = "", mapping: int = SENDER, **values: Any) -> Values:
    """PUSH of a PUT."""
    return {"message": "PUSH", **key(scope, suffix, mapping), "body": put(), **values}


def pushed(name: str, payload: bytes) -> bytes:
    """The bytes of a PUSH, to be sent in fragments."""
    return encode(PUSH, push(name, body=put(payload)))


def qos(value: int) -> list[Values]:
    """The QoS extension alone."""
    return [{"ext": "qos", "value": value}]


def declare(declaration: Values, interest: int | None = None, **values: Any) -> Values:
    """DECLARE, in answer to an interest or not."""
    answers = {} if interest is None else {"interest_id": interest}
    return {"message": "DECLARE", "extensions": qos(8), "declaration": declaration, **answers, **values}


def d_keyexpr(ident: int, scope: int | str, suffix: str = "") -> Values:
    """D_KEYEXPR."""
    expr = key(scope, suffix)
    del expr["M"]
    return {"message": "D_KEYEXPR", "expr_id": ident, **expr}


def u_keyexpr(ident: int) -> Values:
    """U_KEYEXPR."""
    return {"message": "U_KEYEXPR", "expr_id": ident}


def entity(
    kind: str, ident: int, scope: int | str = "demo/x", suffix: str = "", mapping: int = SENDER, **values: Any
) -> Values:
    """D_SUBSCRIBER, D_QUERYABLE or D_TOKEN."""
    return {"message": f"D_{kind}", "id": ident, **key(scope, suffix, mapping), **values}


def gone(kind: str, ident: int, *extensions: Values) -> Values:
    """U_SUBSCRIBER, U_QUERYABLE or U_TOKEN."""
    return {"message": f"U_{kind}", "id": ident, "extensions": list(extensions)}


def final(interest: int | None) -> Values:
    """DECLARE of D_FINAL."""
    return declare({"message": "D_FINAL"}, interest)


def interest(ident: int, mode: str = "CurrentFuture", **options: Any) -> Values:
    """INTEREST in subscribers; options are K, S, Q, T, R, A."""
    out = {"message": "INTEREST", "id": ident, "mode": MODES[mode], "extensions": qos(8)}
    if mode == "Final":
        return out
    return {**out, **dict.fromkeys("AMNRTQSK", 0), **(options or {"S": 1})}


def request(ident: int, scope: int | str = "demo/x", suffix: str = "", mapping: int = SENDER, **values: Any) -> Values:
    """REQUEST of a QUERY; `budget`, `timeout` and `target` are extensions, `parameters` are those of the query."""
    exts = qos(13) + [
        {"ext": name, "value": values.pop(name)} for name in ("target", "budget", "timeout") if name in values
    ]
    query: Values = {"message": "QUERY"}
    query |= {name: values.pop(name) for name in ("parameters", "consolidation") if name in values}
    body = values.pop("body", query)
    return {
        "message": "REQUEST", "request_id": ident, **key(scope, suffix, mapping), "extensions": exts, "body": body,
        **values,
    }  # fmt: skip


def response(ident: int, scope: int | str = "demo/x", suffix: str = "", mapping: int = SENDER, **values: Any) -> Values:
    """RESPONSE of a REPLY of a PUT."""
    reply = {"message": "REPLY", "body": put()}
    expr = key(scope, suffix, mapping)
    return {"message": "RESPONSE", "request_id": ident, **expr, "extensions": qos(13), "body": reply, **values}


def response_final(ident: int) -> Values:
    """RESPONSE_FINAL."""
    return {"message": "RESPONSE_FINAL", "request_id": ident, "extensions": qos(13)}


def link_state(*nodes: Values) -> Values:
    """OAM with the nodes that the sender tells of."""
    return {"message": "OAM", "enc": 2, "id": 1, "extensions": qos(8), "link_state": {"nodes": list(nodes)}}


def node(psid: int, zid: bytes | None = None, version: int = 1, links: tuple[int, ...] = ()) -> Values:
    """A node of a link state."""
    told = {} if zid is None else {"zid": zid}
    return {"psid": psid, "sn": version, "whatami": 1, "links": list(links), **told}
