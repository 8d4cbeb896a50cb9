"""What a FRAME or FRAGMENT does to its session: priority, sequence number, fragments (notes 4.5).

`sequence` finds which numbers are missing or repeated (`sn-gap`, `sn-duplicate`...); `fragments` reassembles messages.
"""

from zdissect.engine.messages import DecodedMessage
from zdissect.grammar.enums import DATA
from zdissect.session.fragments import Assembled, FragmentChain
from zdissect.session.model import Link
from zdissect.session.sequence import Numbered, Space, Step, follow, open_channel, other_channel, out_of_range


def feed(link: Link, message: DecodedMessage, direction: int, frame: int) -> Assembled | None:
    """Takes a FRAME or FRAGMENT; returns the message that a last fragment completes."""
    row = message.row
    sn = row.get("sn")
    if sn is None:
        return None
    end = link.handshake.ends[direction]
    begun = link.handshake.step and not link.gaps[direction]
    if not end.opened and (begun or link.begins(direction)):
        message.remark("frame-before-open", f"{row['message']} before this side's OPEN")
    space = link.space(row, direction)
    priority(link, message, direction, space[2])
    step = sequence(link, Numbered(message, space, sn, link.gaps[direction]), direction)
    if row["message"] == "FRAGMENT":
        patch = link.session.agreed.patch if link.session.agreed is not None else 1
        whole = link.session.agreed is not None and not link.gaps[direction]
        chain = chain_of_fragment(link, message, space)
        before = chain.kept
        assembled = chain.feed(message, frame, step, patch, whole)
        link.session.pieces += chain.kept - before
        return assembled
    idle = link.session.chains.get(space)
    if idle is not None:
        before = idle.kept
        idle.frame(message, step)
        link.session.pieces += idle.kept - before
    return None


def priority(link: Link, message: DecodedMessage, direction: int, number: int) -> None:
    """Notes 9, rule 20: priorities are used as agreed, and within the range that the sender stated."""
    agreed = link.handshake.agreed
    field = f"{message.row['message'].lower()}.ext_qos"
    if agreed is not None and not agreed.qos and number != DATA:
        message.remark("priority-without-qos", f"priority {message.row['priority']} without QoS", field)
    stated = link.handshake.ends[direction].priorities
    if stated is not None and not stated[0] <= number <= stated[1]:
        message.remark("priority-range", f"priority {number} isn't in {stated[0]} to {stated[1]}", field)


def sequence(link: Link, numbered: Numbered, direction: int) -> Step:
    """How the number of a message follows the one before it."""
    session, side = link.session, link.side(direction)
    terms = session.agreed or side.stated
    if out_of_range(numbered, terms):
        return Step.FIRST
    if numbered.space not in session.channels:
        session.channels[numbered.space] = open_channel(terms, side.initial_sn)
    return follow(session.channels, numbered, ordered=not session.shared)


def chain_of_fragment(link: Link, message: DecodedMessage, space: Space) -> FragmentChain:
    """The chain that a fragment continues or begins: that of its space, or the other channel's if R is inverted."""
    session = link.session
    chain = session.chains.get(space)
    channel = session.channels.get(space)  # None if the first number was out of range
    if channel is not None and channel.astray and not (chain is not None and chain.open):
        other_chain = session.chains.get(other_channel(space))  # it may continue a chain that began in its own channel
        if other_chain is not None and other_chain.open and not message.has("fragment.ext_first"):
            return other_chain
    if chain is None:
        chain = session.chains[space] = FragmentChain()
    return chain
