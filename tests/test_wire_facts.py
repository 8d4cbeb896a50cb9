"""Facts about the wire stand in the grammar: no other file has its numbers (CONTRIBUTING.md)."""

import ast
from functools import cache
from typing import TypeGuard

import pytest

from tests.literals import Literal, Source
from tests.sources import ROOT, SOURCES, imports
from zdissect.grammar.ports import RAW_ETHERTYPES, SCOUTING_PORT, ZENOH_PORT

_WALK = ("guesses", "lane_reader", "lanes", "learned", "lockstep", "words")
INTERPRETERS = (
    "zdissect/grammar/", "zdissect/engine/", "zdissect/capture/", "zdissect/paste/",
    *(f"zdissect/vector/{name}.py" for name in _WALK),
)  # fmt: skip
"""Where numbers of a format are at home: the grammar, what reads and writes by it, formats of files and of text."""

FOREIGN = {
    "zdissect/anonymize/addresses.py": "addresses of IP and Ethernet",
    "zdissect/anonymize/checksums.py": "checksums of IP, TCP and UDP",
    "zdissect/anonymize/fills.py": "what other protocols begin with",
    "zdissect/anonymize/layers.py": "link layers, IP, TCP and UDP",
    "zdissect/anonymize/lz4size.py": "blocks of LZ4",
    "zdissect/anonymize/packet_headers.py": "IP, TCP and UDP",
    "zdissect/anonymize/texts.py": "Unicode",
    "zdissect/anonymize/websockets.py": "frames of WebSockets, and HTTP",
    "zdissect/flow/assembler.py": "flags of TCP",
    "zdissect/flow/causal.py": "flags and sequence numbers of TCP",
    "zdissect/flow/connection.py": "sequence numbers of TCP",
    "zdissect/flow/connection_table.py": "flags and sequence numbers of TCP",
    "zdissect/flow/scapy_links.py": "802.11",
    "zdissect/flow/headers.py": "link layers and EtherTypes",
    "zdissect/flow/ip.py": "IP, TCP and UDP",
    "zdissect/flow/link.py": "link types and EtherTypes",
    "zdissect/flow/lz4block.py": "blocks of LZ4",
    "zdissect/flow/protocol_numbers.py": "EtherTypes and IP protocols",
    "zdissect/flow/other_protocols.py": "TLS, QUIC, DNS and others that aren't Zenoh",
    "zdissect/flow/tcp_analysis.py": "flags and sequence numbers of TCP",
    "zdissect/flow/tcp.py": "flags and sequence numbers of TCP",
    "zdissect/flow/tunnels.py": "tunnels",
    "zdissect/flow/upgrade.py": "HTTP",
    "zdissect/flow/websocket_frames.py": "frames of WebSockets",
    "zdissect/output/printable.py": "Unicode",
    "zdissect/output/text.py": "Unicode",
    "zdissect/readings/packet.py": "Ethernet and IP",
    "zdissect/vector/block_headers.py": "link layers, IP and TCP",
    "zdissect/vector/segments.py": "flags and sequence numbers of TCP",
}
"""Files that read other formats than Zenoh's, with numbers of these. So they may not know its messages."""

EXCUSED = {
    "zdissect/scapy/generated.py": ("a ZenohID, where none is given", r"b'\x01'"),
    "zdissect/flow/serial_line.py": (
        "arithmetic of a CRC", "value & 1", "(value ^ byte) & 255", "255", "value ^ 4294967295", "4294967295",
    ),
    "zdissect/flow/websocket.py": (
        "frames of WebSockets", "opcode & CONTROL", "piece.opcode & CONTROL", "opcode == BINARY",
    ),
    "zdissect/session/multicast.py": ("groups of Ethernet", "end.address[0] & 1"),
    "cli/hex_input.py": ("encodings of text", r"b'\t\n\x0b\x0c\r\x1b'", r"b'\xfe\xff'", r"b'\xff\xfe'"),
}  # fmt: skip
"""What else isn't about Zenoh: what it is, and the expressions as `ast.unparse` spells them."""

_MORE, _FRAGMENTS = 'message.flag("M")', "zdissect/session/fragments.py"

