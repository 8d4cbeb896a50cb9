"""FRAME and FRAGMENT: sequence numbers, priorities, and the messages that fragments make (notes 4.5)."""

from zdissect.engine.messages import DecodedMessage, Row
from zdissect.grammar.enums import DATA, PRIORITY
from zdissect.session.fragments import Assembled, FragmentChain
from zdissect.session.handshake import ASSUMED_MASK
from zdissect.session.model import Link, Space
from zdissect.session.sequence import AFTER_LAST, AFTER_OPEN, NONE, Channel, Step

_PRIORITIES = {name: value for value, name in PRIORITY.names.items()}


def feed(link: Link, message: DecodedMessage, direction: int, frame: int) -> Assembled | None:
    """Takes a FRAME or FRAGMENT; the message that a last fragment completes."""
    row = message.row
    sn = row.get("sn")
    if sn is None:
        return None
    session = link.session
    end = link.handshake.ends[direction]
    begun = link.handshake.step and not link.holes[direction]
    if not end.opened and (begun or link.begins(direction)):
        message.remark("frame-before-open", f"{row['message']} before this side's OPEN")
    space = space_of(link, row, direction)
    priority(link, message, direction, space[2])
    fragment = row["message"] == "FRAGMENT"
    step = sequence(link, message, direction, space, sn, fragment)
    chain = session.chains.get(space)
    channel = session.channels.get(space)  # none where the first number is out of range
    if fragment and channel is not None and channel.astray and not (chain is not None and chain.open):
        beside = session.chains.get(other_channel(space))  # it may go on with what began in its own channel
        chain = beside if beside is not None and beside.open and not message.has("fragment.ext_first") else chain
    if fragment:
        if chain is None:
            chain = session.chains[space] = FragmentChain()
        patch = session.agreed.patch if session.agreed is not None else 1
        whole = session.agreed is not None and not link.holes[direction]
        return chain.feed(message, frame, step, patch, whole)
    if chain is not None:
        chain.frame(message, step)
    return None


def space_of(link: Link, row: Row, direction: int) -> Space:
    """The space of sequence numbers that a FRAME or FRAGMENT is in."""
    return direction ^ link.flip, row.get("reliability") == "reliable", _PRIORITIES[row["priority"]]


def priority(link: Link, message: DecodedMessage, direction: int, number: int) -> None:
    """Rule 20."""
    agreed = link.handshake.agreed
    at = f"{message.row['message'].lower()}.ext_qos"
    if agreed is not None and not agreed.qos and number != DATA:
        message.remark("priority-without-qos", f"priority {message.row['priority']} without QoS", at)
    stated = link.handshake.ends[direction].priorities
    if stated is not None and not stated[0] <= number <= stated[1]:
        message.remark("priority-range", f"priority {number} isn't in {stated[0]} to {stated[1]}", at)


def sequence(link: Link, message: DecodedMessage, direction: int, space: Space, sn: int, fragment: bool) -> Step:
    """Rules 16 to 19; how the number follows the one before it."""
    session = link.session
    terms = session.agreed or session.stated[space[0]]
    mask = terms.sn_mask if terms is not None else ASSUMED_MASK
    at = f"{message.row['message'].lower()}.sn"
    if sn > mask and terms is not None and sn > terms.sn_limit:
        message.remark("sn-range", f"sn {sn} is above 0x{terms.sn_limit:x}", at)
        return Step.FIRST
    channel = session.channels.get(space)
    if channel is None:
        channel = session.channels[space] = Channel(mask)
        initial = session.initial[space[0]]
        if initial is not None:
            channel.start(initial)
    spare, starts = NONE, True
    if fragment:
        spare = AFTER_OPEN if message.flag("M") else AFTER_LAST
        starts = message.has("fragment.ext_first")
    begins = channel.last < 0
    expected = channel.expected
    step, missing = channel.follows(sn, starts)
    lossy = channel.holes != link.holes[direction]
    channel.holes = link.holes[direction]
    astray, channel.astray = channel.astray, False
    if step in _ODD and not lossy:
        other = session.channels.get(other_channel(space))
        if other is not None and other.follows(sn, starts)[0] in (Step.NEXT, Step.EXTRA):
            other.take(sn, spare)
            channel.astray = True
            if not astray:
                message.remark("sn-other-channel", _astray(space, sn, expected), at)
            return Step.NEXT
    if step not in (Step.DUPLICATE, Step.BACKWARD):
        channel.take(sn, spare)
    if not session.shared:
        report(message, step, sn, expected, missing, at, begins, lossy)
    return step


_ODD = (Step.GAP, Step.BACKWARD, Step.DUPLICATE)
_CHANNELS = ("best effort", "reliable")


def other_channel(space: Space) -> Space:
    """The space of the other channel, of the same side and priority."""
    side, reliable, number = space
    return side, not reliable, number


def _astray(space: Space, sn: int, expected: int) -> str:
    own, other = _CHANNELS[space[1]], _CHANNELS[not space[1]]
    return f"sn {sn} is next in {other}, not in {own}, where {expected} is: flag R is inverted, here or before"


def report(
    message: DecodedMessage, step: Step, sn: int, expected: int, missing: int, at: str, begins: bool, lossy: bool
) -> None:
    """Reports a number that doesn't follow the one before it.

    Args:
        begins: It is the first one of its space.
        lossy: The capture lost bytes of this stream since the one before.
    """
    if step is Step.DUPLICATE:
        message.remark("sn-duplicate", f"sn {sn} is repeated", at)
    elif step is Step.BACKWARD:
        message.remark("sn-backward", f"sn {sn} is older than {expected}, the next one expected", at)
    elif step is Step.GAP:
        code = "sn-gap-captured" if lossy else "sn-first" if begins else "sn-gap"
        text = f"sn {sn}, expected {expected}: {missing} missing"
        message.remark(code, text, at)
