"""Frames while they come: through programs, of which none is left behind, or a packet socket."""

import socket
import time
from pathlib import Path
from struct import pack

import pytest

from tests.capturing import FORBIDDEN, PATIENT, SAMPLES, may_capture, runs, stand_in
from zdissect.capture import CaptureError, live, open_capture
from zdissect.capture.errors import Forbidden, UsageProblem
from zdissect.capture.interfaces import interface, interfaces, listing
from zdissect.capture.live import Live
from zdissect.capture.packet_socket import PacketSocket
from zdissect.records import Frame


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole path, on a machine where nobody may open a packet socket."""

    def refuse(*_: str) -> None:
        raise PermissionError

    monkeypatch.setattr(live, "executable", lambda name: str(tmp_path / name) if (tmp_path / name).exists() else None)
    monkeypatch.setattr(live, "PacketSocket", refuse)
    return tmp_path


def sample() -> list[bytes]:
    with open_capture(str(SAMPLES / "query-router.pcap")) as capture:
        return [frame.data for frame in capture]


def test_frames_come_and_silence_is_told_and_nothing_is_left_running(programs: Path) -> None:
    program = stand_in(programs, "tcpdump", PATIENT)
    begun = time.monotonic()
    got: list[Frame] = []
    with Live("lo") as capture:
        assert capture.now_ns is None
        for frame in capture:
            if frame is None and len(got) == len(sample()):
                break
            if frame is not None:
                got.append(frame)
        assert runs(program)
    assert [frame.data for frame in got] == sample()
    assert {frame.source for frame in got} == {"lo"}
    assert (capture.program, capture.dropped, runs(program)) == ("tcpdump", 7, False)
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("size", [28, 33, 48, 60], ids=["section", "a part", "interface", "a part of a packet"])
def test_silence_is_told_however_much_of_a_frame_has_come(programs: Path, order: str, size: int) -> None:
    """dumpcap writes a section and an interface at once, and nothing more where nothing is sent."""
    section = pack(order + "IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    whole = section + pack(order + "IIHHII", 1, 20, 1, 0, 0, 20) + pack(order + "IIIIIII", 6, 44, 0, 0, 1, 12, 12)
    header = programs / "header"
    header.write_bytes(whole[:size])
    stand_in(programs, "dumpcap", PATIENT.replace("$CAPTURE", str(header)))
    begun, silences = time.monotonic(), 0
    with Live("lo") as capture:
        for frame in capture:
            assert frame is None
            silences += 1
            if silences == 4:
                break
    assert time.monotonic() - begun < 5


def test_time_passes_in_a_silence_by_the_clock_of_the_capture(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "PATIENCE_S", 0.02)
    stand_in(programs, "tcpdump", PATIENT)
    with Live("lo") as capture:
        for frame in capture:
            if frame is None and capture.last is not None and capture.now_ns != capture.last.ts_ns:
                break
        assert capture.last is not None
        assert capture.now_ns is not None
        assert 0 < capture.now_ns - capture.last.ts_ns < 10**9


def test_a_program_that_does_not_listen_is_killed(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_GOODBYE_S", 0.2)
    program = stand_in(programs, "tcpdump", "trap '' TERM; cat $CAPTURE; exec sleep 60")
    with Live("lo"):
        pass
    assert not runs(program)


def test_what_a_program_may_not_another_may(programs: Path) -> None:
    stand_in(programs, "tcpdump", FORBIDDEN)
    with pytest.raises(Forbidden, match="use sudo"):
        Live("lo")
    stand_in(programs, "dumpcap", PATIENT)
    with Live("lo") as capture:
        assert capture.program == "dumpcap"


def test_a_wrong_filter_is_told(programs: Path) -> None:
    stand_in(programs, "tcpdump", 'echo "tcpdump: can\'t parse filter expression: syntax error" >&2; exit 1')
    with pytest.raises(UsageProblem, match="capture filter 'foo' has an error in it"):
        Live("lo", "foo")


def test_a_program_that_ends_by_itself_is_an_error_if_it_says_so(programs: Path) -> None:
    stand_in(programs, "tcpdump", "cat $CAPTURE; echo 'tcpdump: pcap_loop: The interface went down' >&2; exit 1")
    got: list[Frame | None] = []
    with Live("lo") as capture, pytest.raises(CaptureError, match="lo: tcpdump can't capture there: pcap_loop: The i"):
        got.extend(capture)
    assert len([frame for frame in got if frame is not None]) == len(sample())


def test_without_any_program_and_permission_it_is_said_what_to_do(programs: Path) -> None:
    with pytest.raises(Forbidden, match="setcap"):
        Live("lo")


def test_interfaces_have_names_and_numbers() -> None:
    assert "lo" in interfaces()
    assert interface("lo") == "lo"
    assert interface(str(interfaces().index("lo") + 1)) == "lo"
    assert any(line.endswith(". lo (Loopback)") for line in listing())
    with pytest.raises(UsageProblem, match=r"no such interface; there are .*lo"):
        interface("eth77")
    with pytest.raises(UsageProblem):
        interface("99")


@may_capture
def test_a_filter_without_libpcap_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise ImportError("libpcap is not available. Cannot compile filter !")

    monkeypatch.setattr("scapy.arch.common.compile_filter", missing)
    with pytest.raises(UsageProblem, match="-f needs tcpdump, dumpcap or libpcap here"):
        PacketSocket("lo", "tcp port 7447")


@may_capture
def test_a_packet_socket_gives_each_frame_of_loopback_once() -> None:
    receiver, sender = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    receiver.bind(("127.0.0.1", 0))
    opened = PacketSocket("lo", "")
    try:
        sent_ns = time.time_ns()
        for number in range(3):
            sender.sendto(b"zdissect test %d" % number, receiver.getsockname())
        time.sleep(0.1)
        got = [frame for frame in opened.frames() if b"zdissect test" in frame.data]
    finally:
        for one in (opened, receiver, sender):
            one.close()
    assert [frame.data[-1:] for frame in got] == [b"0", b"1", b"2"]
    assert all(frame.link == 1 and abs(frame.ts_ns - sent_ns) < 10**9 for frame in got)
