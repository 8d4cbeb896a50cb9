"""Sessions in tunnels and on raw Ethernet, and frames weren't opened: what users see of them."""

import json
from collections.abc import Callable
from pathlib import Path
from struct import pack

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from zdissect_cli.main import cli

from tests.captures.expectations import SHARED, read
from tests.conversation import Conversation
from tests.export.partitions import assert_same, decodings
from tests.messages import push
from tests.observed import Observed, content, observed
from tests.packets import CaptureBuilder
from zdissect.engine.encoder import encode
from zdissect.export.decoding import Decoding
from zdissect.flow.framing import DATAGRAM
from zdissect.grammar.batch import BATCH
from zdissect.pipeline import Options, Pipeline
from zdissect.records import Frame
from zdissect.stats import Stats

CASES = SHARED / "cases" / "2"
given = pytest.mark.skipif(not CASES.is_dir(), reason="no ../shared/cases here")


def session(udp: bool = False) -> CaptureBuilder:
    conversation = Conversation(udp=udp).open()
    for number in range(3):
        conversation.frame(0, push(f"t/{number}"))
    return conversation.capture


def ip(body: bytes, protocol: int) -> bytes:
    return pack(">BBHHHBBHII", 0x45, 0, 20 + len(body), 1, 0x4000, 64, protocol, 0, 0xAC100001, 0xAC100002) + body


def udp(content: bytes, port: int) -> bytes:
    return ip(pack(">HHHH", 49152, port, 8 + len(content), 0) + content, 17)


def ethernet(body: bytes, kind: int = 0x0800) -> bytes:
    return bytes(12) + pack(">H", kind) + body


ENVELOPES: dict[str, Callable[[bytes], bytes]] = {
    "vxlan": lambda data: ethernet(udp(pack(">II", 0x08000000, 0x4200) + data, 4789)),
    "vxlan twice": lambda data: ethernet(
        udp(pack(">II", 1 << 27, 0) + ethernet(udp(pack(">II", 1 << 27, 0) + data, 8472)), 4789)
    ),
    "geneve": lambda data: ethernet(udp(pack(">BBHI", 1, 0, 0x6558, 0x4200) + bytes(4) + data, 6081)),
    "gre": lambda data: ethernet(ip(pack(">HH", 0, 0x0800) + data[14:], 47)),
    "gre bridging": lambda data: ethernet(ip(pack(">HHI", 0x2000, 0x6558, 7) + data, 47)),
    "ip in ip": lambda data: ethernet(ip(data[14:], 4)),
    "pppoe": lambda data: ethernet(pack(">BBHHH", 0x11, 0, 1, len(data) - 12, 0x21) + data[14:], 0x8864),
    "mpls": lambda data: ethernet(pack(">II", 0x10040, 0x11140) + data[14:], 0x8847),
    "qinq": lambda data: data[:12] + b"\x88\xa8\0\1\x81\0\0\2" + data[12:],
}


def wrapped(capture: CaptureBuilder, envelope: Callable[[bytes], bytes]) -> list[Frame]:
    out = []
    for frame in capture.frames:
        data = envelope(frame.data)
        out.append(frame._replace(data=data, wire_len=len(data)))
    return out


@pytest.mark.parametrize("name", ENVELOPES)
@pytest.mark.parametrize("over_udp", [False, True])
def test_a_session_in_an_envelope_is_the_same(name: str, over_udp: bool) -> None:
    capture = session(over_udp)
    plain, found = observed(capture), observed(wrapped(capture, ENVELOPES[name]))
    assert plain.names.count("PUSH") == 3
    assert content(found.rows) == content(plain.rows)
    assert [row["frame_number"] for row in found.rows] == [row["frame_number"] for row in plain.rows]


@pytest.mark.parametrize("name", ENVELOPES)
def test_seen_inside_and_outside_of_a_tunnel_it_counts_once(name: str) -> None:
    capture = session()
    both = [one for pair in zip(capture.frames, wrapped(capture, ENVELOPES[name]), strict=True) for one in pair]
    frames = [frame._replace(number=number) for number, frame in enumerate(both, 1)]
    assert observed(frames).names == observed(capture).names != []
    assert not [code for code in observed(frames).codes if code != "initial-sn-foreign"]


@pytest.mark.parametrize("name", ["vxlan", "gre bridging"])
def test_groups_of_a_capture_in_tunnels_are_those_of_the_whole(name: str) -> None:
    assert_same(wrapped(session(), ENVELOPES[name]))


