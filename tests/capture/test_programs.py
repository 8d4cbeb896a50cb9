"""How programs that capture are called, and what is made of what they say."""

import pytest

from zdissect.capture.errors import CaptureError, Forbidden, UsageProblem
from zdissect.capture.programs import DUMPCAP, TCPDUMP, dropped, failure

TCPDUMP_END = """tcpdump: listening on lo, link-type EN10MB (Ethernet), snapshot length 262144 bytes
202 packets captured
404 packets received by filter
3 packets dropped by kernel
"""
DUMPCAP_END = """Capturing on 'Loopback: lo'
File: -
Packets captured: 448
Packets received/dropped on interface 'Loopback: lo': 448/12 (pcap:12/dumpcap:0/flushed:0/ps_ifdrop:0) (97.4%)
"""
DUMPCAP_FILTER = """Capturing on 'Loopback: lo'
dumpcap: Invalid capture filter "tcp port foo" for interface 'lo'.

That string isn't a valid capture filter (unknown port 'foo').
See the User's Guide for a description of the capture filter syntax.
"""


def test_frames_come_at_once_and_a_filter_is_no_option() -> None:
    command = TCPDUMP.command("/usr/sbin/tcpdump", "lo", "-w /etc/passwd")
    assert {"--immediate-mode", "-U"} <= {*command}
    assert command[-4:] == ["-i", "lo", "--", "-w /etc/passwd"]
    assert DUMPCAP.command("dumpcap", "lo", "udp")[-4:] == ["-i", "lo", "-f", "udp"]
    assert TCPDUMP.command("tcpdump", "lo", "")[-2:] == ["-i", "lo"]


@pytest.mark.parametrize(
    ("said", "number"), [(TCPDUMP_END, 3), (DUMPCAP_END, 12), ("", 0), ("1 packet dropped by kernel", 1)]
)
def test_lost_frames_are_counted(said: str, number: int) -> None:
    assert dropped(said) == number


@pytest.mark.parametrize(
    ("said", "kind", "text"),
    [
        ("tcpdump: lo: You don't have permission to perform this capture\n(socket: Operation not permitted)",
         Forbidden, "use sudo"),
        ('dumpcap: You do not have permission to capture on device "lo".', Forbidden, "group wireshark"),
        ("tcpdump: unknown port '99x'", UsageProblem, "unknown port '99x'"),
        ("tcpdump: can't parse filter expression: syntax error", UsageProblem, "syntax error"),
        (DUMPCAP_FILTER, UsageProblem, "has an error in it: unknown port 'foo'"),
        (TCPDUMP_END + "tcpdump: pcap_loop: The interface disappeared", CaptureError, "The interface disappeared"),
        ("", CaptureError, "gave no reason"),
    ],
)  # fmt: skip
def test_why_nothing_is_captured_is_told(said: str, kind: type[CaptureError], text: str) -> None:
    problem = failure("tcpdump", "lo", "a filter", said)
    assert type(problem) is kind
    assert text in str(problem)
    assert str(problem).startswith("lo: ")
    assert "\n" not in str(problem)
