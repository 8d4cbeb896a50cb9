"""Datagrams: what is Zenoh and what isn't, and that nothing on Zenoh's ports is left out in silence."""

import json
from pathlib import Path

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.conversation import Conversation
from tests.export.tables import converted, rows, write_pcap
from tests.messages import push
from tests.observed import Observed, dissected
from tests.packets import CaptureBuilder, Parties, udp_packet
from tests.stats.reports import report_of
from zdissect.dissection import Item, Notice
from zdissect.engine.encoder import encode
from zdissect.flow.framing import DATAGRAM
from zdissect.grammar.batch import BATCH
from zdissect.limits import Limits
from zdissect.pipeline import Options, Pipeline

CLIENT, ROUTER = "10.0.0.1", "10.0.0.2"
SCOUT, HELLO = "010907", "220930a1a2a3a401117463702f31302e302e302e323a37343437"
INIT, KEEP_ALIVE, CLOSE = "4109020 80affff".replace(" ", ""), "04", "0302"
ZERO = "4109f2" + "00" * 16 + "0affff"
PUT = "25c8017d00036b2f610103313131"
NEXT = "25c9017d00036b2f610103323232"


class Capture(CaptureBuilder):
    """Datagrams between two hosts."""

    def send(
        self, data: str | bytes, side: int = 0, ports: tuple[int, int] = (40000, 7447), host: str = ROUTER
    ) -> "Capture":
        """A datagram of either side."""
        raw = bytes.fromhex(data) if isinstance(data, str) else data
        self.record(udp_packet(Parties((CLIENT, host), ports), side, raw))
        return self


def test_a_zenohid_of_zeros() -> None:
    """The INIT that is refused stands before the CLOSE that refuses it."""
    found, others = dissected(Capture().send(ZERO).send(CLOSE, side=1))
    assert found.summaries == [(1, "INIT_SYN", ["zero-zid"]), (2, "CLOSE", ["close-reason", "handshake-refused"])]
    assert not others


def test_scouting_with_zenohids_that_are_cut_short() -> None:
    capture = Capture()
    capture.send("0109fb112233", ports=(50001, 7446), host="224.0.0.224")
    capture.send("2209f0112233", side=1, ports=(50001, 40123))
    capture.send(SCOUT, ports=(50002, 7446), host="224.0.0.224")
    capture.send(HELLO, side=1, ports=(50002, 40123))
    found, others = dissected(capture)
    assert found.summaries == [
        (1, "SCOUT", ["truncated"]),
        (2, "HELLO", ["truncated"]),
        (3, "SCOUT", []),
        (4, "HELLO", []),
    ]
    assert {finding.message for finding in found.findings} == {"zid needs 16 bytes, 3 left"}
    assert not others


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ("ff", "unknown-message"),
        ("00", "truncated"),
        ("", "truncated"),
        ("1d" * 40, "unknown-message"),
        ("25", "truncated"),
        ("4109f2", "truncated"),
        ("25c8017d00036b", "truncated"),
    ],
)
@pytest.mark.parametrize("port", [7447, 9000])
def test_whatever_fails_on_a_zenoh_port_is_shown(data: str, code: str, port: int) -> None:
    options = Options(udp_ports=frozenset({9000}))
    found, others = dissected(Capture().send(data, ports=(40000, port)), options)
    assert found.codes == [code]
    assert not others


def test_what_fails_is_shown_in_its_place() -> None:
    """Before a good datagram and behind it."""
    for ports in ((40000, 7447), (40000, 9000)):
        capture = Capture()
        for data in ("1f", PUT, NEXT, "ff00"):
            capture.send(data, ports=ports)
        found, _ = dissected(capture)
        lost = ["unknown-message"]
        assert found.summaries == [(1, "-", lost), (2, "FRAME PUSH", []), (3, "FRAME PUSH", []), (4, "-", lost)]


def test_nobody_expects_zenoh_on_other_ports() -> None:
    capture = Capture().send("1f", ports=(40000, 9000)).send(PUT, ports=(40001, 9001)).send("ff", ports=(40001, 9001))
    found, others = dissected(capture)
    assert not found.items
    assert others == {"not Zenoh": 2}


