"""`python -m tests.hostile.endless_flood 100 | zdissect -T line -`: a capture of 100 MB that only wants to hurt.

Every frame belongs to a flood, each from other addresses than the one before; with `--half` every second one is of an
ordinary session. With `--measure 25 50 100` it is dissected, and what that has taken at each size is printed.
"""

import argparse
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from itertools import count, cycle
from pathlib import Path
from random import Random
from socket import inet_aton
from struct import pack

import lz4.block

from tests.conversation import ACK, DATA, SYN, Conversation, Node
from tests.messages import d_keyexpr, declare, interest, push, request
from tests.packets import START_NS, CaptureBuilder, Parties, tcp_packet, udp_packet

NOISE = Random(1).randbytes(1 << 16)
ROUTER, STRANGER = "10.0.0.2", "10.254.253.252"
ZID = b"\xde\xad\xbe\xef"
MB = 1 << 20
STEP_NS = 100_000
"""Capture time between two frames."""
SNAPPED = 300
"""Bytes that are captured of frames whose rest is cut off."""


def host(number: int) -> str:
    """Another address for each number, up to 2^24."""
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def parties(number: int, port: int = 7447) -> Parties:
    return Parties((host(number), ROUTER), (1024 + (number & 0x7FFF), port))


def strangers() -> Iterator[bytes]:
    """Addresses that are seen once: SYNs, datagrams, SCOUTs, JOINs, connections without their first bytes."""
    for number in count(1 << 20):
        yield tcp_packet(parties(number), 0, b"", SYN, -1, 0)
        yield udp_packet(parties(number, 9000), 0, b"\x1f" + bytes(200))
        yield udp_packet(Parties((host(number), "224.0.0.224"), (7446, 7446)), 0, b"\x01\x09\x07")
        zid = number.to_bytes(3, "little")
        join = b"\x47\x09\x21" + zid + b"\x0a" + pack("<H", number % 60_000 + 1) + b"\x0a\x01\x01"
        yield udp_packet(Parties((host(number), "224.0.0.224"), (7447, 7446)), 0, join)
        yield tcp_packet(parties(number ^ 1 << 23), 0, b"", SYN, -1, 0)
        yield tcp_packet(parties(number ^ 1 << 23), 0, NOISE[:1000], ACK, 50, 0)


def unreadable() -> Iterator[bytes]:
    """Streams in which no batch is found, or that aren't known to be anything, of some hundred connections."""
    offset = [0] * 400
    for number in count():
        which = number % 400
        size = 100 + number % 1300
        noise = number * 7919 % (len(NOISE) - size)
        port = 7447 if which & 1 else 9000
        packet = tcp_packet(parties(which, port), 0, NOISE[noise : noise + size], ACK, offset[which], 0)
        offset[which] += size
        yield packet[:SNAPPED] if which & 2 else packet


def websockets() -> Iterator[bytes]:
    """Messages in ever more pieces."""
    head = b"GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n"
    offset = [0] * 50
    for number in count():
        which = number % 50
        first = not offset[which]
        piece = head + b"\x02\x82abcdXY" if first else b"\x00\xfe\x02\x00abcd" + NOISE[:512]
        yield tcp_packet(parties(1000 + which, 9001), 0, piece, ACK, offset[which], 0)
        offset[which] += len(piece)


def sessions() -> Iterator[bytes]:
    """Sessions of ever more nodes that declare, ask, and begin messages, and never come to an end with it."""
    one = _session()
    for number in count():
        zid, address = pack("<I", number | 1 << 31), inet_aton(host(1 << 22 | number))
        for packet in one:
            yield packet.replace(ZID, zid).replace(inet_aton(STRANGER), address)


def _session() -> list[bytes]:
    """What one of them says, encoded once."""
    capture = CaptureBuilder()
    bomb = b"\x01" + lz4.block.compress(b"\x04" * 3000, store_size=False)
    own, nodes = Parties((STRANGER, ROUTER), (30_000, 7447)), (Node(ZID, "peer"), Node(b"\x02\xbb", "peer"))
    talk = Conversation(capture, nodes, own).open(patch=1)
    others = Node(ZID + b"\x01", "peer"), nodes[1]
    squeezed = Conversation(capture, others, own._replace(ports=(30_001, 7447))).open(compression=True)
    for number in range(500):
        talk.frame(0, declare(d_keyexpr(number + 1, f"{number}/" + "k" * 700)))
        talk.frame(0, *(push(number + 1, f"/{other}") for other in range(20)))
        talk.frame(0, request(number, "q/" + "k" * 200, timeout=3_600_000), interest(number))
        talk.fragment(0, NOISE[:1000], first=number < 8, priority=number & 7)
        talk.raw(0, b"\xc8\x00" + b"\x04" * 200)
        talk.frame(0, declare(d_keyexpr(1000 + number, number and 999 + number, "/" * (number > 0) + "c" * 100)))
        if number % 4 == 0:
            priority = number >> 2 & 7
            piece = squeezed.carrier("FRAGMENT", 0, None, True, priority) | {"M": 1, "payload": bytes(60_000)}
            piece["extensions"] += [{"ext": "first"}] * (number < 32)
            squeezed.batch(0, piece, compress=True)
        if number % 20 == 0:
            squeezed.raw(0, pack("<H", len(bomb)) + bomb)
    return [frame.data for frame in capture.frames]


