"""Other names for our fields, so that filters written for other tools keep working.

- The 186 names of the Wireshark plugin (eclipse-zenoh/zenoh-dissector), such as `zenoh.transport.frame.network.push`,
  and the same names from before they moved, with `zenoh.body` or `frame.body` in them.
- Names of kydos/zenoh-wireshark, `zenoh.seq_num`.

The plugin's names say where a field stands, ours only what it is: `zenoh.put.payload` is the payload of any PUT, in a
PUSH or in a REPLY. An alias therefore has a second part: the messages that must contain the field.
"""

from functools import cache
from typing import NamedTuple

from zdissect.grammar.field import Field
from zdissect.grammar.registry import MESSAGES, fields, wire_fields
from zdissect.grammar.types import Extension


class Alias(NamedTuple):
    """The meaning of another tool's name."""

    path: str
    """Our field, on the wire or derived (`registry.fields`)."""
    when: str = ""
    """Labels, separated by spaces: the last is the message of the field, those before it stand around that message."""
    also: tuple[str, ...] = ()
    """Other fields of ours that the name also stands for."""


_EXTS = "ext_qos ext_shm ext_auth ext_mlink ext_lowlatency ext_compression"
_INIT = f"version whatami zid resolution batch_size {_EXTS} ext_qos_link ext_patch ext_region_name"
_PLUGIN = {
    "init_syn": ("INIT_SYN", _INIT),
    "init_ack": ("INIT_ACK", f"{_INIT} cookie"),
    "open_syn": ("OPEN_SYN", f"lease initial_sn cookie {_EXTS} ext_remote_bound"),
    "open_ack": ("OPEN_ACK", f"lease initial_sn {_EXTS} ext_remote_bound"),
    "close": ("CLOSE", "reason session"),
    "keep_alive": ("KEEP_ALIVE", ""),
    "frame": ("FRAME", "reliability sn ext_qos"),
    "fragment": ("FRAGMENT", "reliability more sn payload ext_qos ext_first ext_drop"),
    "oam": ("OAM", "id body ext_qos"),
    "join": ("JOIN", "version whatami zid resolution batch_size lease next_sn ext_qos ext_shm ext_patch"),
    "frame.network.push": ("PUSH", "wire_expr ext_qos ext_tstamp ext_nodeid"),
    "frame.network.push.put": (
        "PUSH PUT", "timestamp encoding ext_sinfo ext_attachment ext_shm ext_unknown payload"),
    "frame.network.push.del": ("PUSH DEL", "timestamp ext_sinfo ext_attachment ext_unknown"),
    "frame.network.request": (
        "REQUEST", "id wire_expr ext_qos ext_tstamp ext_nodeid ext_target ext_budget ext_timeout"),
    "frame.network.request.query": (
        "REQUEST QUERY", "parameters consolidation ext_sinfo ext_body ext_attachment ext_unknown"),
    "frame.network.response": ("RESPONSE", "rid wire_expr ext_qos ext_tstamp ext_respid"),
    "frame.network.response.reply": ("RESPONSE REPLY", "consolidation ext_unknown payload"),
    "frame.network.response.err": ("RESPONSE ERR", "encoding ext_sinfo ext_shm ext_unknown payload"),
    "frame.network.response_final": ("RESPONSE_FINAL", "rid ext_qos ext_tstamp"),
    "frame.network.interest": ("INTEREST", "id mode options wire_expr ext_qos ext_tstamp ext_nodeid"),
    "frame.network.declare": ("DECLARE", "interest_id ext_qos ext_tstamp ext_nodeid"),
    "frame.network.declare.declare_key_expr": ("D_KEYEXPR", "id wire_expr"),
    "frame.network.declare.undeclare_key_expr": ("U_KEYEXPR", "id"),
    "frame.network.declare.declare_subscriber": ("D_SUBSCRIBER", "id wire_expr"),
    "frame.network.declare.undeclare_subscriber": ("U_SUBSCRIBER", "id ext_wire_expr"),
    "frame.network.declare.declare_queryable": ("D_QUERYABLE", "id wire_expr ext_info"),
    "frame.network.declare.undeclare_queryable": ("U_QUERYABLE", "id ext_wire_expr"),
    "frame.network.declare.declare_token": ("D_TOKEN", "id wire_expr"),
    "frame.network.declare.undeclare_token": ("U_TOKEN", "id ext_wire_expr"),
    "frame.network.declare.declare_final": ("D_FINAL", ""),
    "frame.network.oam": ("OAM", "id ext_qos ext_tstamp body"),
}  # fmt: skip
"""The plugin's names after `zenoh.transport.`: a message, its labels here, the names of its fields."""

