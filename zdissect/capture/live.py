"""Frames of an interface as they arrive, through tcpdump, dumpcap or a packet socket, whichever can be used here.

A live capture also says when nothing arrives, because many deadlines pass in silence.
"""

import io
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType

from zdissect.capture import pcap
from zdissect.capture.errors import CaptureError, Forbidden
from zdissect.capture.interfaces import executable, interface
from zdissect.capture.packet_socket import PacketSocket
from zdissect.capture.pcapng import PcapngReader
from zdissect.capture.pipe import Pipe
from zdissect.capture.programs import PROGRAMS, Sniffer, dropped, failure, forbidden
from zdissect.capture.signatures import MAGIC_SIZE
from zdissect.records import Frame

PATIENCE_S = 0.25
"""Seconds without a frame after which a silence is reported."""
MARGIN_NS = 500_000_000
"""How long a frame may take from the network to here; this much of a silence isn't counted."""
_GOODBYE_S = 2.0
"""Seconds that a program has to end before it is killed."""


class Live:
    """Frames of an interface, for use in a `with` statement. Iterating gives frames, and None where nothing more has
    come yet, at once and then now and then.

    Raises `CaptureError` if capturing isn't possible; its subclass `UsageProblem` if the interface or filter is wrong.
    """

    def __init__(self, choice: str, capture_filter: str = "") -> None:
        """Starts to capture on an interface, by name or number; a filter of libpcap selects the frames."""
        self.interface = interface(choice)
        self.source: _ProgramSource | _SocketSource = _start(self.interface, capture_filter)
        self.last: Frame | None = None
        self.heard_s = time.monotonic()
        """When the last frame was read."""

    def __iter__(self) -> Iterator[Frame | None]:
        for frame in self.source:
            if frame is not None:
                self.last, self.heard_s = frame, time.monotonic()
            yield frame

    @property
    def now_ns(self) -> int | None:
        """The earliest that it can be now by the clock of the capture, ns since 1970; None before the first frame."""
        if self.last is None:
            return None
        silent_ns = int((time.monotonic() - self.heard_s) * 1e9) - MARGIN_NS
        return self.last.ts_ns + max(silent_ns, 0)

    def stop(self) -> None:
        """Ends the capture and leaves nothing running. After that `dropped` is final."""
        self.source.stop()

    @property
    def dropped(self) -> int:
        """Frames that were lost because they came too fast, as far as that is known."""
        return self.source.dropped

    @property
    def program(self) -> str:
        """What captures: the name of a program, or `packet socket`."""
        return self.source.name

    def __enter__(self) -> "Live":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def _start(name: str, capture_filter: str) -> "_ProgramSource | _SocketSource":
    """Starts the first program or socket that is installed and permitted to capture."""
    problem: CaptureError | None = None
    for program in PROGRAMS:
        if path := executable(program.name):
            try:
                return _ProgramSource(program, path, name, capture_filter)
            except Forbidden as told:
                problem = told
    if sys.platform != "linux":
        raise problem or CaptureError(name, "nothing that captures is installed: install tcpdump or Wireshark")
    try:
        return _SocketSource(PacketSocket(name, capture_filter))
    except PermissionError:
        raise problem or forbidden(name) from None
    except OSError as error:
        raise problem or CaptureError(name, f"it can't be captured: {error.strerror}") from None


class _ProgramSource:
    """Frames that a program captures and writes to a pipe."""

    def __init__(self, program: Sniffer, path: str, name: str, capture_filter: str) -> None:
        self.program, self.interface, self.capture_filter = program, name, capture_filter
        self.name = program.name
        self.dropped = 0
        self.said = ""
        """What it wrote to its standard error; complete once it has ended."""
        # in a process group of its own: Ctrl-C reaches only us, and we end it
        self.process = subprocess.Popen(
            program.command(path, name, capture_filter), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, process_group=0,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.pipe = Pipe(io.FileIO(self.process.stdout.fileno(), closefd=False))
        try:
            while not self.pipe.wait(60):  # for the file header, which comes at once
                pass
            if not self.pipe.more():
                self.stop()
                raise failure(self.name, name, capture_filter, self.said)
        except BaseException:
            self.stop()
            raise

    def __iter__(self) -> Iterator[Frame | None]:
        pipe, wait = self.pipe, self.pipe.wait
        magic = pipe.read(MAGIC_SIZE)
        kind = pcap.PcapReader if magic in pcap.MAGIC else PcapngReader
        reader = kind(pipe.read, magic, self.interface)
        frames = iter(reader)
        while True:
            if not pipe.ready(reader.complete):
                yield None
                while not (
                    wait(PATIENCE_S) and pipe.ready(reader.complete)
                ):  # a part of a frame isn't read: that waits
                    yield None
            frame = next(frames, None)
            if frame is None:
                break
            yield frame
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_GOODBYE_S)
        if not self.stop():  # it has ended by itself
            raise failure(self.name, self.interface, self.capture_filter, self.said)

    def stop(self) -> bool:
        """Ends the program if it runs, and reads its error output; returns whether it ended without an error."""
        process = self.process
        if process.stdout is None or not process.stdout.closed:
            try:
                process.terminate()
                _, said = process.communicate(timeout=_GOODBYE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                _, said = process.communicate()
            self.said = said.decode(errors="replace")
            self.dropped = dropped(self.said)
        return process.returncode == 0


class _SocketSource:
    """Frames of a packet socket."""

    name = "packet socket"

    def __init__(self, opened: PacketSocket) -> None:
        self.opened = opened
        self.dropped = 0

    def __iter__(self) -> Iterator[Frame | None]:
        while True:
            if not select.select([self.opened], [], [], 0)[0]:
                yield None
                while not select.select([self.opened], [], [], PATIENCE_S)[0]:
                    yield None
            yield from self.opened.frames()

    def stop(self) -> bool:
        """Closes the socket."""
        if self.opened.fileno() >= 0:
            self.dropped += self.opened.dropped()
            self.opened.close()
        return True
