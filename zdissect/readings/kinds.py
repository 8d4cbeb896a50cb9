"""The kinds of readings by name (notes 3, 5, 6, 7), and how each decodes bytes."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from zdissect.engine.tape import Buffer
from zdissect.flow import serial_line
from zdissect.flow.framing import Framing
from zdissect.grammar.batch import BATCH, SCOUTING_DATAGRAM
from zdissect.grammar.declarations import DECLARATIONS
from zdissect.grammar.network import NETWORK
from zdissect.grammar.registry import DATA, MESSAGES
from zdissect.grammar.types import Choice, Message, Unit
from zdissect.readings import packet
from zdissect.readings.attempt import GIVEN, Attempt, DecodedUnit, alone
from zdissect.readings.evidence import total
from zdissect.readings.prefixed import compressed, compressed_datagram, first_batch, low_latency, stream

_NETWORK = Unit(
    "network",
    (Choice("messages", *NETWORK, doc="Network messages.", many="all"),),
    "Network messages alone.",
    "notes 7",
)
_DECLARATION = Unit(
    "declaration", (Choice("declaration", *DECLARATIONS, doc="A declaration."),), "A declaration alone.", "notes 6"
)
_DATA = Unit("data", (Choice("data", *DATA, doc="A data sub-message."),), "A data sub-message alone.", "notes 7")

_PART_ALONE = -1.0
"""Evidence in bits: a part of a message is pasted less often than a message."""
_CRC, _LENGTH = 32.0, 10.0
"""Evidence in bits of a CRC that fits, and of a length that does."""


Read = Callable[[bytes], list[Attempt]]


class Kind(NamedTuple):
    """One kind of reading."""

    doc: str
    force: Read
    """Decodes bytes that are said to be of this kind, in each way that it has; the better attempt is taken."""
    guess: Read | None = None
    """The same for bytes of unknown kind, if that differs; it may yield nothing."""


def _network(data: bytes) -> list[Attempt]:
    attempt = alone("a network message", _NETWORK, data)
    spans = attempt.units[0].tape.spans
    several = sum(depth == 1 and field.kind == "message" for field, depth, *_ in spans) > 1
    return [attempt._replace(title="network messages") if several else attempt]


def _stream(data: bytes) -> list[Attempt]:
    """Batches to the end, or a batch with something else after it."""
    return [stream(data), first_batch(data)]


def _compressed(data: bytes) -> list[Attempt]:
    return [compressed(data), compressed_datagram(data)]


def _low_latency(data: bytes) -> list[Attempt]:
    return [low_latency(data), alone("a low-latency datagram", BATCH, data, **Framing(0, low_latency=True).inputs)]


def _low_latency_stream(data: bytes) -> list[Attempt]:
    """Without a prefix they can't be told from network messages."""
    return [low_latency(data)]


def _batch(data: bytes) -> list[Attempt]:
    return [first_batch(data), *_datagram(data)]


def _nothing(data: bytes) -> list[Attempt]:
    """Not a kind of its own when guessing: stream and datagram are."""
    return []


def _serial(data: bytes) -> list[Attempt]:
    return _serial_forced(data) if serial_line.looks_serial(data) else []


def _serial_forced(data: bytes) -> list[Attempt]:
    frames = serial_line.frames(data)
    units = [
        DecodedUnit(Buffer(f"frame at byte {frame.start}, COBS removed", frame.tape.data), frame.tape)
        if frame.cobs
        else DecodedUnit(Buffer(GIVEN, data), frame.tape, frame.start)
        for frame in frames
    ]
    kinds = " and ".join("new" if kind else "old" for kind in sorted({frame.kind for frame in frames}, reverse=True))
    number = f"{len(frames)} serial frames" if len(frames) > 1 else "a serial frame"
    title = f"{number}, {kinds} framing, {'COBS removed' if frames[0].cobs else 'without COBS'}"
    fit = "length and CRC fit" if all(frame.proven for frame in frames) else ""
    return [
        Attempt(
            title, units, fit, sum(_CRC if frame.proven else _LENGTH if frame.fits else -_LENGTH for frame in frames)
        )
    ]


def _unit(title: str, unit: Unit, evidence: float = 0.0) -> Read:
    """A way of reading all bytes as one unit."""
    return lambda data: [alone(title, unit, data, evidence)]


def _best(data: bytes, names: tuple[str, ...]) -> tuple[str, Attempt]:
    """The best of some kinds of readings, each forced."""
    options = [(name, attempt) for name in names for attempt in KINDS[name].force(data)]
    return max(options, key=lambda option: total(option[1]))


def _packet(data: bytes) -> list[Attempt]:
    return packet.read(data, _best)


_datagram = _unit("a batch without a length prefix", BATCH)
_scouting = _unit("a scouting datagram", SCOUTING_DATAGRAM)
_declaration = _unit("a declaration", _DECLARATION, _PART_ALONE)
_data = _unit("a data sub-message", _DATA, _PART_ALONE)

KINDS: dict[str, Kind] = {
    "stream": Kind("batches with their length prefixes, as on TCP", _stream),
    "datagram": Kind("transport messages without a length prefix, as in a UDP datagram", _datagram),
    "scouting": Kind("a scouting datagram: SCOUT or HELLO", _scouting),
    "network": Kind("network messages without a FRAME", _network),
    "packet": Kind("a whole packet with its IP or Ethernet header", _packet),
    "serial": Kind("frames of a serial line, with or without COBS", _serial_forced, _serial),
    "compressed": Kind("batches with the header byte of compression, LZ4 or not", _compressed),
    "lowlatency": Kind("low-latency units, with or without a prefix of 4 bytes", _low_latency, _low_latency_stream),
    "declaration": Kind("a declaration without its DECLARE", _declaration),
    "data": Kind("a data sub-message without its network message", _data),
    "batch": Kind("one batch, with a length prefix or without", _batch, _nothing),
}
"""All kinds, the most usual first: of two that are equally good the first is taken."""

ALIASES = {"transport": "datagram", "udp": "datagram", "tcp": "stream", "ll": "lowlatency", "low_latency": "lowlatency"}


@cache
def message_names() -> dict[str, tuple[Message, ...]]:
    """Messages by their names in lower case, and by those of their variants: `init`, `init_syn`, `d_subscriber`."""
    out: dict[str, tuple[Message, ...]] = {}
    for message in MESSAGES:
        labels = [label for pair in message.labels.values() for label in pair]
        for name in dict.fromkeys([message.path or message.name, *labels]):
            out.setdefault(name.lower(), ())
            out[name.lower()] += (message,)
    return out


def one_message(data: bytes, name: str) -> list[Attempt]:
    """The bytes as one message with this name; nothing if there is no such message."""
    messages = message_names().get(name, ())
    return [alone(f"a message {message.name}", message, data) for message in messages]
