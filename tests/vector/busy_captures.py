"""Captures of several sessions at once: mostly usual messages, and between them all that rules look at."""

from collections.abc import Callable
from random import Random
from typing import Any

from tests import messages
from tests.conversation import CLIENT, DATA, OTHER_PEER, OTHER_ROUTER, PEER, ROUTER, Conversation, Node
from tests.messages import d_keyexpr, declare, push, put
from tests.packets import SECOND, CaptureBuilder, Parties
from tests.random_traffic import FAMILIES, SELDOM, USUAL, ntp64, pushes
from tests.vector.damage import shifted
from zdissect.records import Frame

PAIRS: list[tuple[Node, Node]] = [(CLIENT, ROUTER), (PEER, OTHER_PEER), (ROUTER, OTHER_ROUTER), (PEER, ROUTER)]


class Later(CaptureBuilder):
    """A capture as a connection sees it whose sides begin to count their bytes later than others on these ports."""

    def __init__(self, capture: CaptureBuilder, numbers: tuple[int, int]) -> None:
        self.capture, self.numbers = capture, numbers
        self.frames = capture.frames

    @property
    def now_ns(self) -> int:  # type: ignore[override]
        return self.capture.now_ns

    @now_ns.setter
    def now_ns(self, now_ns: int) -> None:
        self.capture.now_ns = now_ns

    def record(self, packet: bytes) -> None:
        self.capture.record(packet)
        self.frames[-1:] = shifted(self.frames[-1:], self.numbers)


class BusyCapture:
    """Several sessions in one capture.

    Args:
        seed: Of the choices.
        count: How many.
        noise: How often something comes that isn't usual.
        udp: How often one is over UDP.
    """

    def __init__(self, seed: int, count: int = 3, noise: float = 0.1, udp: float = 0) -> None:
        self.random = Random(seed)
        self.noise, self.udp = noise, udp
        self.capture = CaptureBuilder()
        self.talks: list[Conversation] = []
        self.begun = 0
        self.few = self.random.sample(FAMILIES, 3)
        for number in range(count):
            self.talks.append(self.begin(PAIRS[number % len(PAIRS)]))

    def begin(self, nodes: tuple[Node, Node], parties: Parties | None = None, **proposal: Any) -> Conversation:
        """Another connection."""
        self.begun += 1
        parties = parties or Parties(ports=(40000 + self.begun, 7447))
        if self.udp and self.random.random() < self.udp:
            talk = Conversation(self.capture, nodes, parties, udp=True)
        else:
            talk = Conversation(Later(self.capture, (self.begun << 20, self.begun << 22)), nodes, parties)
        proposal = {"sn": self.random.choice((8, 32)), "multilink": self.random.random() < 0.5} | proposal
        talk.init_syn(**proposal).init_ack(**proposal)
        talk.open_syn(lease=self.random.choice((1, 5, 10, 1000))).open_ack(lease=self.random.choice((1, 10)))
        for side in (0, 1):
            talk.frame(side, declare(d_keyexpr(1, "x")), declare(d_keyexpr(2, "y/z")))
        return talk

    def turns(self, count: int) -> list[Frame]:
        """Some more traffic; returns all frames."""
        for _ in range(count):
            talk, chance = self.random.choice(self.talks), self.random.random()
            if chance < self.noise:
                self.random.choice(NOISE)(self, talk)
            elif chance < 0.9:
                for _ in range(self.random.choice((1, 3, 20))):
                    self.plain(talk)
            else:
                pushes(talk, self.random, self.few)
        return self.capture.frames

    def plain(self, talk: Conversation) -> None:
        """The most usual messages."""
        side = self.random.randrange(2)
        stamp = {"timestamp": {"time": ntp64(self.capture.now_ns), "id": b"\x01\xaa"}, "T": 1}
        body = put(self.random.randbytes(self.random.choice((0, 1, 40))), **stamp)
        some = [push(1, "/k", body=body) for _ in range(self.random.randint(1, 3))]
        talk.frame(side, *some, compress=talk.framings[side].compression)

    def replace(self, talk: Conversation, other: Conversation) -> None:
        """One connection goes on in place of another."""
        self.talks[self.talks.index(talk)] = other


