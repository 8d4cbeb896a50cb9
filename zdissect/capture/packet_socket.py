"""Frames from a packet socket of Linux, where no program that captures is installed (packet(7))."""

import socket
import struct
from collections.abc import Iterator

from zdissect.capture.errors import UsageProblem
from zdissect.capture.interfaces import ANY
from zdissect.records import Frame

_ALL_PROTOCOLS = 3  # ETH_P_ALL
_SO_TIMESTAMPNS = 35
_LONGEST = 1 << 18
"""Bytes of the longest frame, so that none is cut."""
_BUFFER = 32 << 20
_LOOPBACK = 772  # ARPHRD_LOOPBACK
_LINKS = {1: 1, _LOOPBACK: 1, 512: 101, 519: 101, 65534: 101, 768: 101, 776: 101, 778: 101}
"""Kinds of devices (ARPHRD_) -> LINKTYPE_: Ethernet, and those whose frames are bare IP packets."""
_STATISTICS = 6  # PACKET_STATISTICS


class PacketSocket:
    """An open packet socket on an interface. Raises PermissionError if this user may not capture."""

    def __init__(self, interface: str, capture_filter: str) -> None:
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)  # no protocol yet: nothing comes
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
            if capture_filter:
                _attach(self.socket, interface, capture_filter)
            self.socket.bind(("" if interface == ANY else interface, _ALL_PROTOCOLS))
            self.socket.setblocking(False)
        except BaseException:
            self.socket.close()
            raise
        self.interface = interface
        self.number = 0

    def fileno(self) -> int:
        return self.socket.fileno()

    def frames(self) -> Iterator[Frame]:
        """The frames that have arrived, without waiting for more."""
        while True:
            try:
                data, ancillary, _, address = self.socket.recvmsg(_LONGEST, 64)
            except BlockingIOError:
                return
            kind, device = address[2], address[3]
            if kind == socket.PACKET_OUTGOING and device == _LOOPBACK:  # is received as well
                continue
            self.number += 1
            link = _LINKS.get(device, 1)
            yield Frame(self.interface, self.number, _time_ns(ancillary), link, len(data), data)

    def dropped(self) -> int:
        """Frames that the kernel had no room for since the last call."""
        try:
            _, dropped = struct.unpack("II", self.socket.getsockopt(263, _STATISTICS, 8))  # 263: SOL_PACKET
        except OSError:
            return 0
        return int(dropped)

    def close(self) -> None:
        self.socket.close()


def _time_ns(ancillary: list[tuple[int, int, bytes]]) -> int:
    for level, kind, value in ancillary:
        if level == socket.SOL_SOCKET and kind == _SO_TIMESTAMPNS and len(value) == 16:
            seconds, nanoseconds = struct.unpack("qq", value)
            return int(seconds) * 10**9 + int(nanoseconds)
    return 0


def _attach(to: socket.socket, interface: str, capture_filter: str) -> None:
    """Attaches a capture filter to a socket; scapy has libpcap compile it."""
    needed = UsageProblem(interface, "-f needs tcpdump, dumpcap or libpcap here: install one of them")
    try:
        from scapy.arch.common import compile_filter  # only here: it takes half a second
        from scapy.arch.linux import attach_filter
        from scapy.error import Scapy_Exception
    except ImportError:
        raise needed from None
    try:
        device = "lo" if interface == ANY else interface  # the filter is compiled for its link type
        compile_filter(capture_filter, device)
        attach_filter(to, capture_filter, device)
    except ImportError:  # scapy without libpcap
        raise needed from None
    except Scapy_Exception as problem:
        text = f"the capture filter {capture_filter!r} can't be used: {problem}"
        raise UsageProblem(interface, text) from None