PLANTED = (
    (_FRAGMENTS, _MORE, "message.header & 0x40"),
    (_FRAGMENTS, _MORE, "message.header & 64"),
    (_FRAGMENTS, _MORE, "message.header & ~191"),
    (_FRAGMENTS, _MORE, "message.header >> 6 & 1"),
    (_FRAGMENTS, _MORE, "message.header & LARGEST"),
    ("zdissect/session/interests.py", 'named(INTEREST_OPTIONS.bits, name).mask for name in "KSQTRNMA"',
     "1 << bit for bit in range(8)"),
    ("zdissect/flow/detect_datagram.py", "ident in _OPENING", "ident in (1, 7)"),
    ("zdissect/flow/detect_datagram.py", "(INIT.id, JOIN.id)", "(1, 7)"),
    ("zdissect/flow/detect_datagram.py", "bytes([OAM.id, OAM.id | ", 'b"\\0\\x80" or ([OAM.id, OAM.id | '),
    ("zdissect/flow/batch_decoding.py", "& ~_CLOSE_FLAG == CLOSE.id", "& 223 == CLOSE.id"),
    ("zdissect/flow/batch_decoding.py", "& ~_CLOSE_FLAG == CLOSE.id", "& ~_CLOSE_FLAG == 3"),
    ("zdissect/flow/resync.py", "bytes([KEEP_ALIVE.id])", "bytes([4])"),
    (
        "zdissect/flow/resync.py",
        "from zdissect.grammar.flags import",
        "from zdissect.flow.websocket_frames import CONTROL as",
    ),
    ("zdissect/flow/framing.py", "Framing(STREAM_PREFIX)", "Framing(2)"),
    ("zdissect/readings/prefixed.py", "Framing(LOW_LATENCY_PREFIX, ", "Framing(prefix=4, "),
    ("zdissect/stages.py", "frozenset({ZENOH_PORT, ", "frozenset({7447, "),
    ("zdissect/flow/link.py", "kind in RAW_ETHERTYPES", "kind in (57458, 29408)"),
)  # fmt: skip
"""(file, text, what is written instead): facts about the wire in the wrong place."""


@cache
def source(module: str) -> Source | None:
    """The source of a module whose names may stand for literals."""
    path = module.replace(".", "/") + ".py"
    known = path in SOURCES and not path.startswith("zdissect/grammar/")
    return Source((ROOT / path).read_text(encoding="utf-8"), source) if known else None


def facts(path: str, text: str) -> list[str]:
    """What a file says of the wire in numbers: Zenoh's own, and all others that nothing excuses."""
    here = Source(text, source)
    numbers = [Literal(node.lineno, ast.unparse(node)) for node in ast.walk(here.tree) if _is_ours(node)]
    if path not in FOREIGN:
        _, *excused = EXCUSED.get(path, ("",))
        numbers += [one for one in here.literals() if one.text not in excused]
    return [f"{path}:{line} says {number}" for line, number in sorted({*numbers})]


def _is_ours(node: ast.AST) -> TypeGuard[ast.Constant]:
    known = (ZENOH_PORT, SCOUTING_PORT, *RAW_ETHERTYPES)
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value in known


READERS = [path for path in SOURCES if not path.startswith(INTERPRETERS)]


@pytest.mark.parametrize("path", READERS)
def test_facts_about_the_wire_stand_in_the_grammar(path):
    """Ids, flags, versions, prefixes and ports come from its objects: `INIT.id`, `FRAGMENT.flag("M").mask`."""
    found = facts(path, (ROOT / path).read_text(encoding="utf-8"))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", FOREIGN)
def test_who_reads_other_formats_knows_no_messages(path):
    known = {module for _, module, _ in imports(path) if module.startswith("zdissect.grammar")}
    assert known <= {"zdissect.grammar.ports"}


def test_no_excuse_is_left_over():
    sources = {path: Source((ROOT / path).read_text(encoding="utf-8"), source) for path in (*FOREIGN, *EXCUSED)}
    found = {path: {one.text for one in here.literals()} for path, here in sources.items()}
    assert not [path for path in FOREIGN if not found[path]]
    assert not {path: left for path, (_, *excused) in EXCUSED.items() if (left := {*excused} - found[path])}


@pytest.mark.parametrize(("path", "before", "after"), PLANTED)
def test_facts_in_the_wrong_place_are_found(path, before, after):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert before in text
    assert facts(path, text.replace(before, after, 1))
