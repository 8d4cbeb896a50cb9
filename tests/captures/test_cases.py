"""Captures after reports of users and from other dissectors, with what each message must say."""

import pytest

from tests.captures.expectations import SAMPLES, SHARED, read
from tests.observed import Observed
from zdissect.dissection import Dissection

CASES = SHARED / "cases"
third_party = pytest.mark.skipif(not CASES.is_dir(), reason="no ../shared/cases here")


def frames(found: Observed) -> list[tuple[int, str]]:
    return [(row["frame_number"], row["message"]) for row in found.rows]


def batch(found: Observed, frame: int) -> Dissection:
    return next(item for item in found.items if isinstance(item, Dissection) and item.frame.number == frame)


class TestTrailingByte:
    """One byte too many after OPEN_SYN (eclipse-zenoh/zenoh#1807)."""

    found = read(SAMPLES / "trailing-byte.pcap")

    def test_nothing_is_lost(self) -> None:
        names = ["INIT_SYN", "INIT_ACK", "OPEN_SYN", "OAM", "OPEN_ACK", "KEEP_ALIVE"]
        assert frames(self.found) == list(zip((4, 5, 6, 6, 7, 8), names, strict=True))

    def test_the_handshake(self) -> None:
        syn, ack, opening, _, answer, _ = self.found.rows
        assert (syn["zid"], syn["whatami"], syn["batch_size"], syn["version"]) == ("8", "client", 65535, 9)
        assert (ack["whatami"], ack["batch_size"], len(ack["cookie"])) == ("router", 49152, 32)
        assert (opening["lease_ms"], opening["initial_sn"]) == (127_000, 1)
        assert (answer["lease_ms"], answer["initial_sn"]) == (10_000, 7)

    def test_the_cookie_is_that_of_the_acceptor(self) -> None:
        _, ack, opening, *_ = self.found.rows
        assert opening["cookie"] == ack["cookie"] == bytes(range(0x20, 0x40))

    def test_the_lease_takes_a_byte_too_many(self) -> None:
        (place,) = (place for place in self.found.located if place.code == "vle-overlong")
        assert (place.field, place.data) == ("open.lease", b"\xff\x00")

    def test_the_last_byte_is_a_node_and_an_error_of_its_own(self) -> None:
        item = batch(self.found, 6)
        assert int.from_bytes(item.buffer.data[:2], "little") == 38
        field, _, start, stop, value = item.tape.spans[-1]
        assert (field.path, start, stop, value) == ("zenoh.transport_oam.header", 0x27, 0x28, 0)
        errors = [place for place in self.found.located if place.severity == "error"]
        assert [(place.code, place.message) for place in errors] == [("truncated", "OAM")]


class TestDuplicateNumber:
    """The same number twice, without a handshake (eclipse-zenoh/zenoh-pico#1299)."""

    found = read(SAMPLES / "duplicate-sn.pcap")

    def test_numbers(self) -> None:
        expected = [181512, 181513, 181514, 181514, 181516, 181517]
        assert [row["sn"] for row in self.found.of("FRAME")] == expected
        assert {row["reliability"] for row in self.found.rows} == {"reliable"}

    def test_findings_at_their_frames(self) -> None:
        told = [(finding.item.frame.number, finding.rule.code, finding.message) for finding in self.found.findings]
        assert told == [
            (4, "sn-duplicate", "sn 181514 is repeated"),
            (5, "sn-gap", "sn 181516, expected 181515: 1 missing"),
        ]

    def test_the_key_isnt_invented(self) -> None:
        pushes = self.found.of("PUSH")
        assert len(pushes) == 6
        for row in pushes:
            assert (row["key_scope"], row["key_mapping"]) == (29, "sender")
            assert "key_expr" not in row
            assert "key_suffix" not in row
            assert row["payload"] == bytes.fromhex("08b99dd1ea06")


