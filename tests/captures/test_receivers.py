"""What senders get wrong and receivers judge by themselves, after reports of users: in every form of output."""

import json
from pathlib import Path

import pytest
from zdissect_cli.forms import make_form
from zdissect_cli.options import DisplayOptions

from tests.captures.expectations import SHARED, read
from tests.conversation import Conversation
from tests.export.tables import converted, rows, write_pcap
from tests.messages import push, put
from tests.observed import Observed, observed
from tests.packets import CaptureBuilder, Parties, udp_packet
from zdissect.engine import vle
from zdissect.engine.encoder import encode
from zdissect.grammar.batch import SCOUTING_DATAGRAM
from zdissect.grammar.primitives import utc_text

CASES = SHARED / "cases" / "2"
CLOCK = bytes((*range(0xA1, 0xB0), 0x1A))
HALF_PAST = (1_700_000_000 << 32) + (1 << 31)


def old_timestamp() -> Conversation:
    """Rust before July 2024 declared the length of a timestamp's time, and one (eclipse-zenoh/zenoh#1239)."""
    stamp = {"ext": "timestamp", "length": 10, "time": HALF_PAST, "id": CLOCK}
    return (
        Conversation()
        .open()
        .frame(0, push("clock/a", body=put(b"tick"), extensions=[stamp]), push("clock/b", body=put(b"tock")))
    )


def refused_locator() -> CaptureBuilder:
    """A HELLO with the locator of an endpoint (eclipse-zenoh/zenoh#2607)."""
    capture, parties = CaptureBuilder(), Parties(("10.0.0.1", "10.0.0.2"), (50001, 40123))
    scout = {"message": "SCOUT", "version": 9, "what": 3}
    locators = ["tcp/10.0.0.2:7447", "tcp/10.0.0.2:7448#iface=eth0"]
    hello = {"message": "HELLO", "version": 9, "whatami": 0, "zid": b"a", "locators": locators}
    asking = Parties(("10.0.0.1", "224.0.0.224"), (50001, 7446))
    capture.record(udp_packet(asking, 0, encode(SCOUTING_DATAGRAM, {"messages": [scout]})))
    capture.record(udp_packet(parties, 1, encode(SCOUTING_DATAGRAM, {"messages": [hello]})))
    return capture


def shown(kind: str, found: Observed) -> str:
    """What a form of output says."""
    writer = make_form(DisplayOptions(kind, long=True, color="never"))
    return "".join(writer.show(item) for item in found.items) + writer.end()


def test_the_timestamp_is_read_and_nothing_behind_it_lost() -> None:
    found = observed(old_timestamp())
    assert found.keys == ["clock/a", "clock/b"]
    assert [row["payload"] for row in found.of("PUSH")] == [b"tick", b"tock"]
    (place,) = found.located
    assert place[:3] == ("extension-length", "warning", "PUSH")
    assert place.data == bytes((10,)) + vle.encode(HALF_PAST) + b"\x10" + CLOCK
    (finding,) = found.findings
    assert finding.message == "timestamp declares 10 bytes, its structure takes 26"
    assert found.of("PUSH")[0]["extensions"][0]["length"] == 26
    (message,) = (one for one in found.messages if one.row.get("key_expr") == "clock/a")
    assert message.value("push.ext_timestamp.time") == HALF_PAST
    assert message.value("push.ext_timestamp.id") == CLOCK


def test_the_timestamp_in_the_tree_and_in_lines() -> None:
    found = observed(old_timestamp())
    tree = shown("tree", found)
    assert utc_text(1_700_000_000_500_000_000) in tree
    assert "id: 1aafaeadacabaaa9a8a7a6a5a4a3a2a1" in tree
    assert "undecoded" not in tree
    first, second = shown("line", found).splitlines()[-2:]
    assert first.endswith('clock/a  4 bytes  "tick"  [warning: timestamp declares 10 bytes, its structure takes 26]')
    assert second.endswith('clock/b  4 bytes  "tock"')


def test_the_timestamp_in_tables(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write_pcap(tmp_path / "in" / "one.pcap", old_timestamp().capture.frames)
    converted(tmp_path / "in", tmp_path / "out")
    pushes = [row for row in rows(tmp_path / "out") if row["message"] == "PUSH"]
    assert [(row["key_expr"], row["payload"]) for row in pushes] == [("clock/a", b"tick"), ("clock/b", b"tock")]
    assert [[one["code"] for one in row["findings"] or ()] for row in pushes] == [["extension-length"], []]


def test_the_locator_is_told_with_the_reason() -> None:
    found = observed(refused_locator())
    (place,) = found.located
    assert place == ("locator", "warning", "HELLO", "hello.locators.locator", b"\x1ctcp/10.0.0.2:7448#iface=eth0")
    assert "#" in found.findings[0].message
    row = json.loads(shown("jsonl", found).splitlines()[1])
    assert row["locators"] == ["tcp/10.0.0.2:7447", "tcp/10.0.0.2:7448#iface=eth0"]
    assert [one["code"] for one in row["findings"]] == ["locator"]
    assert found.of("HELLO")[0]["request_frame"] == 1


def told(found: Observed) -> list[tuple[int, str, str]]:
    own = (finding for finding in found.findings if finding.rule.code != "initial-sn-foreign")
    return [(finding.item.frame.number, finding.rule.code, finding.rule.severity) for finding in own]


@pytest.mark.skipif(not CASES.is_dir(), reason="no ../shared/cases here")
def test_the_captures_of_the_reports() -> None:
    found = read(CASES / "g4_timestamp_ext_length.pcap")
    assert told(found) == [(8, "extension-length", "warning")]
    assert found.keys == ["clock/a", "clock/b"]
    assert told(read(CASES / "g6_hello_locator_config.pcap")) == [(2, "locator", "warning")]
