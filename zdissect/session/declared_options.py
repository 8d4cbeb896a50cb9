"""The options of declarations and interests, besides id and key, in words."""

from zdissect.engine.messages import DecodedMessage
from zdissect.grammar.declarations import DISTANCE, QUERYABLE_INFO
from zdissect.grammar.flags import named
from zdissect.grammar.network import INTEREST_OPTIONS
from zdissect.grammar.types import Vle

_INFO = next(field for field in QUERYABLE_INFO.fields if isinstance(field, Vle))
_COMPLETE = named(_INFO.bits, "complete")
_ASKED = [named(INTEREST_OPTIONS.bits, name) for name in "KSQTA"]


def queryable_options(message: DecodedMessage) -> list[str]:
    """`complete` and `distance 2` of a D_QUERYABLE, where they aren't the defaults."""
    info = message.value("d_queryable.ext_queryable_info.value")
    if info is None:
        return []
    words = ["complete"] if _COMPLETE.of(info) else []
    return words + ([f"distance {DISTANCE.of(info)}"] if DISTANCE.of(info) else [])


def interest_options(message: DecodedMessage) -> list[str]:
    """What an INTEREST asks for: its mode, the kinds, and `aggregate`."""
    mode = message.row.get("interest_mode")
    options = message.value("interest.options") or 0
    return [str(mode)] + [bit.says[1] for bit in _ASKED if bit.says is not None and bit.of(options)]
