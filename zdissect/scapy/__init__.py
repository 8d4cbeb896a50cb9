"""Zenoh for scapy: Packet classes made from the grammar, for dissecting and building.

    >>> from zdissect.scapy import ZenohFrame, ZenohPush, ZenohPut, ZenohStreamBatch
    >>> push = ZenohPush(key_suffix="room/1") / ZenohPut(data=b"21.5")
    >>> batch = ZenohStreamBatch(messages=[ZenohFrame(sn=7, messages=[push])])
    >>> bytes(batch).hex(" ")
    '11 00 05 07 3d 00 06 72 6f 6f 6d 2f 31 01 04 32 31 2e 35'
    >>> ZenohStreamBatch(bytes(batch)).messages[0].messages[0].key_suffix
    'room/1'

Importing this binds layers: `ZenohStreamBatch` to TCP port 7447, `ZenohBatch` to UDP port 7447, `ZenohScouting` to UDP
port 7446. There is a class for each message, one for each extension (`ZenohPushQosExt`), and `ZenohExtension` for those
that aren't known for their message. The body of a PUSH, REQUEST, RESPONSE, REPLY or DECLARE is its payload in scapy.

Fields have the names of the grammar, except for some that scapy uses itself, or that its own layer for Zenoh spells
differently: flags are `flag_z`, the key is `key_scope` and `key_suffix`, the payload `data`. Flags, lengths and counts
that aren't given follow from the other fields. Packets have no session: for streams, fragments and keys use `zdissect`.
"""

from scapy.layers.inet import TCP, UDP
from scapy.packet import bind_bottom_up, bind_layers

from zdissect.grammar.ports import SCOUTING_PORT, ZENOH_PORT
from zdissect.scapy.batches import ZenohBatch, ZenohScouting, ZenohStreamBatch
from zdissect.scapy.generated import GENERATED
from zdissect.scapy.parts import ZenohExtension, ZenohMessage, ZenohPart

__all__ = ["ZenohBatch", "ZenohExtension", "ZenohMessage", "ZenohPart", "ZenohScouting", "ZenohStreamBatch"]


def __getattr__(name: str) -> type[ZenohPart]:
    """For type checkers, which can't see the generated class of each message."""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


globals().update(GENERATED)
__all__ += list(GENERATED)

for _lower, _upper, _port in ((TCP, ZenohStreamBatch, ZENOH_PORT), (UDP, ZenohBatch, ZENOH_PORT),
                              (UDP, ZenohScouting, SCOUTING_PORT)):  # fmt: skip
    bind_layers(_lower, _upper, dport=_port)  # packets that are built have this port as their destination only
    bind_bottom_up(_lower, _upper, sport=_port)
