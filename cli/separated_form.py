"""`-T fields` and `-T csv`."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click

from zdissect.dissection import Dissection, Item
from zdissect.output.separated import CSV, NoSuchName, SeparatedWriter, Separators, separators

from .counting_form import Chosen, CountingForm
from .options import DisplayOptions

if TYPE_CHECKING:
    from zdissect.vector.usual_batches import UsualBatches


class SeparatedForm(CountingForm):
    """A line of values for each message, as `-e` and `-E` say."""

    def __init__(self, display: DisplayOptions) -> None:
        super().__init__()
        csv = display.form == "csv"
        names = [name for one in display.names for name in one.split(",")]
        try:
            settings = separators(display.separators, CSV if csv else Separators())
            self.writer = SeparatedWriter(names, settings, display.payload or "hex", csv)
        except ValueError as problem:
            raise click.BadParameter(str(problem), param_hint="-E") from None
        except NoSuchName as problem:
            raise click.BadParameter(f"{problem}{_LISTED}", param_hint="-e") from None
        self.values = self.writer.values
        self.takes_columns = self.writer.takes_columns
        self.started = False
        self.starts = ("", self.writer.header())

    def show(self, item: Item, chosen: Chosen = None) -> str:
        self.count(item, chosen)
        lines = "".join(self.writer.lines(item, chosen)) if isinstance(item, Dissection) else ""
        return self.start() + lines

    def texts(self, usual: "UsualBatches") -> Iterator[str]:
        lines = self.writer.texts(usual)
        for size in usual.counts.tolist():
            self.messages += 1
            yield self.start() + "\n".join([*islice(lines, size), ""])

    def start(self) -> str:
        """The header, once."""
        started, self.started = self.started, True
        return "" if started else self.writer.header()

    def resume(self) -> None:
        self.started = True

    def end(self) -> str:
        return self.start()


_LISTED = " (`zdissect fields PATTERN` lists names)"