def test_decode_as_takes_a_tunnel_s_port_for_zenoh() -> None:
    conversation = Conversation(udp=True)
    conversation.parties = conversation.parties._replace(ports=(40000, 4789))
    conversation.open().frame(0, push("a"))
    assert observed(conversation, Options(udp_ports=frozenset({4789}))).names == observed(conversation).names != []
    assert (
        observed(wrapped(session(), ENVELOPES["vxlan"]), Options(udp_ports=frozenset({4789}))).names.count("PUSH") == 0
    )


# Raw Ethernet

SENDER, GROUP, OTHER = b"\x02\0\0\0\0\1", b"\x01\0\x5e\0\0\1", b"\x02\0\0\0\0\2"
JOIN = {
    "message": "JOIN", "T": 1, "version": 9, "zid": b"\1\xaa", "whatami": 1, "lease": 10, "next_sn_reliable": 0,
    "next_sn_best_effort": 0,
    "extensions": [{"ext": "patch", "value": 1}],
}  # fmt: skip


def raw(*messages: dict[str, object], src: bytes = SENDER, dst: bytes = GROUP, tag: bytes = b"") -> bytes:
    data = encode(BATCH, {"messages": list(messages)}, **DATAGRAM.inputs)
    frame = dst + src + tag + b"\xe0\x72" + pack(">H", len(data)) + data
    return frame + bytes(max(0, 60 - len(frame)))


def framed(sn: int, key: str) -> dict[str, object]:
    return {"message": "FRAME", "R": 1, "sn": sn, "messages": [push(key)]}


def raw_ethernet() -> CaptureBuilder:
    capture = CaptureBuilder()
    capture.record(raw(JOIN))
    capture.record(raw(framed(0, "eth/a")))
    capture.record(raw(framed(1, "eth/b"), tag=b"\x81\0\0\5"))
    capture.record(raw({**JOIN, "zid": b"\2\xbb"}, src=OTHER))
    return capture


def test_raw_ethernet() -> None:
    found = observed(raw_ethernet())
    assert found.names == ["JOIN", "FRAME", "PUSH", "FRAME", "PUSH", "JOIN"]
    assert found.keys == ["eth/a", "eth/b"]
    assert found.codes == []
    row = found.rows[2]
    assert (row["flow_id"], row["link"], row["buffer"]) == ("raweth.0", "raweth", "raweth")
    assert [row[name] for name in ("src_ip", "src_port", "dst_ip", "dst_port")] == [None] * 4
    assert (row["src_zid"], found.rows[5]["flow_id"]) == ("aa01", "raweth.1")


def test_raw_ethernet_beside_udp_has_numbers_of_its_own() -> None:
    frames = session(udp=True).frames + raw_ethernet().frames
    found = observed([frame._replace(number=number) for number, frame in enumerate(frames, 1)])
    assert {row["flow_id"] for row in found.rows} == {"udp.0", "raweth.0", "raweth.1"}


def test_a_sender_on_raw_ethernet_counts_over_all_its_receivers() -> None:
    capture = CaptureBuilder()
    capture.record(raw(JOIN))
    for sn, receiver in enumerate((GROUP, OTHER, GROUP, OTHER)):
        capture.record(raw(framed(sn, "eth/a"), dst=receiver))
    assert observed(capture).codes == []
    alone = raw_ethernet()
    alone.record(raw(framed(3, "eth/a")))
    assert observed(alone).codes == ["sn-gap"]


def test_raw_ethernet_in_tables_and_statistics() -> None:
    decoding, pipeline, stats = Decoding(), Pipeline(Options(history=True)), Stats()
    batches = []
    for frame in raw_ethernet().frames:
        batches += decoding.feed(frame)
        for item in pipeline.feed(frame):
            stats.feed(item)
    batches += decoding.close()
    (sessions,) = [batch.to_pylist() for name, batch in batches if name == "sessions"]
    assert [(one["flow_id"], one["link"], one["opener_ip"], one["opener_port"]) for one in sessions] == [
        ("raweth.0", "raweth", None, None), ("raweth.1", "raweth", None, None),
    ]  # fmt: skip
    for item in pipeline.close():
        stats.feed(item)
    report = stats.finish(pipeline)
    assert report["sessions"][0]["links"][0]["addresses"] == ["02:00:00:00:00:01", "01:00:5e:00:00:01"]
    counted = report["accounting"]
    assert counted["captured"] == counted["decoded"] > 0


# Frames that aren't opened


def odd() -> list[Frame]:
    data = [
        ethernet(bytes(28), 0x0806), ethernet(bytes(28), 0x0806), ethernet(ip(bytes(8), 1)),
        ethernet(bytes(46), 0x88E5), ethernet(ip(bytes(20), 50)), ethernet(ip(bytes(20), 50)), ethernet(b"\x45\0"),
    ]  # fmt: skip
    return [Frame("test", number, number, 1, len(one), one) for number, one in enumerate(data, 1)]


