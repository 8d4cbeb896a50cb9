"""The programs that capture, tcpdump and dumpcap: how to call them, and what they say when they end.

tcpdump comes first: in its immediate mode a frame gets here within a millisecond. dumpcap has no such mode and takes a
quarter of a second, but is often the program that users may run, as members of the group wireshark.
"""

import re
import sys
from dataclasses import dataclass

from zdissect.capture.errors import CaptureError, Forbidden, UsageProblem

BUFFER_MIB = 32
"""Kernel buffer. In immediate mode each frame takes as much of it as the longest possible one: 64 KiB on loopback."""

_PERMISSION = re.compile(r"permission|not permitted|are you root|superuser|access denied", re.IGNORECASE)
_FILTER = re.compile(
    r"syntax error|invalid capture filter|filter expression|unknown (?:host|port|network)|illegal (?:token|qualifier)",
    re.IGNORECASE,
)
_NO_REASON = re.compile(r"\d+ packets? |Packets |File: |Capturing on|.*listening on|dropped privs")
_DROPPED = (
    re.compile(r"^(\d+) packets? dropped by (?:kernel|interface)", re.MULTILINE),  # tcpdump
    re.compile(r"^Packets received/dropped on interface .*: \d+/(\d+) ", re.MULTILINE),  # dumpcap
)


@dataclass(frozen=True, slots=True)
class Sniffer:
    """A program that writes what it captures to standard output, in a format that is read here."""

    name: str
    arguments: tuple[str, ...]
    """Its arguments before the interface."""
    filter: tuple[str, ...]
    """Its arguments before the capture filter."""

    def command(self, path: str, interface: str, capture_filter: str) -> list[str]:
        """The command that captures on an interface."""
        more = [*self.filter, capture_filter] if capture_filter else []
        return [path, *self.arguments, "-i", interface, *more]


_NANOSECONDS = ("--time-stamp-precision=nano",) if sys.platform == "linux" else ()

TCPDUMP = Sniffer(
    "tcpdump", ("--immediate-mode", "-U", "-n", "-B", str(BUFFER_MIB << 10), *_NANOSECONDS, "-w", "-"), ("--",)
)  # fmt: skip
DUMPCAP = Sniffer("dumpcap", ("-q", "-B", str(BUFFER_MIB), "-w", "-"), ("-f",))
PROGRAMS = (TCPDUMP, DUMPCAP)


def dropped(said: str) -> int:
    """How many frames were lost because they came too fast, according to what a program said at its end."""
    return sum(int(number) for pattern in _DROPPED for number in pattern.findall(said))


def failure(program: str, interface: str, capture_filter: str, said: str) -> CaptureError:
    """The error for a program that ended before it had captured anything: why, and what to do."""
    if _PERMISSION.search(said):
        return forbidden(interface)
    why = reason(said)
    if capture_filter and _FILTER.search(said):
        return UsageProblem(interface, f"the capture filter {capture_filter!r} has an error in it: {why}")
    return CaptureError(interface, f"{program} can't capture there: {why or 'it gave no reason'}")


def forbidden(interface: str) -> Forbidden:
    """The error that this user may not capture, with what to do about it."""
    return Forbidden(
        interface,
        "you may not capture here: use sudo, or `sudo setcap cap_net_raw,cap_net_admin+ep $(which tcpdump)`, "
        "or let dumpcap do it as a member of the group wireshark (`sudo usermod -aG wireshark $USER`)",
    )


def reason(said: str) -> str:
    """Why a program ended: the first line in which it says so, without its own name."""
    if invalid := re.search(r"capture filter \((.+)\)", said):
        return invalid[1]
    lines = (re.sub(r"^(?:tcpdump|dumpcap): ", "", line).strip() for line in said.splitlines())
    return next((line for line in lines if line and not _NO_REASON.match(line)), "")
