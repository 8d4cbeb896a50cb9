"""Which FRAGMENTs a reassembled message came from, and where their bytes are."""

from collections import defaultdict

from zdissect.anonymize.places import FragmentPiece, InPieces, UnitTarget
from zdissect.dissection import Dissection
from zdissect.engine.messages import DecodedMessage
from zdissect.session.model import Session

Side = tuple[Session | str, int]
"""Session (or flow), side of it."""

MOST = 1 << 16
"""Pieces of one chain that are remembered: more than any message has."""


class Pieces:
    """The payloads of FRAGMENTs that wait for the last one, by side and priority."""

    def __init__(self) -> None:
        self.waiting: defaultdict[Side, defaultdict[str, list[FragmentPiece]]] = defaultdict(lambda: defaultdict(list))
        self.ended: set[tuple[Side, str]] = set()

    def add(self, side: Side, message: DecodedMessage, target: UnitTarget, frame: int) -> None:
        """Notes the payload of a FRAGMENT, which can be written by way of `target`."""
        span = message.find("fragment.payload")
        if span is None:
            return
        priority = message.row["priority"]
        known = self.waiting[side][priority]
        if (side, priority) in self.ended:
            self.ended.discard((side, priority))
            known.clear()
        known.append(FragmentPiece(target, span[2], span[4], frame))
        if len(known) > MOST:
            del known[: MOST // 2]
        if not message.flag("M"):
            self.ended.add((side, priority))

    def message(self, side: Side, item: Dissection) -> InPieces | None:
        """The pieces of a reassembled message: those which, from the last one back, have its bytes."""
        for pieces in self.waiting[side].values():
            if pieces and pieces[-1].frame == item.frame.number and (found := _matching(pieces, item)):
                return InPieces(found)
        return None


def _matching(pieces: list[FragmentPiece], item: Dissection) -> list[FragmentPiece]:
    """The last of these pieces that make up a message; none if they don't."""
    out: list[FragmentPiece] = []
    data, frames = item.buffer.data, set(item.frames)
    stop = len(data)
    for piece in reversed(pieces):
        start = stop - len(piece.data)
        if start >= 0 and piece.frame in frames and data[start:stop] == piece.data:
            out.append(piece)
            stop = start
            if not stop:
                return out[::-1]
    return []
