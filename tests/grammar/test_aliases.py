"""Names of other tools: the Wireshark plugin (plugin-names.txt has all of them), the same before they moved, kydos."""

from pathlib import Path

import pytest

from zdissect.grammar import aliases
from zdissect.grammar.aliases import Alias, current, resolve
from zdissect.grammar.registry import MESSAGES, fields

LINES = [line.split("\t") for line in (Path(__file__).parent / "plugin-names.txt").read_text().splitlines()]
NAMES = [name for _, name in LINES]
LABELS = {message.name for message in MESSAGES if not message.labels} | {
    label for message in MESSAGES for pair in message.labels.values() for label in pair
}


def test_there_are_186_names():
    assert len(set(NAMES)) == 186


@pytest.mark.parametrize("name", [*NAMES, *aliases._KYDOS])
def test_every_name_is_a_field_of_ours(name):
    alias = resolve(name)
    assert alias is not None
    assert all(path in fields() for path in (alias.path, *alias.also))
    assert set(alias.when.split()) <= LABELS


@pytest.mark.parametrize(("kind", "name"), [pair for pair in LINES if pair[0] == "FT_STRING"])
def test_a_field_with_a_value_has_one_here_unless_it_is_a_structure(kind, name):
    alias = resolve(name)
    assert alias is not None
    field = fields()[alias.path]
    assert field.type != "none" or field.kind in ("extension", "group")


@pytest.mark.parametrize(
    ("name", "type_", "column"),
    [
        ("zenoh.srczid", "string", "src_zid"),
        ("zenoh.transport.init_syn.zid", "zid", "zid"),
        ("zenoh.transport.init_ack.batch_size", "uint16", "batch_size"),
        ("zenoh.transport.open_syn.lease", "uint64", "lease_ms"),
        ("zenoh.transport.frame.sn", "uint64", "sn"),
        ("zenoh.transport.frame.network.push.wire_expr", "string", "key_expr"),
        ("zenoh.transport.frame.network.push.put.timestamp", "timestamp", "timestamp_ntp64"),
        ("zenoh.transport.frame.network.push.put.encoding", "uint32", "encoding_id"),
        ("zenoh.transport.frame.network.request.ext_target", "uint64", "target"),
        ("zenoh.transport.frame.network.response.rid", "uint32", "request_id"),
        ("zenoh.req.response_time_ms", "int64", "response_time_ns"),
        ("zenoh.req.response_frame", "int64", ""),
    ],
)
def test_types_and_columns(name, type_, column):
    alias = resolve(name)
    assert alias is not None
    field = fields()[alias.path]
    assert (field.type, field.column) == (type_, column)


def test_no_name_is_ours_with_another_meaning():
    for name, alias in aliases.aliases().items():
        assert name not in fields() or alias.path == name


def test_the_last_label_is_the_message_of_the_field():
    for name, alias in aliases.aliases().items():
        if alias.when and fields()[alias.path].kind != "derived" and not alias.path.startswith("zenoh.ext"):
            own = alias.when.split()[-1].lower().removesuffix("_syn").removesuffix("_ack")
            assert alias.path.split(".")[1] in (own, f"transport_{own}"), name


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("zenoh.srczid", Alias("zenoh.src_zid")),
        ("zenoh.transport.init_syn", Alias("zenoh.init", "INIT_SYN")),
        ("zenoh.transport.init_ack.zid", Alias("zenoh.init.zid", "INIT_ACK")),
        ("zenoh.transport.open_syn.ext_mlink", Alias("zenoh.open.ext_multilink.nonce", "OPEN_SYN")),
        ("zenoh.transport.open_ack.ext_mlink", Alias("zenoh.open.ext_multilink_ack", "OPEN_ACK")),
        ("zenoh.transport.frame.sn", Alias("zenoh.frame.sn", "FRAME")),
        ("zenoh.transport.frame.network.push.wire_expr", Alias("zenoh.key_expr", "PUSH")),
        ("zenoh.transport.frame.network.push.put.payload", Alias("zenoh.put.payload", "PUSH PUT")),
        ("zenoh.transport.frame.network.push.put.encoding", Alias("zenoh.put.encoding.id", "PUSH PUT")),
        ("zenoh.transport.frame.network.push.put.ext_unknown", Alias("zenoh.ext", "PUSH PUT")),
        ("zenoh.transport.frame.network.response.reply.payload", Alias("zenoh.put.payload", "RESPONSE REPLY PUT")),
        ("zenoh.transport.frame.network.declare.undeclare_key_expr.id", Alias("zenoh.u_keyexpr.expr_id", "U_KEYEXPR")),
        ("zenoh.transport.frame.network.request.ext_target", Alias("zenoh.request.ext_target.value", "REQUEST")),
        ("zenoh.transport.oam.id", Alias("zenoh.transport_oam.id", "OAM")),
        ("zenoh.transport.frame.network.oam.id", Alias("zenoh.oam.id", "OAM")),
        ("zenoh.seq_num", Alias("zenoh.frame.sn", "", ("zenoh.fragment.sn",))),
        ("zenoh.frame_reliable", Alias("zenoh.frame.r", "", ("zenoh.fragment.r",))),
        ("zenoh.lease", Alias("zenoh.open.lease", "", ("zenoh.join.lease",))),
        ("zenoh.fragment_more", Alias("zenoh.fragment.m")),
        ("zenoh.keyexpr", Alias("zenoh.key_expr")),
        ("zenoh.req.response_frame", Alias("zenoh.request.response_in")),
        ("zenoh.resp.request_frame", Alias("zenoh.request_in")),
        ("zenoh.req.response_time_ms", Alias("zenoh.response_time")),
        ("zenoh.response.time", Alias("zenoh.response_time")),
    ],
)
def test_meanings(name, alias):
    assert resolve(name) == alias


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("zenoh.body.init_syn.zid", "zenoh.transport.init_syn.zid"),
        ("zenoh.body.frame.sn", "zenoh.transport.frame.sn"),
        ("zenoh.body.frame.body.push.put.payload", "zenoh.transport.frame.network.push.put.payload"),
        ("zenoh.body.frame.payload.push.put.payload", "zenoh.transport.frame.network.push.put.payload"),
        ("zenoh.transport.frame.body.push", "zenoh.transport.frame.network.push"),
    ],
)
def test_names_from_before_they_moved(old, new):
    assert current(old) == new
    assert resolve(old) == resolve(new) is not None


@pytest.mark.parametrize("name", NAMES)
def test_every_name_had_an_older_form(name):
    old = name.replace("zenoh.transport", "zenoh.body").replace("frame.network", "frame.body")
    assert resolve(old) == resolve(name)


@pytest.mark.parametrize(
    "name", ["", "zenoh.nobody", "zenoh.transport", "zenoh.transport.frame.sn.x", "tcp.port", "zenoh.body"]
)
def test_names_of_nobody(name):
    assert resolve(name) is None
