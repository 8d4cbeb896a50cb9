"""What several processes write is byte for byte what one writes, with the same errors and exit codes."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from cli.group_processes import usual_jobs
from tests.conversation import CLIENT, OTHER_PEER, PEER, ROUTER, Conversation, Node
from tests.export.tables import SAMPLES, frames, write_pcap
from tests.messages import push
from tests.packets import SECOND, CaptureBuilder, Parties
from tests.parallel.apart import ROOT, in_a_process, shared


def test_samples():
    assert shared("forms", 2, *sorted(SAMPLES.glob("*.pcap*"))) > 50


def test_several_sessions(several):
    assert shared("forms", 3, *several) == len(several) * 7


@pytest.mark.parametrize("block", [7, 50])
def test_blocks_of_usual_messages(block, usual):
    assert shared("forms", 3, *usual, block=block) == len(usual) * 7


def test_what_is_chosen(several):
    assert shared("choices", 5, *several[:2]) == 2 * 10  # those of -v, and of times since the last line, have one


@pytest.fixture(scope="session")
def alike(tmp_path_factory) -> Path:
    """A capture of sessions whose nodes and addresses begin alike, one of them begun before it; with notices, and times
    that are shown more exactly from the middle on.
    """
    capture, made = CaptureBuilder(), []
    for number in range(4):
        nodes = Node(bytes((number + 1, 1, 0xAA)), "client"), Node(bytes((number + 1, 0xBB)), "router")
        hosts = f"10.0.{number % 2}.1", f"10.0.{number % 2}.2{number}"
        made.append(Conversation(capture, nodes, Parties(hosts, (40001 + number // 2, 7447 + number // 3 * 10_000))))
    for one in made[1:]:
        one.open()
    random = Random(1)
    for number in range(900):
        one = random.choice(made)
        if number % 90 == 89:
            one.keep_alive(number % 2)
        one.frame(number % 2, push("k" * (number % 5 + 1)), push())
        if number == 500:  # shown without KEEP_ALIVE, nothing but this has nanoseconds
            capture.now_ns += 123
            one.keep_alive(0)
            capture.now_ns -= 123
        if number % 300 == 299:
            capture.now_ns += 15 * SECOND
    path = tmp_path_factory.mktemp("alike") / "alike.pcap"
    write_pcap(path, capture.frames)
    return path


@pytest.mark.parametrize(("kind", "jobs"), [("lines", 2), ("lines", 4), ("cut", 3)])
def test_short_lines(kind, jobs, alike, several):
    """Names and widths are as if all had been shown by one, cut at the edge of a terminal or not."""
    assert shared(kind, jobs, alike, several[1]) == 2 * 6  # what is searched for may be in what isn't known yet


def test_more_conversations_than_are_remembered(alike):
    """Which of them are forgotten depends on all: one process shows them."""
    assert shared("few", 3, alike) == 0


def test_more_nodes_in_a_conversation_than_are_remembered(tmp_path):
    """Whether another one gets the name of one that has left depends on who else needs it, in all conversations."""
    capture = CaptureBuilder()
    ends = [
        Conversation(capture, (Node(bytes((one, 0xAA)), "client"), ROUTER), Parties(ports=(40_000 + one, 7447))).open()
        for one in (1, 2, 3)
    ]
    for number in range(300):
        ends[0].nodes = Node(b"\x12\x34" + bytes((number & 255, number >> 8)), "client"), ROUTER
        ends[0].init_syn()
        for other in ends[1:]:
            other.frame(0, push())
    write_pcap(tmp_path / "nodes.pcap", capture.frames)
    assert shared("lines", 3, tmp_path / "nodes.pcap") == 1  # that of PUSHes alone


@pytest.fixture(scope="session")
def sessions(tmp_path_factory) -> Path:
    """A capture of two sessions, both of whose links take turns."""
    capture = CaptureBuilder()
    first = Conversation(capture, (CLIENT, ROUTER), Parties(ports=(40001, 7447))).open()
    second = Conversation(capture, (PEER, OTHER_PEER), Parties(ports=(40002, 7447))).open()
    for _ in range(700):
        first.frame(0, push())
        second.frame(1, push())
    path = tmp_path_factory.mktemp("sessions") / "sessions.pcap"
    write_pcap(path, capture.frames)
    return path


def test_several_files(several, tmp_path):
    """Sessions go on from file to file, though frames have the same numbers; one of them is cut."""
    some = frames(several[0])
    parts = [tmp_path / f"{number}.pcap" for number in range(3)]
    for number, part in enumerate(parts):
        write_pcap(part, some[number * len(some) // 3 : (number + 1) * len(some) // 3])
    assert shared("forms", 3, ":".join(map(str, parts))) == 7
    parts[1].write_bytes(parts[1].read_bytes()[:-5])
    assert shared("choices", 3, ":".join(map(str, parts))) == 10


FORCED = """
import sys
from cli import all_cores
from zdissect.parallel import blocks
from tests.parallel import forced
blocks.FRAMES = 64
{}
different, shared = forced.compare(sys.argv[1:], forced.FORMS[:5])
print(len(different), shared)
"""

DIES = """
import os
flush = blocks.BlockWriter.flush
def dies(self, place, *rest):
    if place > 700 and self.group.number == 1: os._exit(1)
    flush(self, place, *rest)
