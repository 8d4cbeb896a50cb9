"""What the forms of output share: they count, name the ends of a conversation, and bracket notices."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from zdissect.dissection import Dissection, Item, Notice, findings_of
from zdissect.grammar.rules import RULES
from zdissect.output.style import Style
from zdissect.output.text import safe
from zdissect.output.time_formats import FrameTimes
from zdissect.records import Endpoint
from zdissect.table import endpoint

if TYPE_CHECKING:
    from zdissect.filters.name_values import NameValues
    from zdissect.vector.usual_batches import UsualBatches

    from .answers_ahead import LaterAnswers

Chosen = Sequence[bool] | None
"""Which messages of an item are shown; None: all, as nobody has filtered them."""


class CountingForm:
    """Counts what is shown."""

    def __init__(self, times: FrameTimes | None = None) -> None:
        self.times = times
        self.values: NameValues | None = None
        self.ahead: LaterAnswers | None = None
        self.messages = 0
        self.findings: Counter[str] = Counter()

    def remember_little(self) -> None:
        """The capture has no end: what is remembered of its conversations must be bounded."""

    starts: tuple[str, str] | None = ("", "")
    """What a text begins with that isn't the first one; what the first one begins with instead."""

    def resume(self) -> None:
        """What it shows next isn't the first text, nor does it go on from the one before."""

    def filling(self) -> Callable[[str], str] | None:
        """What fills in what texts leave open; see `Form`."""
        return None

    def left_out(self) -> str:
        """The head that was left out of what was shown last, as it has that of the one before."""
        return ""

    def count(self, item: Item, chosen: Chosen) -> None:
        if isinstance(item, Dissection):
            self.messages += 1
            if not item.tape.remarks and chosen is None:
                return
        for finding in findings_of(item, chosen):
            self.findings[finding.rule.code] += 1

    takes_columns = False
    """Whether `texts` can be asked for, instead of `show`."""

    def texts(self, usual: "UsualBatches") -> Iterator[str]:
        """The text of each of the batches; between two, other items may be shown."""
        raise NotImplementedError

    def end(self) -> str:
        return ""


def arrow(item: Item) -> str:
    """`source > destination`; empty for a frame of no conversation."""
    if not item.flow.id:
        return ""
    src, dst = item.flow.ends if item.direction == 0 else item.flow.ends[::-1]
    return _arrow(src, dst)


@lru_cache(maxsize=1024)  # few conversations go on at once
def _arrow(src: Endpoint, dst: Endpoint) -> str:
    return f"{endpoint(src)} > {endpoint(dst)}"


def bracketed(notice: Notice, style: Style) -> str:
    """A notice, in brackets."""
    if not notice.code:
        return f"{style.derived}[{safe(notice.text)}]{style.end}"
    severity = RULES[notice.code].severity
    return f"{style.severity(severity)}[{severity}: {safe(notice.text)}]{style.end}"
