"""Cuts a stream whose sender left out the length prefixes: what it wrote at once, as segments show, is a batch."""

from collections.abc import Iterator

from zdissect.flow.batch_decoding import is_batch
from zdissect.flow.cutter import Cutter
from zdissect.flow.framing import Framing
from zdissect.flow.stream_buffer import Batch, Skipped, skipped_gap
from zdissect.records import Gap

_MOST_PARTS = 16
_MOST_BYTES = 1 << 16
"""Most segments, and bytes, that are taken for one batch."""


class Unprefixed(Cutter):
    """Cuts one direction of a stream without length prefixes."""

    @property
    def framing(self) -> Framing:
        """Framing of the next batch; there is never a length in front."""
        return self._framing

    @framing.setter
    def framing(self, framing: Framing) -> None:
        self._framing = framing._replace(prefix=0)


class SegmentCutter(Unprefixed):
    """Cuts one direction of such a stream: a batch ends with the segment up to which it decodes."""

    def cut(self, final: bool) -> Iterator[Batch | Skipped]:
        """Cuts what is in hand."""
        if not self.have:
            return
        last, parts = self.parts[-1].data, len(self.parts) - self.begin
        if final or self.have > _MOST_BYTES or parts > _MOST_PARTS or self.fits(self.peek(self.have)):
            yield self.take(self.have, "")
        elif parts > 1 and self.fits(last):
            yield self.take(self.have - len(last), "")
            yield self.take(len(last), "")

    def fits(self, data: bytes) -> bool:
        """Whether bytes are a batch."""
        return is_batch(data, self.framing)

    def gap(self, gap: Gap) -> Iterator[Batch | Skipped]:
        """Takes a gap. It ends the batch in hand. The next one begins with the next segment, or isn't found."""
        yield from self.cut(final=True)
        if gap.size:
            yield skipped_gap(gap)