_WORDS = {
    "ext_mlink": "ext_multilink", "ext_lowlatency": "ext_low_latency", "ext_tstamp": "ext_timestamp",
    "ext_nodeid": "ext_node_id", "ext_sinfo": "ext_source_info", "ext_respid": "ext_responder_id",
    "ext_info": "ext_queryable_info", "reliability": "r", "more": "m", "session": "s", "rid": "request_id",
    "timestamp": "timestamp.time", "encoding": "encoding.id",
}  # fmt: skip
"""Names of the plugin's fields that we spell differently."""

_EXACT = {
    "zenoh": Alias("zenoh"),
    "zenoh.batch": Alias("zenoh.batch"),
    "zenoh.srczid": Alias("zenoh.src_zid"),
    "zenoh.dstzid": Alias("zenoh.dst_zid"),
    "zenoh.transport.open_syn.ext_shm": Alias("zenoh.open.ext_shm", "OPEN_SYN", ("zenoh.open.ext_shm_challenge",)),
    "zenoh.transport.open_ack.ext_shm": Alias("zenoh.open.ext_shm", "OPEN_ACK", ("zenoh.open.ext_shm_challenge",)),
    "zenoh.transport.open_ack.ext_mlink": Alias("zenoh.open.ext_multilink_ack", "OPEN_ACK"),
    "zenoh.transport.oam.body": Alias("zenoh.transport_oam.body", "OAM", ("zenoh.transport_oam.value",)),
    "zenoh.transport.join.next_sn": Alias("zenoh.join.next_sn_reliable", "JOIN", ("zenoh.join.next_sn_best_effort",)),
    "zenoh.transport.frame.network": Alias("zenoh.push", "", (
        "zenoh.request", "zenoh.response", "zenoh.response_final", "zenoh.interest", "zenoh.declare", "zenoh.oam")),
    "zenoh.transport.frame.network.reliability": Alias("zenoh.frame.r", "FRAME"),
    "zenoh.transport.frame.network.request.id": Alias("zenoh.request.request_id", "REQUEST"),
    "zenoh.transport.frame.network.response.reply.payload": Alias("zenoh.put.payload", "RESPONSE REPLY PUT"),
    "zenoh.transport.frame.network.declare.declare_key_expr.id": Alias("zenoh.d_keyexpr.expr_id", "D_KEYEXPR"),
    "zenoh.transport.frame.network.declare.undeclare_key_expr.id": Alias("zenoh.u_keyexpr.expr_id", "U_KEYEXPR"),
    "zenoh.transport.frame.network.oam.body": Alias(
        "zenoh.oam.body", "OAM", ("zenoh.oam.link_state", "zenoh.oam.value")),
}  # fmt: skip
"""Names of the plugin that follow no rule."""