work = all_cores.work
def at_work(run, group, sending):
    blocks.BlockWriter.group = group
    work(run, group, sending)
blocks.BlockWriter.flush = dies
all_cores.work = at_work
"""

RAISES = """
from zdissect.vector import frame_blocks
frame_blocks.LEAST_FRAMES = 1 << 60
from zdissect.parallel.group_pipeline import GroupPipeline
ranked = GroupPipeline.ranked
def raises(self, frame):
    if frame.number > 700: raise RuntimeError
    return ranked(self, frame)
GroupPipeline.ranked = raises
"""

APART = """
from zdissect.parallel.first_look import FirstLook
FirstLook.called = lambda *arguments: None
"""

UNFORESEEN = """
from zdissect.parallel.first_look import FirstLook
split = FirstLook.split
def other(self, most):
    self.places[-1] += 1000
    return split(self, most)
FirstLook.split = other
"""


MUCH = """
from zdissect.vector import dissections
dissections.MOST_WHOLE = 200_000
"""
"""Blocks bring more than can be held until it is known whether a group is sound."""


@pytest.mark.parametrize(("fault", "shares"), [("", 5), (DIES, 0), (RAISES, 0), (UNFORESEEN, 0), (MUCH, 0)])
def test_one_process_takes_over(fault, shares, sessions):
    """What was written before stays as it is, and nothing is written twice."""
    assert in_a_process(FORCED.format(fault), sessions).stdout.split() == ["0", str(shares)]


def test_one_session_in_two_groups(tmp_path):
    """The second link of a session is noticed before anything is written that depends on the first."""
    capture = CaptureBuilder()
    links = [Conversation(capture, (CLIENT, ROUTER), Parties(ports=(port, 7447))) for port in (40001, 40002)]
    for link in links:
        link.open(multilink=True)
        for _ in range(200):
            link.frame(0, push())
    write_pcap(tmp_path / "links.pcap", capture.frames)
    assert in_a_process(FORCED.format(APART), tmp_path / "links.pcap").stdout.split() == ["0", "0"]


MAIN = """
import sys
from cli import all_cores, captures, main
captures.SPLIT_BYTES = 0
{}
sys.argv[0] = "zdissect"
main.main()
"""

AT_ONCE = """
all_cores._WRITTEN = 1
from zdissect.parallel import blocks
blocks.FRAMES = 8
from cli.run import Run
import time
shown = Run.shown
Run.shown = lambda self, item: time.sleep(0.01) or shown(self, item)
"""


def started(fault: str, *arguments: object) -> subprocess.Popen:
    command = [sys.executable, "-c", MAIN.format(fault), *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, bufsize=0
    )


def group_is_gone(process: subprocess.Popen) -> bool:
    """Whether no process is left of those that it has started."""
    for _ in range(100):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    return False


def test_closed_pipe(sessions):
    with started("", "-j", 2, sessions) as process:
        assert process.stdout.read(100)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0
        assert group_is_gone(process)


def test_pager(sessions):
    """It has the end of what it is given while this program still runs: nobody else keeps the pipe open."""
    terminal, other = pty.openpty()
    environment = os.environ | {"PAGER": "tail -n 1", "TERM": "xterm"}
    command = [sys.executable, "-c", MAIN.format(""), "-q", "-j", "2", str(sessions)]
    with subprocess.Popen(command, cwd=ROOT, stdin=other, stdout=other, stderr=other, env=environment) as process:
        os.close(other)
        try:
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert os.read(terminal, 1000).strip()
    os.close(terminal)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted(number, sessions):
    """What was shown until then is written; no process is left."""
    with started(AT_ONCE, "-j", 2, sessions) as process:
        text = process.stdout.read(100)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
        else:
            process.kill()
        text += process.stdout.read()
        assert process.wait(30) == (130 if number == signal.SIGINT else -number)
        assert process.stderr.read().strip() == b""
        assert text.startswith(b"Frame 4")
        assert group_is_gone(process)


def test_two_processors_are_not_enough():
    assert [usual_jobs(processors) for processors in (1, 2, 3, 8)] == [1, 1, 3, 8]