DNS = bytes.fromhex("46050100000100000000000003777777057a656e6f6802696f0000010001")
OTHERS = {
    "DNS": DNS,
    "QUIC": bytes.fromhex("c000000001088394c8f03e51570800004496") + bytes(100),
    "DTLS": bytes.fromhex("16fefd000000000000000000046162636416fefd0000000000000001000161"),
    "STUN": bytes.fromhex("000100042112a442") + bytes(12) + b"abcd",
    "RTPS (DDS)": b"RTPS\x02\x03\x01\x0f" + bytes(20),
    "NTP": b"\x23" + bytes(47),
    "SSDP": b"M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\n\r\n",
    "WireGuard": b"\x01\0\0\0" + bytes(144),
    "MAVLink": bytes.fromhex("fd0300000001010000 00 616263 1234".replace(" ", "")),
    "SOME/IP": bytes.fromhex("1234800100000009 00010002 01010200 61".replace(" ", "")),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("ports", [(40000, 7447), (7446, 53), (40000, 9000)])
def test_other_protocols_are_named(name: str, ports: tuple[int, int]) -> None:
    capture = Capture().send(OTHERS[name], ports=ports)
    capture.send(KEEP_ALIVE, ports=ports).send("ff", side=1, ports=ports)
    found, others = dissected(capture, Options(udp_ports=frozenset({9000})))
    assert not found.items
    assert others == {name: 1}


def test_quic_from_its_middle() -> None:
    """Its short header says next to nothing; none of these is shown, though some decode as fragments."""
    capture = Capture()
    for number in range(30):
        capture.send(bytes([0x40 | number]) + bytes(range(number, number + 40)))
    found, others = dissected(capture)
    assert not found.items
    assert others == {"QUIC": 1}


def test_fragments_from_their_middle() -> None:
    """One may be anything; two whose numbers follow each other are Zenoh, and so is one with nothing against it."""
    for count in (1, 2):
        capture = Capture()
        for number in range(count):
            capture.send(bytes((0x66, 5 + number)) + bytes(60))
        found, others = dissected(capture)
        assert found.names == ["FRAGMENT"] * count
        assert not others


def test_what_never_looks_like_zenoh_isnt_shown() -> None:
    capture = Capture()
    for number in range(30):
        capture.send(bytes([0xF0 | number]) + b"abc")
    found, others = dissected(capture)
    assert not found.items
    assert others == {"not Zenoh": 1}


def test_scouting_on_a_port_that_the_user_names() -> None:
    capture = Capture().send(SCOUT, ports=(50001, 7446), host="224.0.0.224").send(HELLO, side=1, ports=(50001, 40123))
    for options in (Options(), Options(udp_ports=frozenset({7446})), Options(udp_ports=frozenset({7446, 40123}))):
        found, _ = dissected(capture, options)
        assert found.summaries == [(1, "SCOUT", []), (2, "HELLO", [])]
        assert not {row["layer"] for row in found.rows} - {"scouting"}


def test_an_init_on_a_port_that_the_user_names_is_no_scout() -> None:
    conversation = Conversation(udp=True, parties=Parties(ports=(40000, 9000))).open()
    found, _ = dissected(conversation.capture, Options(udp_ports=frozenset({9000})))
    assert found.names == ["INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK"]
    assert not found.codes


@pytest.mark.parametrize("zid", ["01aa", "80", "a201", "87b6"])
def test_an_init_is_no_scout_whatever_its_zid(zid: str) -> None:
    """All but the first would be extensions of a SCOUT, which has none by the specification."""
    init = f"8109{len(zid) // 2 - 1:x}2{zid}812701"
    found, _ = dissected(Capture().send(init))
    text = bytes.fromhex(zid)[::-1].hex().lstrip("0")
    assert [(row["message"], row["zid"]) for row in found.rows] == [("INIT_SYN", text)]
    found, _ = dissected(Capture().send(init, ports=(50001, 7446), host="224.0.0.224").send(SCOUT, ports=(50001, 7446)))
    assert found.names[-1] == "SCOUT"


def test_what_answers_a_scout_and_is_no_message() -> None:
    """It belongs to no session."""
    capture = (
        Capture().send(SCOUT, ports=(50001, 7446), host="224.0.0.224").send("deadbeef", side=1, ports=(50001, 40123))
    )
    found, _ = dissected(capture)
    assert found.summaries == [(1, "SCOUT", []), (2, "-", ["unknown-message"])]
    assert {row["layer"] for row in found.rows} == {"scouting"}
    assert not report_of(capture.frames)["sessions"]


@pytest.mark.parametrize("kept", [50, 42])
def test_datagrams_that_the_capture_cut(kept: int) -> None:
    """That is no fault of their sender's."""
    capture = Capture().send(PUT)
    capture.frames[0] = capture.frames[0]._replace(data=capture.frames[0].data[:kept])
    found, _ = dissected(capture)
    assert found.codes == ["cut-by-capture"]


def test_scouts_of_another_version() -> None:
    found, _ = dissected(Capture().send("010a07", ports=(50001, 7446)))
    assert found.summaries == [(1, "SCOUT", ["version"])]


@pytest.mark.parametrize("low_latency", [False, True])
@pytest.mark.parametrize("compression", [False, True])
def test_what_fails_on_any_framing(compression: bool, low_latency: bool) -> None:
    conversation = Conversation(udp=True).open(compression=compression, low_latency=low_latency)
    conversation.frame(0, push("a/b")).raw(0, b"\x1f\x1f\x1f").frame(0, push("a/c"))
    found, _ = dissected(conversation.capture)
    assert found.keys == ["a/b", "a/c"]
    assert {finding.item.frame.number for finding in found.findings} == {6}


@pytest.mark.parametrize("kind", ["<H", ">H", "<I", ">I"])
@pytest.mark.parametrize(("content", "name"), [(INIT, "INIT_SYN"), (KEEP_ALIVE, "KEEP_ALIVE"), (SCOUT, "SCOUT")])
def test_a_length_in_front(kind: str, content: str, name: str) -> None:
    """Of two or four bytes, in either order: read without it, and said so."""
    from struct import pack

    data = bytes.fromhex(content)
    found, _ = dissected(Capture().send(pack(kind, len(data)) + data, ports=(40000, 7446 if name == "SCOUT" else 7447)))
    assert found.summaries == [(1, name, ["length-prefix"])]
    assert "which datagrams and messages don't have" in found.findings[0].message


def test_a_length_in_front_of_something_malformed() -> None:
    found, _ = dissected(Capture().send("0a00413209010203040affff"))
    assert found.names == ["INIT_SYN"]
    assert found.codes[:2] == ["length-prefix", "version"]


def test_a_handshake_to_the_port_of_scouting() -> None:
    found, _ = dissected(Capture().send(INIT, ports=(40000, 7446)))
    assert found.summaries == [(1, "INIT_SYN", ["misplaced-message"])]
    found, _ = dissected(Capture().send(INIT))
    assert found.summaries == [(1, "INIT_SYN", [])]


def text(kind: str, found: Observed) -> str:
    """What a form of output says."""
    writer = make_form(DisplayOptions(kind, long=True, color="never"))
    return "".join(writer.show(item) for item in found.items) + writer.end()


def test_every_form_shows_what_fails(tmp_path: Path) -> None:
    capture = Capture().send("1f2f3f").send(KEEP_ALIVE)
    found, _ = dissected(capture)
    assert "undecoded: 3 bytes  1f 2f 3f" in text("tree", found)
    first, second = text("line", found).splitlines()
    assert first.endswith(
        "undecoded: 3 bytes  1f 2f 3f  [error: id 0x1f isn't a message that may appear here (messages)]"
    )
    assert second.endswith("KEEP_ALIVE")
    row, _ = map(json.loads, text("jsonl", dissected(capture)[0]).splitlines())
    assert (row["frame_number"], row["message"], row["length"]) == (1, None, 3)
    assert [finding["code"] for finding in row["findings"]] == ["unknown-message"]
    assert "unknown-message" in text("json", found)
    (tmp_path / "in").mkdir()
    write_pcap(tmp_path / "in" / "one.pcap", capture.frames)
    converted(tmp_path / "in", tmp_path / "out")
    undecoded, _ = rows(tmp_path / "out")
    assert all(undecoded[name] == cell for name, cell in row.items() if name not in ("file", "ts"))
    (finding,) = rows(tmp_path / "out", "findings")
    assert (finding["frame_number"], finding["code"]) == (1, "unknown-message")


def test_bytes_add_up() -> None:
    capture = Capture().send("1f2f3f").send(DNS, ports=(40001, 7447)).send("0109fb112233", ports=(50001, 7446))
    found = report_of(capture.frames)["accounting"]
    assert found["undecoded"] == 6
    assert found["decoded"] == 3
    assert found["not_zenoh"] == len(DNS)
    assert found["captured"] == 9 + len(DNS)


def test_scouting_that_fails_is_no_session() -> None:
    report = report_of(Capture().send("0109fb112233", ports=(50001, 7446)).frames)
    assert [kind["message"] for kind in report["messages"]] == ["SCOUT"]
    assert not report["sessions"]


def test_messages_in_the_form_of_another_protocol() -> None:
    """Two PUSHes of a low-latency link whose bytes have the form of MAVLink are Zenoh: they say more than a form."""
    capture = Capture()
    for number in range(2):
        capture.send("fd080161" + "2105" + "0119" + f"{number:02x}" * 25, ports=(40000, 9000))
    found, others = dissected(capture)
    assert found.names == ["PUSH", "PUSH"]
    assert not others


def test_what_waits_is_bounded() -> None:
    """Many conversations that say something once, as of a scan."""
    pipeline = Pipeline(Options(limits=Limits(datagrams=1 << 20)))
    capture = Capture()
    for port in range(5000):
        capture.send("1f", ports=(1024 + port, 9000))
    items: list[Item] = []
    for frame in capture.frames:
        items += pipeline.feed(frame)
        assert pipeline.datagrams.store.held <= 1 << 20
    assert len(pipeline.datagrams.conversations) <= 256
    (notice,) = items
    assert isinstance(notice, Notice)
    assert notice.code == "limit"
    pipeline.close()
    assert pipeline.others() == {"not Zenoh": 5000}


def test_encoded_batches_are_no_other_protocol() -> None:
    """A PUSH of any size from the start of a capture is never taken for another protocol."""
    for size in range(0, 300, 7):
        data = encode(BATCH, {"messages": [{"message": "FRAME", "R": 1, "sn": size, "messages": [push("k")]}]},
                      **DATAGRAM.inputs)  # fmt: skip
        found, _ = dissected(Capture().send(data))
        assert found.names == ["FRAME", "PUSH"]
