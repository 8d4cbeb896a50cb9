"""The rows of the table `messages` that a display filter selects."""

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from zdissect.dissection import Dissection
from zdissect.export.message_batches import MessageBatches
from zdissect.filters import Filter, FilterError, compile_filter


def check(text: str) -> Filter:
    """A filter that may choose rows of a table.

    Raises:
        FilterError: It isn't a filter; or it needs a second pass, or what a part of a capture doesn't tell.
    """
    wanted = compile_filter(text)
    if wanted.looks_ahead:
        raise FilterError("", 0, f"{text!r} depends on later messages, but captures are read once to make tables")
    if wanted.counts_from_start:
        raise FilterError(
            "", 0, f"{text!r} depends on the capture's start, but its parts are decoded alone; use frame.time instead"
        )
    return wanted


class FilteredMessages:
    """As `MessageBatches`, but only with the rows that a filter selects."""

    def __init__(self, messages: MessageBatches, text: str) -> None:
        self.messages = messages
        self.wanted = wanted = check(text)
        self.total = 0
        """Rows of all batches so far."""
        self.by_file: Counter[str] = Counter()
        """Rows that weren't counted yet, see `counted`."""
        cut = messages.payload is not None and "payload" in wanted.columns
        self.by_item = wanted.needs_tape or cut
        """Whether batches lack what the filter needs, so that each message is tested on its own."""
        self.choices: list[bool] = []
        self.mask = None if self.by_item else wanted.arrow()

    def feed(self, item: Dissection) -> bool:
        """Takes the messages of a dissection; returns whether it is time for a batch."""
        if not self.by_item:
            return self.messages.feed(item)
        chosen = self.wanted.select(item) if item.messages else []
        if not any(chosen):
            return False
        self.choices += chosen
        return self.messages.feed(item)

    def take(self) -> pa.RecordBatch | None:
        """The batch; None if there are no rows."""
        return self.chosen(self.messages.take())

    def chosen(self, batch: pa.RecordBatch | None) -> pa.RecordBatch | None:
        """Those rows of a batch that the filter selects; None if there are none."""
        if batch is None:
            return None
        mask = pa.array(self.choices, pa.bool_()) if self.mask is None else self.mask(batch)
        self.choices = []
        batch = batch.filter(mask)
        self.total += batch.num_rows
        for entry in pc.value_counts(batch.column("file")).to_pylist():
            self.by_file[entry["values"]] += entry["counts"]
        return batch if batch.num_rows else None

    def counted(self) -> Counter[str]:
        """How many rows each file had since the last call."""
        out, self.by_file = self.by_file, Counter()
        return out
