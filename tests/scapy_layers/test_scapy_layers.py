"""`zdissect.scapy`: its packets hold what the tape holds, and build the bytes that they were dissected from."""

import doctest
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.compat import raw
from scapy.layers.inet import IP, TCP, UDP
from scapy.packet import Packet, Padding, Raw, fuzz
from scapy.utils import rdpcap

import zdissect.scapy as layers
from tests.generators import SeededChoices, ValueGenerator, mutate
from tests.vectors import vectors
from zdissect.engine.encoder import encode
from zdissect.engine.interpreter import interpret
from zdissect.engine.tape import Tape
from zdissect.grammar.field import EXT_HEADER
from zdissect.grammar.registry import MESSAGES, place
from zdissect.grammar.types import Bit, Message
from zdissect.scapy.parts import CLASSES, ZenohExtension, ZenohMessage, ZenohPart

SAMPLES = Path(__file__).parents[2] / "samples"
ENTRIES = {"stream": layers.ZenohStreamBatch, "batch": layers.ZenohBatch, "scout": layers.ZenohScouting}
VECTORS = [one for one in vectors.load() if one.entry in ENTRIES or one.entry.isupper()]
CANONICAL = [one for one in VECTORS if not one.remarks]


def layer(vector):
    """The class that reads a vector."""
    entry, _ = vectors.ENTRIES[vector.entry]
    return CLASSES[entry] if isinstance(entry, Message) else ENTRIES[vector.entry]


def held(packet: Packet) -> list:
    """The values in a packet: flags, numbers, texts, bytes."""
    out = []
    follow = ("eid", "enc", "mandatory") if packet.name == "ZenohExtension" else ("mid", "did", "enc", "len", "length")
    for field in packet.fields_desc:
        value = packet.fields.get(field.name)
        if isinstance(value, list):
            out += [part for one in value for part in (held(one) if isinstance(one, Packet) else [one])]
        elif isinstance(value, Packet):
            out += held(value)
        elif value is not None and field.name not in follow:
            out.append(value)
    return out + (held(packet.payload) if isinstance(packet.payload, ZenohPart) else [])


def taped(tape: Tape) -> list:
    """The same values of a tape; lengths and counts, and headers of extensions, follow from the others."""
    counts = {field for message in MESSAGES for field in _counts(place(message).inside)}
    out = []
    for field, _, _, _, value in tape.spans:
        if not field.leaf or field is EXT_HEADER or field in counts or field.name in ("length", "message_id"):
            continue
        bits = [bit.node for bit in field.bits if isinstance(bit.node, Bit)]
        if not bits or value & ~sum(bit.mask for bit in bits):
            out.append(value)
        else:
            parts = [(bit.of(value), bit) for bit in bits if bit.name != "message_id"]
            out += [part for part, bit in parts if (part or not bit.reserved) and bit.name != "enc"]
    return out


def _counts(places):
    for one in places:
        if one.count is not None:
            yield one.count.field
        yield from _counts(one.inside)


@pytest.mark.parametrize("one", CANONICAL, ids=lambda one: f"{one.file}:{one.line}")
def test_vectors(one):
    packet = layer(one)(one.data)
    assert sorted(held(packet), key=repr) == sorted(taped(one.decode()), key=repr)
    assert raw(packet) == one.data
    packet.clear_cache()
    assert raw(packet) == one.data


@pytest.mark.parametrize("one", [one for one in VECTORS if one.remarks], ids=lambda one: f"{one.file}:{one.line}")
def test_no_byte_is_lost_where_something_is_wrong(one):
    assert raw(layer(one)(one.data)) == one.data


def test_every_message_is_among_the_vectors():
    seen = {span[0].node for one in CANONICAL for span in one.decode().spans if span[0].kind == "message"}
    assert seen == set(MESSAGES)