@third_party
class TestScoutingOnAnyPort:
    """HELLOs come back to the port that asked (ZettaScaleLabs/zenoh-dissector#25)."""

    @pytest.fixture
    def found(self) -> Observed:
        return read(CASES / "query-reply.pcapng")

    def test_scouts(self, found: Observed) -> None:
        scouts = found.of("SCOUT")
        assert [row["frame_number"] for row in scouts] == [1, 2, 3, 4, 5, 6]
        assert {(row["version"], row["whatami"], row.get("zid")) for row in scouts} == {(9, "router|peer|client", None)}
        assert {row["dst_port"] for row in scouts} == {7446}

    def test_hellos(self, found: Observed) -> None:
        hellos = found.of("HELLO")
        assert [row["frame_number"] for row in hellos] == [7, 8]
        assert [(row["src_port"], row["dst_port"]) for row in hellos] == [(61784, 50893), (60685, 62303)]
        assert [row["request_frame"] for row in hellos] == [5, 6]
        for row in hellos:
            assert (row["zid"], row["whatami"]) == ("9163ed36606d1269a85bd1bebe1906cb", "peer")
            assert len(row["locators"]) == 11
            assert (row["locators"][0], row["locators"][-1]) == ("tcp/[fe80::1]:64903", "tcp/10.0.0.13:64903")

    def test_quic_isnt_zenoh(self) -> None:
        assert min(row["frame_number"] for row in read(CASES / "pub-sub-compression.pcapng").rows) > 12

    def test_nor_is_what_else_is_in_a_capture(self) -> None:
        addresses = {
            row[end] for row in read(CASES / "multi-ifface-capture.pcapng").rows for end in ("src_ip", "dst_ip")
        }
        assert addresses == {"127.0.0.1"}


@third_party
class TestVersion8:
    """The sample of the Rust dissector, of 2023."""

    @pytest.fixture
    def found(self) -> Observed:
        return read(CASES / "sample-data.pcap")

    def test_messages(self, found: Observed) -> None:
        assert frames(found) == [
            (4, "INIT_SYN"), (6, "INIT_ACK"), (8, "OPEN_SYN"), (9, "OPEN_ACK"), (10, "FRAME"), (10, "DECLARE"),
            (10, "DECLARE"), (12, "FRAME"), (12, "PUSH"), (13, "CLOSE"),
        ]  # fmt: skip

    def test_the_version_is_told_and_decoding_goes_on(self, found: Observed) -> None:
        assert found.codes.count("version") == 2
        assert {finding.rule.group for finding in found.findings} == {"protocol"}

    def test_no_finding_about_numbers(self, found: Observed) -> None:
        assert found.of("FRAME")
        assert not [code for code in found.codes if code.startswith("sn-")]

    def test_handshake(self, found: Observed) -> None:
        syn, ack, opening, answer = found.rows[:4]
        assert (syn["zid"], syn["whatami"]) == ("353fd393b4b9f19ea9a88b6396487af6", "client")
        assert (ack["zid"], ack["whatami"]) == ("47528d6425b615d7ca386e706e2870c6", "peer")
        assert [ext["name"] for row in (syn, ack) for ext in row["extensions"]] == ["qos", "qos"]
        assert len(ack["cookie"]) == 49
        assert opening["cookie"] == ack["cookie"]
        assert [(row["lease_ms"], row["initial_sn"]) for row in (opening, answer)] == [
            (10_000, 106702511),
            (10_000, 191270250),
        ]

    def test_data(self, found: Observed) -> None:
        (keyexpr,), (subscriber,), (push,) = (found.of(name) for name in ("D_KEYEXPR", "D_SUBSCRIBER", "PUSH"))
        assert (keyexpr["expr_id"], keyexpr["key_expr"]) == (1, "demo/example")
        assert (subscriber["entity_id"], subscriber["key_scope"], subscriber["key_mapping"]) == (0, 1, "sender")
        assert (subscriber["key_suffix"], subscriber["key_expr"]) == ("/**", "demo/example/**")
        (ext,) = subscriber["extensions"]
        assert (ext["id"], ext["encoding"], ext["value"]) == (1, "Z64", b"\x01")
        assert (push["key_scope"], push["key_expr"]) == (0, "demo/example/zenoh-rs-put")
        assert (push["encoding_id"], push["encoding_schema"], push["payload"]) == (1, "", b"Put from Rust!")
        assert found.of("CLOSE")[0]["close_reason"] == "GENERIC"
        assert [row["sn"] for row in found.of("FRAME")] == [191270250, 106702511]
