"""What is known of the messages of a block before any rule has seen them: kinds, channels, what can't be usual."""

from typing import NamedTuple

import numpy as np

from zdissect.flow.batch_decoding import LARGEST
from zdissect.session.liveness import late_ms
from zdissect.session.message_checks import near
from zdissect.session.model import Link
from zdissect.session.sequence import Space
from zdissect.session.usual_messages import USUAL
from zdissect.vector.arrays import BlockBatches, Bools, Ints, Walked


class Kinds(NamedTuple):
    """The (way, template) pairs of a block, and the pair of each message."""

    pair: Ints
    way: Ints
    template: Ints


def kinds(batches: BlockBatches, walked: Walked) -> Kinds:
    """Which pairs there are: what is found out about a message holds for its template in this direction."""
    way = batches.way[walked.batch]
    many = len(batches.ways)
    pairs, pair = np.unique(walked.template * many + way, return_inverse=True)
    return Kinds(pair.astype(np.int64), pairs % many, pairs // many)


class Facts(NamedTuple):
    """Facts about a block."""

    kinds: Kinds
    messages: Ints
    """Messages of each batch."""
    first: Ints
    """The first one."""
    now_ns: Ints
    """Time of each batch."""
    size: Ints
    event: Bools
    """Whether a batch can't be usual, whatever is known of its session."""
    ruled: Bools
    """For each pair, whether its messages go through the rules one by one, but leave others as they are."""
    channel: Ints
    """For each message that has a number of its own, an index in `spaces`; -1 for others."""
    spaces: list[tuple[int, Space]]
    """(way, space of sequence numbers)."""


def facts(batches: BlockBatches, walked: Walked, links: list[Link], frame_ns: Ints) -> Facts:
    """Finds what can be said of a block.

    Args:
        links: The link of each way.
        frame_ns: The time of each frame.
    """
    known = kinds(batches, walked)
    total = len(batches.start)
    count = np.bincount(walked.batch, minlength=total)
    now_ns = frame_ns[batches.frame]
    event = ~walked.plain
    rows = [walked.templates[number].row for number in known.template.tolist()]
    ruled = np.array([row["message"] not in USUAL for row in rows], bool)
    channel, spaces = _channels(known, rows, batches, links)
    misfit = _stamps(walked, now_ns) | _numbers(channel[known.pair], walked.sn, spaces, links)
    event[walked.batch[misfit]] = True
    _silences(event, batches.way, now_ns, links, batches)
    size = batches.stop - batches.start
    event |= size > _most(links)[batches.way]
    first = np.cumsum(count) - count
    return Facts(known, count, first, now_ns, size, event, ruled, channel[known.pair], spaces)


def _channels(
    known: Kinds, rows: list[dict[str, object]], batches: BlockBatches, links: list[Link]
) -> tuple[Ints, list[tuple[int, Space]]]:
    """The channel of each pair, and all channels."""
    found: dict[tuple[int, Space], int] = {}
    out = np.full(len(rows), -1)
    for number, (row, way) in enumerate(zip(rows, known.way.tolist(), strict=True)):
        if row["message"] == "FRAME":
            space = links[way].space(row, batches.ways[way].direction)
            out[number] = found.setdefault((way, space), len(found))
    return out, list(found)


def _numbers(channel: Ints, sn: Ints, spaces: list[tuple[int, Space]], links: list[Link]) -> Bools:
    """Messages whose number doesn't follow that of the one before in their channel."""
    out = np.zeros(len(sn), bool)
    for number, (way, space) in enumerate(spaces):
        places = np.flatnonzero(channel == number)
        known = links[way].session.channels.get(space)
        mask = known.mask if known is not None else -1
        mine = sn[places]
        out[places[1:]] = (mine[:-1] + 1 & mask) != mine[1:]
    return out


def _stamps(walked: Walked, now_ns: Ints) -> Bools:
    """Messages whose timestamp isn't close to the clock of the capture."""
    time_ns = now_ns[walked.batch]
    stamp_s = (walked.stamp >> np.uint64(32)).astype(np.int64)
    far: Bools = walked.stamped & (time_ns != 0) & ~near(stamp_s, time_ns // 10**9)
    return far


def _most(links: list[Link]) -> Ints:
    """The size of a batch, for each way, beyond which the rules have something to say."""
    return np.array([LARGEST if link.batch_size is None else link.batch_size for link in links], np.int64)


def _silences(event: Bools, way: Ints, now_ns: Ints, links: list[Link], batches: BlockBatches) -> None:
    """Marks batches after which a side was silent for longer than usual."""
    for number, link in enumerate(links):
        lease_ms = link.handshake.ends[batches.ways[number].direction].lease_ms
        if lease_ms:
            places = np.flatnonzero(way == number)
            silent_ms = np.diff(now_ns[places]) // 1_000_000
            event[places[1:][silent_ms > late_ms(lease_ms)]] = True