@given(st.integers(0, 1 << 32))
def test_any_message(seed):
    choices = SeededChoices(seed)
    message = MESSAGES[choices.number(len(MESSAGES) - 1)]
    data = encode(message, ValueGenerator(choices).entry(message, {}))
    packet = CLASSES[message](data)
    assert raw(packet) == data
    if not interpret(message, data).remarks:
        assert sorted(held(packet), key=repr) == sorted(taped(interpret(message, data)), key=repr)
        packet.clear_cache()
        assert raw(packet) == data
    broken = mutate(choices, data)
    assert not broken or raw(CLASSES[message](broken)) == broken
    assert len(broken) < 2 or raw(layers.ZenohStreamBatch(broken)) == broken


@given(st.binary(max_size=80))
def test_any_bytes(data):
    assert raw(layers.ZenohBatch(data)) == data
    for one in (TCP(dport=7447), UDP(dport=7447), UDP(dport=7446)):
        packet = type(one)(raw(one / Raw(data)))
        assert raw(packet)[-len(data) :] == data or not data


@pytest.mark.parametrize("name", ["pubsub-tcp.pcap", "query-router.pcap", "scouting-multicast.pcap", "liveliness.pcap"])
def test_captures(name):
    """What a capture holds is read through Ethernet, and built again."""
    found = set()
    for packet in rdpcap(str(SAMPLES / name)):
        wanted = raw(packet)
        found |= {type(one).__name__ for one in packet.iterpayloads()}
        packet.clear_cache()
        assert raw(packet) == wanted
    assert {"scouting-multicast.pcap": "ZenohScout"}.get(name, "ZenohStreamBatch") in found


def test_ports():
    assert layers.ZenohBatch in IP(raw(IP() / UDP(sport=7447, dport=9) / b"\x04"))
    assert layers.ZenohKeepAlive in IP(raw(IP() / TCP(dport=7447) / b"\x01\x00\x04"))[TCP].payload.messages[0]
    assert layers.ZenohScout in IP(raw(IP() / UDP(sport=9, dport=7446) / b"\x01\x09\x03"))
    built = IP() / TCP() / layers.ZenohStreamBatch()
    assert built[TCP].dport == 7447
    assert built[TCP].sport != 7447
    assert (IP() / UDP() / layers.ZenohScouting())[UDP].dport == 7446


def test_two_batches_in_a_segment():
    packet = layers.ZenohStreamBatch(bytes.fromhex("010004 01000403"))
    assert [one.messages[0].name for one in (packet, packet.payload)] == ["ZenohKeepAlive", "ZenohKeepAlive"]
    assert packet.lastlayer().load == b"\x03"


def test_what_cannot_be_dissected_is_raw():
    packet = layers.ZenohBatch(bytes.fromhex("25 07 3d 00 93 6b 04"))
    (frame,) = packet.messages
    assert frame.messages[0].fields.keys() >= {"key_scope"}
    assert packet.payload == Raw(b"\x93\x6b\x04")
    push = layers.ZenohPush(bytes.fromhex("3d 00 03 6b 2f 61 01 09 31"))
    assert isinstance(push.payload, layers.ZenohPut)
    assert push.lastlayer() == Raw(b"\x09\x31")
    assert layers.ZenohPush(b"\x04").payload == Raw(b"\x04")
    assert layers.ZenohKeepAlive(b"\x04\x05").payload == Padding(b"\x05")


def test_changes_are_written():
    push = layers.ZenohPush(bytes.fromhex("3d 00 03 6b 2f 61 01 03 31 31 31"))
    push.key_suffix = "room/1"
    push.payload.data = b"2"
    assert raw(push).hex(" ") == "3d 00 06 72 6f 6f 6d 2f 31 01 01 32"
    frame = layers.ZenohFrame(bytes.fromhex("a5 07 31 02 04")[:4])
    frame.extensions[0].priority = 5
    assert raw(frame).hex(" ") == "a5 07 31 05"
    batch = layers.ZenohBatch(bytes.fromhex("25 07 1d 01 02"))
    batch.messages[0].messages[0].key_scope = 200
    assert raw(batch).hex(" ") == "25 07 1d c8 01 02"
    batch.messages.append(layers.ZenohKeepAlive())
    assert raw(batch).hex(" ") == "25 07 1d c8 01 02 04"
    del push.flag_n, push.key_suffix
    assert raw(push).hex(" ") == "1d 00 01 01 32"


