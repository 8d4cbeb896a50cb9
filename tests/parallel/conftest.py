"""Captures of several sessions."""

from pathlib import Path
from random import Random

import pytest

from tests.conversation import CLIENT, OTHER_PEER, PEER, ROUTER, Conversation, Node
from tests.export.partitions import damaged, merged
from tests.export.tables import OLD_TIMES, SAMPLES, frames, write_pcap
from tests.messages import push, put, request, response, response_final
from tests.packets import SECOND, CaptureBuilder, Parties
from tests.random_traffic import random_conversation

SEEDS = range(4)


@pytest.fixture(scope="session")
def several(tmp_path_factory) -> list[Path]:
    """Captures of several sessions, every second one with losses, repeats and wrong clocks."""
    out = []
    for seed in SEEDS:
        random = Random(seed)
        chosen = [frames(SAMPLES / name) for name in random.choices(OLD_TIMES, k=random.randint(2, 5))]
        some = [damaged(one, random) for one in chosen] if seed % 2 else chosen
        out.append(tmp_path_factory.mktemp("several") / f"{seed}.pcap")
        write_pcap(out[-1], merged(some, random))
    return out


@pytest.fixture(scope="session")
def usual(tmp_path_factory) -> list[Path]:
    """Captures of sessions most of whose messages are alike, with losses in the last."""
    out = []
    for seed in range(3):
        random = Random(seed)
        nodes = (CLIENT, ROUTER), (PEER, OTHER_PEER), (CLIENT, PEER)
        made = [Conversation(nodes=ends, parties=Parties(ports=(40001 + at, 7447))) for at, ends in enumerate(nodes)]
        some = merged([random_conversation(random.randrange(100), 80, one).capture.frames for one in made], random)
        out.append(tmp_path_factory.mktemp("usual") / f"{seed}.pcap")
        write_pcap(out[-1], damaged(some, random) if seed == 2 else some)
    return out


@pytest.fixture(scope="session")
def fleet(tmp_path_factory) -> Path:
    """A capture of clients of one router, with a clock so coarse that sessions begin at once: what was first is known
    by the order of frames only. All publish on the same keys; what some ask the router passes on to others.
    """
    capture, random = CaptureBuilder(), Random(5)
    clients = [
        Conversation(
            capture, (Node(bytes((number + 1, 0xC0)), "client"), ROUTER), Parties(ports=(41000 + number, 7447))
        )
        for number in range(40)
    ]
    random.shuffle(clients)
    for number, one in enumerate(clients):
        one.open()
        if number % 9 == 0:
            Conversation(capture, (PEER, ROUTER), Parties(ports=(42000 + number, 7447))).init_syn().hang_up()
    for number in range(1200):
        one, other = random.sample(clients, 2)
        if random.random() < 0.02:
            one.skip(0)
        one.frame(0, *(push(f"key/{random.randrange(8)}", body=put(b"x" * random.randrange(9))) for _ in range(2)))
        if number % 20 == 0:
            one.frame(0, request(number, "ask", body={"message": "QUERY"}))
            other.frame(1, request(number + 7, "ask", body={"message": "QUERY"}))
            if number % 40 == 0:
                other.frame(0, response(number + 7), response_final(number + 7))
                one.frame(1, response(number), response_final(number))
    path = tmp_path_factory.mktemp("fleet") / "fleet.pcap"
    write_pcap(path, [frame._replace(ts_ns=frame.ts_ns // SECOND * SECOND) for frame in capture.frames])
    return path