_KYDOS = {
    "zenoh.keyexpr": "zenoh.key_expr", "zenoh.key_expr_resolved": "zenoh.key_expr",
    "zenoh.session.src_zid": "zenoh.src_zid", "zenoh.frame_len": "zenoh.batch.length",
    "zenoh.version": "zenoh.init.version", "zenoh.wai": "zenoh.init.whatami", "zenoh.zid": "zenoh.init.zid",
    "zenoh.res_fsn": "zenoh.init.fsn", "zenoh.res_rid": "zenoh.init.rid", "zenoh.batch_size": "zenoh.init.batch_size",
    "zenoh.lease": "zenoh.open.lease", "zenoh.initial_sn": "zenoh.open.initial_sn",
    "zenoh.frame_reliable": "zenoh.frame.r", "zenoh.seq_num": "zenoh.frame.sn",
    "zenoh.ext_qos_prio": "zenoh.frame.ext_qos.priority", "zenoh.fragment_more": "zenoh.fragment.m",
    "zenoh.key_scope": "zenoh.push.scope", "zenoh.key_suffix": "zenoh.push.suffix",
    "zenoh.request_id": "zenoh.request.request_id", "zenoh.payload": "zenoh.put.payload",
    "zenoh.encoding_id": "zenoh.put.encoding.id", "zenoh.ext_id": "zenoh.ext.id", "zenoh.ext_enc": "zenoh.ext.enc",
    "zenoh.ext_m": "zenoh.ext.m", "zenoh.req.response_frame": "zenoh.request.response_in",
    "zenoh.resp.request_frame": "zenoh.request_in", "zenoh.req.response_time_ms": "zenoh.response_time",
}  # fmt: skip
"""Names of kydos/zenoh-wireshark with one field of ours; they hold for the fields of the same name and column too."""

_OLDER = {"zenoh.response.request_in": "zenoh.request_in", "zenoh.response.time": "zenoh.response_time"}
"""Names that derived fields had before a HELLO and a RESPONSE_FINAL had them too."""


def resolve(name: str) -> Alias | None:
    """The meaning of another tool's name; None if it isn't one."""
    return aliases().get(current(name))


def current(name: str) -> str:
    """The plugin's current name for one from before its names moved (`zenoh.body...`, `...frame.body...`)."""
    parts = name.split(".")
    if parts[:2] == ["zenoh", "body"]:
        parts[1] = "transport"
    if parts[:3] == ["zenoh", "transport", "frame"] and parts[3:4] in (["body"], ["payload"]):
        parts[3] = "network"
    return ".".join(parts)


@cache
def aliases() -> dict[str, Alias]:
    """All names with their meaning, the plugin's first, in the order of the tables."""
    out = dict(_EXACT)
    for label_path, (labels, words) in _PLUGIN.items():
        name = f"zenoh.transport.{label_path}"
        base = _base(labels.split()[-1], network=label_path.startswith("frame.network."))
        out[name] = Alias(base, labels)
        for word in words.split():
            if f"{name}.{word}" not in out:
                out[f"{name}.{word}"] = Alias(_path(base, word), labels)
    out |= {name: Alias(path) for name, path in _OLDER.items()}
    for name, path in _KYDOS.items():
        out[name] = Alias(path, "", _alike(fields()[path]))
    return out


def _base(label: str, network: bool) -> str:
    """The name of the message with a label; both layers have an OAM."""
    if label == "OAM":
        return "zenoh.oam" if network else "zenoh.transport_oam"
    message = next(
        each for each in MESSAGES if label == each.name or any(label in pair for pair in each.labels.values())
    )
    return f"zenoh.{message.name.lower()}"


def _path(base: str, word: str) -> str:
    """Our name for a field of a message."""
    if word in ("wire_expr", "ext_unknown"):
        return "zenoh.key_expr" if word == "wire_expr" else "zenoh.ext"
    path = f"{base}.{_WORDS.get(word, word)}"
    node = fields()[path].node
    own = [field for field in wire_fields().values() if field.path.startswith(f"{path}.") and field.kind != "bit"]
    # an extension with one value is that value: it is there when the extension is, and can be compared
    return own[0].path if isinstance(node, Extension) and len(own) == 1 and own[0].leaf else path


def _alike(field: Field) -> tuple[str, ...]:
    """The other fields with the same name, column and values."""
    return tuple(
        other.path for other in wire_fields().values()
        if field.kind != "derived" and other is not field and field.column
        and (other.name, other.column, other.enum) == (field.name, field.column, field.enum)
    )  # fmt: skip
