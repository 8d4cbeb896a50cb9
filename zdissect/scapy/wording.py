"""Names of classes and fields in scapy, from their names in the grammar."""

from scapy.packet import Packet

from zdissect.grammar.types import Bit, Message

_FIELDS = {
    "scope": "key_scope", "suffix": "key_suffix", "payload": "data", "time": "ntp64", "name": "text",
    "rid": "rid_resolution", "fsn": "fsn_resolution",
}  # fmt: skip
"""Names from scapy's own layer for Zenoh, and replacements for names that scapy uses itself."""
_WORDS = {"D": "Declare", "U": "Undeclare", "KEYEXPR": "KeyExpr"}


def message_class(message: Message) -> str:
    """`ZenohResponseFinal`, `ZenohDeclareKeyExpr`; `ZenohTransportOAM` and `ZenohNetworkOAM`."""
    if message.name == "OAM":
        return f"Zenoh{message.layer.capitalize()}OAM"
    return "Zenoh" + "".join(_WORDS.get(word, word.capitalize()) for word in message.name.split("_"))


def camel(name: str) -> str:
    """`source_info` as a part of the name of a class: `SourceInfo`."""
    return "".join(word.capitalize() for word in name.split("_"))


def bit_word(bit: Bit) -> str:
    """A bit field: flags, which have a letter, are `flag_z`."""
    return f"flag_{bit.name.lower()}" if len(bit.name) == 1 else field_word(bit.name.lower())


def field_word(name: str) -> str:
    """A field."""
    word = _FIELDS.get(name, name)
    return f"{word}_" if hasattr(Packet, word) else word


def id_word(message: Message) -> str:
    """The number that identifies what a message is about: `subscriber_id`, `interest_id`, `oam_id`."""
    return f"{message.name.split('_')[-1].lower()}_id"
