"""Values to bytes: single messages, or batches of them as links carry them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from zdissect.engine import encoder
from zdissect.engine.encoder_input import EncodeError
from zdissect.flow.framing import DATAGRAM, STREAM, Framing
from zdissect.grammar.batch import BATCH, LOW_LATENCY_PREFIX, SCOUTING_DATAGRAM
from zdissect.readings import UnknownName, canonical
from zdissect.readings.kinds import message_names

Values = Mapping[str, Any]


def encode(values: Values | Sequence[Values], kind: str = "") -> bytes:
    """The bytes of a message, or of several messages.

    Flags, lengths and counts follow from the values and may be left out; a value that is given is used, even if it is
    wrong, so that messages with faults can be made.

    Args:
        values: The values of a message, nested, by the names of the grammar, as `DissectedMessage.values` returns
            them. `message` is its name. A list of them is a batch.
        kind: For one message the name of its layout, if `message` doesn't tell it (`transport_oam`). For a batch
            `datagram` (the default), `stream` (with its length prefix), `lowlatency`, `scouting` or `network`
            (messages one after the other).

    Raises:
        EncodeError: A value is missing, is of a wrong type or too large, or isn't allowed here (a ValueError).
        UnknownName: There is no message, or no kind of batch, with this name (a ValueError).
    """
    together = _BATCHES.get(canonical(kind)) if kind else None
    if not isinstance(values, Mapping):
        if kind and together is None:
            raise UnknownName(kind, "datagram")
        return (together or _BATCHES["datagram"])(values)
    return _alone(values, kind) if together is None else together([values])


def _alone(values: Values, kind: str) -> bytes:
    """One message."""
    name = kind or values.get("message")
    if not isinstance(name, str):
        raise EncodeError("message", "is missing: the name of a message, such as PUSH")
    found = message_names().get(canonical(name), ())
    if not found:
        raise UnknownName(name, "push")
    return encoder.encode(found[0], values)


def _batch(framing: Framing) -> Callable[[Sequence[Values]], bytes]:
    """Writes batches of a framing."""
    return lambda messages: encoder.encode(BATCH, {"messages": messages}, **framing.inputs)


_BATCHES: dict[str, Callable[[Sequence[Values]], bytes]] = {
    "datagram": _batch(DATAGRAM),
    "stream": _batch(STREAM),
    "lowlatency": _batch(Framing(LOW_LATENCY_PREFIX, low_latency=True)),
    "scouting": lambda messages: encoder.encode(SCOUTING_DATAGRAM, {"messages": messages}),
    "network": lambda messages: b"".join(_alone(message, "") for message in messages),
}