def made(directory: Path, frames: list[Frame], link: int = 1) -> str:
    path = directory / "made.pcap"
    records = (pack("<IIII", 0, frame.number, len(frame.data), frame.wire_len) + frame.data for frame in frames)
    path.write_bytes(pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link) + b"".join(records))
    return str(path)


def run(*args: str) -> Result:
    done = CliRunner().invoke(cli, args, standalone_mode=False)
    assert done.exception is None
    return done


ODD = "IP protocol 50 (ESP) 2, EtherType 0x88e5 (MACsec) 1, short IPv4 1"


@pytest.mark.parametrize("command", [["-T", "line"], ["stats"]])
def test_what_isn_t_opened_is_told(tmp_path: Path, command: list[str]) -> None:
    path = made(tmp_path, odd())
    done = run(*command, path)
    assert "zdissect: no Zenoh found in 7 frames\n" in done.stderr
    assert f"zdissect: 4 frames weren't opened: {ODD}\n" in done.stderr
    assert "ARP" not in done.stderr
    assert "opened" not in run(*command, "-q", path).stderr


def test_a_link_type_is_told_by_its_name(tmp_path: Path) -> None:
    assert "1 frame wasn't opened: link type 271 (VSOCK) 1\n" in run(made(tmp_path, odd()[:1], 271)).stderr


def test_many_kinds_are_told_in_a_line(tmp_path: Path) -> None:
    frames = [Frame("", number, 0, 1, 60, ethernet(bytes(46), 0x1000 + number)) for number in range(1, 21)]
    line = run(made(tmp_path, frames)).stderr.splitlines()[-1]
    assert line.startswith("zdissect: 20 frames weren't opened: EtherType 0x1001 1, ")
    assert line.endswith(", 12 other kinds 12")


def test_ordinary_background_is_only_in_statistics(tmp_path: Path) -> None:
    path = made(tmp_path, odd()[:3])
    assert run(path).stderr == "zdissect: no Zenoh found in 3 frames\n"
    assert json.loads(run("stats", "--json", path).stdout)["unopened"] == [
        {"what": "ARP", "frames": 2, "background": True}, {"what": "ICMP", "frames": 1, "background": True},
    ]  # fmt: skip
    table = run("stats", path).stdout
    assert "Frames without TCP or UDP" in table
    assert [line.split() for line in table.splitlines() if "ARP" in line] == [["ARP", "2", "ordinary"]]


def test_the_table_of_captures_has_them(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    made(tmp_path / "in", odd())
    done = run("batch", str(tmp_path / "in"), "-o", str(tmp_path / "out"))
    assert f"4 frames weren't opened: {ODD}\n" in done.stderr
    (row,) = [row for part in (tmp_path / "out" / "captures").iterdir() for row in pq.read_table(part).to_pylist()]
    assert row["unopened_frames"] == 4
    assert {one["what"]: (one["frames"], one["background"]) for one in row["unopened"]} == {
        "ARP": (2, True), "ICMP": (1, True), "IP protocol 50 (ESP)": (2, False),
        "EtherType 0x88e5 (MACsec)": (1, False), "short IPv4": (1, False),
    }  # fmt: skip


def test_groups_count_what_isn_t_opened_once() -> None:
    frames = [*odd(), *session().frames, *odd()]
    some = [frame._replace(number=number) for number, frame in enumerate(frames, 1)]
    split = assert_same(some)
    groups, _ = decodings(some, split)
    counted = [facts.unopened.total() for group in groups for facts in group.files.values()]
    assert sum(counted) == 14


# The cases


@given
@pytest.mark.parametrize("name", ["g9a_vxlan", "g9b_pktap"])
def test_the_session_of_the_cases(name: str) -> None:
    found: Observed = read(CASES / f"{name}.pcap")
    assert [name for name in found.names if name != "FRAME"] == [
        "INIT_SYN", "INIT_ACK", "OPEN_SYN", "OPEN_ACK", "PUSH", "PUSH", "PUSH",
    ]  # fmt: skip
    assert found.keys == ["t/0", "t/1", "t/2"]
    assert set(found.codes) == {"initial-sn-foreign"}


@given
def test_raw_ethernet_of_the_cases() -> None:
    found = read(CASES / "g9c_raweth.pcap")
    assert found.names == ["JOIN", "FRAME", "PUSH", "FRAME", "PUSH"]
    assert found.keys == ["eth/a", "eth/b"]
    assert [row["payload"] for row in found.of("PUSH")] == [b"raw one", b"raw two"]
    assert found.codes == []