def ordinary() -> Iterator[bytes]:
    """One session whose samples are like each other."""
    capture = CaptureBuilder()
    own = Parties(("10.255.0.1", ROUTER))
    talk = Conversation(capture, parties=own).open().frame(0, push("robot/pose"))
    yield from (frame.data for frame in capture.frames)
    offset, first = talk.sent[0], talk.next[0, True, DATA]
    body = b"\x7d\x00\x0arobot/pose\x01\x50" + NOISE[:80]
    for number in count(first):
        batch = b"\x25" + vle(number & talk.mask) + body
        yield tcp_packet(own, 0, pack("<H", len(batch)) + batch, ACK, offset, talk.sent[1])
        offset += 2 + len(batch)


def vle(number: int) -> bytes:
    """A number as on the wire."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def packets(half: bool) -> Iterator[bytes]:
    """Frames, from each flood in turn."""
    good = ordinary()
    for kind in cycle([strangers(), unreadable(), strangers(), websockets(), sessions(), unreadable()]):
        yield next(kind)
        if half:
            yield next(good)


def written(out: int, half: bool) -> Iterator[int]:
    """Writes a capture without an end to a file descriptor, as far as somebody reads it: the bytes so far."""
    pending = [pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 1)]
    held = total = 0
    for number, packet in enumerate(packets(half)):
        seconds, ns = divmod(START_NS + number * STEP_NS, 10**9)
        whole = max(len(packet), int.from_bytes(packet[16:18]) + 14)
        pending.append(pack("<IIII", seconds, ns, len(packet), whole) + packet)
        held += len(packet) + 16
        if held >= MB:
            data = memoryview(b"".join(pending))
            while data:
                data = data[os.write(out, data) :]
            total += held
            pending, held = [], 0
            yield total


def measured(sizes: list[int], half: bool, arguments: list[str]) -> Iterator[str]:
    """Rows of the table: what zdissect has taken up to so many megabytes of one capture that comes through a pipe.

    The column after that is the processor time of a megabyte since the row before, and what it took here to make it:
    that is always the same work, so it tells how fast the machine was meanwhile.
    """
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "cli", *arguments, "-"]
    process = subprocess.Popen(command, stdin=reading, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(reading)
    marks, before, making = deque(sorted(sizes)), (0, 0.0), time.process_time()
    for total in written(writing, half):
        if total >= marks[0] * MB:
            taken = Path(f"/proc/{process.pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
            status = Path(f"/proc/{process.pid}/status").read_text("ascii")
            peak = int(status.split("VmHWM:")[1].split()[0]) >> 10
            processor = (int(taken[11]) + int(taken[12])) / os.sysconf("SC_CLK_TCK")
            size, made = marks.popleft(), time.process_time()
            each, own = ((now - then) / (size - before[0]) for now, then in ((processor, before[1]), (made, making)))
            kind = "half" if half else "all"
            yield f"| {size:,} MB | {kind} | {processor:,.0f} s | {each:.2f} s ({own:.3f} s) | {peak} MB |"
            before, making = (size, processor), made
        if not marks:
            break
    os.close(writing)
    _, status_of_end, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status_of_end)
    yield f"its end: exit code {process.returncode}, {used.ru_utime + used.ru_stime:,.0f} s, {used.ru_maxrss >> 10} MB"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.endless_flood", description=__doc__)
    parser.add_argument("megabytes", type=int, nargs="+")
    parser.add_argument("--half", action="store_true", help="every second frame is of an ordinary session")
    parser.add_argument("--measure", action="store_true", help="dissect it, and say what that has taken at each size")
    parser.add_argument("--command", default="-T line", help="with --measure: what zdissect does (-T line)")
    asked = parser.parse_args()
    if asked.measure:
        for row in measured(asked.megabytes, asked.half, asked.command.split()):
            print(row, flush=True)
        return
    for total in written(sys.stdout.fileno(), asked.half):
        if total >= max(asked.megabytes) * MB:
            return


if __name__ == "__main__":
    main()
