"""`-T fields` and `-T csv`."""

import click

from zdissect.dissection import Dissection, Item
from zdissect.output.separated import CSV, NoSuchName, SeparatedWriter, Separators, separators

from .counting_form import Chosen, CountingForm
from .options import DisplayOptions


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
        self.started = False
        self.starts = ("", self.writer.header())

    def show(self, item: Item, chosen: Chosen = None) -> str:
        self.count(item, chosen)
        lines = "".join(self.writer.lines(item, chosen)) if isinstance(item, Dissection) else ""
        return self.start() + lines

    def start(self) -> str:
        """The header, once."""
        started, self.started = self.started, True
        return "" if started else self.writer.header()

    def resume(self) -> None:
        self.started = True

    def end(self) -> str:
        return self.start()


_LISTED = " (`zdissect fields PATTERN` lists names)"