def _stamped(busy: BusyCapture, talk: Conversation) -> None:
    """A sample that is older than others, or far from the clock."""
    seconds = busy.random.choice((-4000, -20, -1, 1, 20, 4000))
    stamp = {"timestamp": {"time": ntp64(busy.capture.now_ns + seconds * SECOND), "id": b"\x01\xaa"}, "T": 1}
    talk.frame(busy.random.randrange(2), push(1, "/k", body=put(**stamp)))


def _hang_up(talk: Conversation) -> Conversation:
    """The end of a connection; nothing tells that of a conversation over UDP."""
    return talk if talk.udp else talk.hang_up()


def _again(busy: BusyCapture, talk: Conversation) -> None:
    """The same ports are used again, after an end or without one."""
    if busy.random.random() < 0.7:
        _hang_up(talk)
    busy.replace(talk, busy.begin(talk.nodes, talk.parties))


def _another(busy: BusyCapture, talk: Conversation) -> None:
    """A second link of a session; at times with the numbers of the first."""
    other = busy.begin(talk.nodes, multilink=True)
    if busy.random.random() < 0.5:
        other.next = talk.next
    if len(busy.talks) < 6:
        busy.talks.append(other)


def _reframed(busy: BusyCapture, talk: Conversation) -> None:
    """A handshake in the middle, which may agree on another framing."""
    terms: Any = busy.random.choice(({}, {"compression": True}, {"low_latency": True}, {"batch_size": 60}, {"sn": 8}))
    talk.open(**terms)
    if "low_latency" in terms or ("compression" in terms and busy.random.random() < 0.7):
        busy.plain(talk)
        busy.replace(talk, busy.begin(talk.nodes))


def _asked(busy: BusyCapture, talk: Conversation) -> None:
    """A request with a short timeout; an answer in time, late, or twice, or none."""
    ident, side = busy.random.randrange(5), busy.random.randrange(2)
    talk.frame(side, messages.request(ident, timeout=busy.random.choice((1, 100, 3000))))
    for _ in range(busy.random.randrange(3)):
        busy.plain(talk)
        talk.wait(busy.random.choice((0.001, 0.1, 3)))
        talk.frame(1 - side, messages.response(ident), *[messages.response_final(ident)] * busy.random.randrange(2))


def _answers(busy: BusyCapture, talk: Conversation) -> None:
    """Answers to requests, most of which nobody has sent."""
    for _ in range(busy.random.randint(1, 4)):
        ident, side = busy.random.randrange(5), busy.random.randrange(2)
        talk.frame(side, push(), messages.response(ident), push(), messages.response_final(ident))


def _misnumbered(busy: BusyCapture, talk: Conversation) -> None:
    """A number that is missing, repeated, or of the other channel."""
    side = busy.random.randrange(2)
    next_sn = talk.next.get((side, True, DATA), talk.initial(side))
    talk.frame(side, push(), sn=next_sn + busy.random.choice((-2, -1, 1, 2)) & talk.mask)
    talk.frame(side, push(), reliable=False, sn=talk.next[side, True, DATA])


NOISE: list[Callable[[BusyCapture, Conversation], object]] = [
    _stamped, _again, _another, _reframed, _asked, _asked, _answers, _answers, _misnumbered,
    lambda busy, talk: talk.wait(busy.random.choice((0.3, 1, 4, 12))),
    lambda busy, talk: talk.wait(busy.random.choice((0.3, 1))),
    lambda busy, talk: _hang_up(talk) and busy.replace(talk, busy.begin(talk.nodes)),
    *[lambda busy, talk, say=say: say(talk, busy.random) for say in (*USUAL, *USUAL, *SELDOM)],
]  # fmt: skip