def test_what_follows_may_be_left_out_and_what_is_given_counts():
    hello = layers.ZenohHello(zid=b"\x01\xaa", whatami=1, locators=["tcp/a:1"])
    assert raw(hello).hex(" ") == "22 09 11 01 aa 01 07 74 63 70 2f 61 3a 31"
    assert raw(layers.ZenohPut(timestamp=(1, b"\xbb"), data=b"")).hex(" ") == "21 01 01 bb 00"
    assert raw(layers.ZenohPut(encoding={"id": 4}, data=b"")).hex(" ") == "41 08 00"
    assert raw(layers.ZenohPut(mid=9, data=b"x")).hex(" ") == "09 01 78"
    assert raw(layers.ZenohStreamBatch(len=99)).hex(" ") == "63 00"
    assert raw(layers.ZenohOpen(flag_a=1, lease=10)).hex(" ") == "22 0a 00"
    assert raw(layers.ZenohNetworkOAM(oam_id=9)).hex(" ") == "1f 09"
    assert raw(layers.ZenohNetworkOAM(oam_id=9, value=5)).hex(" ") == "3f 09 05"
    exts = [layers.ZenohPushQosExt(priority=5, flag_d=1), layers.ZenohExtension(eid=9, value=b"ab")]
    push = layers.ZenohPush(extensions=exts) / layers.ZenohDel()
    assert raw(push).hex(" ") == "9d 00 a1 0d 49 02 61 62 02"
    assert layers.ZenohPush(raw(push)) == layers.ZenohPush(raw(push))
    assert [one.name for one in layers.ZenohPush(raw(push)).extensions] == ["ZenohPushQosExt", "ZenohExtension"]


@pytest.mark.parametrize("name", [name for name in layers.__all__ if name not in ("ZenohMessage", "ZenohPart")])
def test_every_class(name):
    kind = getattr(layers, name)
    assert kind.__name__ == name == kind().name
    assert kind.__module__.startswith("zdissect.scapy")
    assert all(field.name in dir(kind()) or not hasattr(Packet, field.name) for field in kind.fields_desc)
    assert kind().copy() == kind()
    assert repr(kind())
    kind().show(dump=True)
    if issubclass(kind, ZenohMessage):
        assert kind(raw(kind())).__class__ is kind
        assert pickle.loads(pickle.dumps(kind(raw(kind())))) is not None
        for _ in range(20):
            made = raw(fuzz(kind()))
            assert raw(kind(made)) == made
    elif issubclass(kind, ZenohExtension) and kind.node is not None:
        assert name == "ZenohJoinQosExt" or raw(kind())[:1] in (b"", bytes([kind.node.key]))  # which has 8 priorities


def test_show_says_what_values_mean():
    text = layers.ZenohPush(bytes.fromhex("bd 00 03 6b 2f 61 21 0d 01 03 31 31 31")).show(dump=True)
    assert "priority  = 5 (Data)" in text
    assert "flag_m    = 0 (scope is in the receiver's mapping)" in text
    init = layers.ZenohInit(bytes.fromhex("01 09 11 01 aa")).show(dump=True)
    assert "zid       = aa01" in init
    assert "batch_size" not in init


def test_no_name_is_taken_twice():
    for message in MESSAGES:
        words = [field.name for field in CLASSES[message].fields_desc]
        assert len(words) == len(set(words))
    assert not {"payload", "time", "name"} & {
        field.name for kind in map(layers.__dict__.get, layers.__all__) for field in kind.fields_desc
    }


def test_documentation():
    failed, tried = doctest.testmod(layers)
    assert tried > 4
    assert not failed


def test_other_parts_do_not_load_scapy():
    code = "import sys, zdissect.library; assert 'scapy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
