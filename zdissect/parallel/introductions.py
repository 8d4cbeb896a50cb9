"""The ends of a connection, as its first batches name them: the ZenohIDs in INIT."""

from collections.abc import Iterable

from zdissect.engine.messages import messages
from zdissect.flow.batch_decoding import decode
from zdissect.flow.conversation import StreamConversation
from zdissect.flow.detect_stream import LOOK_AHEAD
from zdissect.flow.framing import Framing
from zdissect.flow.stream_buffer import Batch, Skipped
from zdissect.flow.verdict import Verdict
from zdissect.records import Chunk, Gap, Overlap, StreamEnd, StreamItem

_OPEN = (Verdict.UNDECIDED, Verdict.ZENOH, Verdict.WEBSOCKET)
"""Verdicts after which an INIT may still come."""


class Introduction:
    """A connection whose ends aren't known yet."""

    def __init__(self, conversation: StreamConversation) -> None:
        self.conversation = conversation
        self.names: list[str | None] = [None, None]
        self.heard = [False, False]
        self.ended = [False, False]
        self.size = 0

    def feed(self, item: StreamItem) -> bool:
        """Takes a piece of a stream; returns whether nothing more can be found out."""
        if isinstance(item, Chunk | Gap):
            self.size += len(item.data) if isinstance(item, Chunk) else 0
            self.take(self.conversation.feed(item))
        elif isinstance(item, StreamEnd):
            self.ended[item.direction] = True
            if all(self.ended):
                self.close()
                return True
        elif isinstance(item, Overlap):
            return False
        return all(self.heard) or self.size > 2 * LOOK_AHEAD or self.conversation.flow.verdict not in _OPEN

    def close(self) -> None:
        """Takes what is left when the connection, or the capture, ends."""
        self.take(self.conversation.close())

    def take(self, batches: Iterable[tuple[int, Batch | Skipped]]) -> None:
        """Looks into the batches that the connection was cut into."""
        for direction, batch in batches:
            self.heard[direction] = True
            if not isinstance(batch, Skipped) and self.names[direction] is None:
                self.names[direction] = zid_of(batch.buffer.data, batch.framing)


def zid_of(data: bytes, framing: Framing) -> str | None:
    """The ZenohID in an INIT in a batch."""
    for message in messages(decode(data, framing).content):
        if message.row["message"].startswith("INIT"):
            zid: str | None = message.row.get("zid")
            return zid
    return None
