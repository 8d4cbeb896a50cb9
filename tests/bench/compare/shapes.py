"""What is said in the captures that the tools are compared on, before any protocol gives it bytes.

All choices come from a seeded generator: the same shape is the same traffic in every run, and in both protocols.
"""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

ROBOTS = 8
LEAVES = ("imu", "odom", "scan", "image", "joint_states", "cmd_vel", "battery", "tf", "pose", "map", "diag", "log")
SIZES = (12, 24, 48, 48, 96, 150)
"""Bytes of most payloads of a robot."""
LARGE = 70_000
"""Bytes of an image: more than a batch holds."""


class Sample(NamedTuple):
    """A publication, and what its message carries besides the payload."""

    robot: int
    """Whose key it is, which is not always who sends it: the router passes it on."""
    leaf: int
    payload: bytes
    expression: str = "declared"
    """How its key is written: `declared` (an id), `text`, or `both` (an id and a suffix)."""
    priority: int = 5
    qos: bool = False
    timestamp: bool = False
    encoding: bool = False
    attachment: bytes = b""

    @property
    def key(self) -> str:
        """The whole key expression, or the topic."""
        return f"{root(self.robot)}/{LEAVES[self.leaf]}"


class Parcel(NamedTuple):
    """Samples that are sent together: one FRAME, or MQTT packets in one segment."""

    robot: int
    """Of which link it is."""
    side: int
    """0: the robot sends it, 1: the router (or broker)."""
    samples: list[Sample]


class Exchange(NamedTuple):
    """A query of a robot that another one answers: six messages, as the router passes each on."""

    asker: int
    answerer: int


Said = Parcel | Exchange
SHAPES = {
    "one": "one message in each packet, payloads of 8 to 1000 bytes",
    "ten": "ten messages in each packet, payloads of 8 to 200 bytes",
    "robots": "eight robots with twelve topics each at several priorities, small and large samples in bursts, "
    "passed on to two others; some queries",
    "queries": "queries, their answers and the ends of both, passed on by a router",
}
ALIKE = ("one", "ten", "robots")
"""The shapes that MQTT can say too."""


def root(robot: int) -> str:
    """What all keys of a robot begin with."""
    return f"fleet/robot{robot}"


def said(shape: str, seed: int = 1) -> Iterator[Said]:
    """All that is said, without an end."""
    random = Random(seed)
    if shape == "queries":
        return _queries(random)
    return _robots(random) if shape == "robots" else _even(random, *((1, 1000) if shape == "one" else (10, 200)))


def _even(random: Random, together: int, largest: int) -> Iterator[Parcel]:
    """Each robot in turn, with samples of all its topics."""
    topics = [[_topic(random, robot, leaf) for leaf in range(len(LEAVES))] for robot in range(ROBOTS)]
    while True:
        for robot in range(ROBOTS):
            samples = [_next(random, random.choice(topics[robot]), largest) for _ in range(together)]
            yield Parcel(robot, 0, samples)


def _topic(random: Random, robot: int, leaf: int) -> Sample:
    """What all samples of a topic have in common, as a publisher always writes the same way: half of the keys declared,
    40 % as text; 30 % with QoS, 20 % with a time, 60 % with an encoding, 10 % with an attachment."""
    chance = random.random
    return Sample(
        robot,
        leaf,
        b"",
        random.choices(("declared", "text", "both"), (5, 4, 1))[0],
        qos=chance() < 0.3,
        timestamp=chance() < 0.2,
        encoding=chance() < 0.6,
        attachment=b"some" if chance() < 0.1 else b"",
    )


def _next(random: Random, topic: Sample, largest: int) -> Sample:
    """A sample of a topic, with bytes of its own."""
    attachment = random.randbytes(16) if topic.attachment else b""
    return topic._replace(payload=random.randbytes(random.randint(8, largest)), attachment=attachment)


def _robots(random: Random) -> Iterator[Said]:
    """A fleet: each topic has its priority and its extensions, and comes alone or in a burst."""
    while True:
        robot = random.randrange(ROBOTS)
        if random.random() < 0.01:
            yield Exchange(robot, (robot + 1) % ROBOTS)
            continue
        leaf = min(int(random.expovariate(0.25)), len(LEAVES) - 1)
        burst = 1 if random.random() < 0.6 else random.randint(2, 11)
        samples = [_of_topic(random, robot, leaf) for _ in range(burst)]
        yield Parcel(robot, 0, samples)
        for to in subscribers(robot):
            yield Parcel(to, 1, samples)


def _of_topic(random: Random, robot: int, leaf: int) -> Sample:
    size = LARGE if LEAVES[leaf] == "image" and random.random() < 0.005 else random.choice(SIZES)
    return Sample(
        robot,
        leaf,
        random.randbytes(size),
        "declared" if leaf % 2 else "both",
        priority=(5, 1, 5, 5, 4, 2, 7)[leaf % 7],
        qos=leaf % 7 in (1, 4, 5, 6),
        timestamp=leaf % 3 == 0,
        encoding=leaf % 4 == 1,
        attachment=random.randbytes(16) if leaf in (1, 4, 6) else b"",
    )


def subscribers(robot: int) -> tuple[int, int]:
    """Who receives what a robot publishes."""
    return (robot + 1) % ROBOTS, (robot + 3) % ROBOTS


def _queries(random: Random) -> Iterator[Exchange]:
    while True:
        asker = random.randrange(ROBOTS)
        yield Exchange(asker, (asker + random.randrange(1, ROBOTS)) % ROBOTS)
