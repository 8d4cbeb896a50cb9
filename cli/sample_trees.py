"""Samples as trees: who sent each, which nodes passed it on and when, and who was left out."""

from collections.abc import Iterator

from zdissect.output.text import safe

from .hop_trees import HopTrees
from .list_cells import Entry, state_color
from .stats_units import duration, size

_MOST_STAMPS = 8


class SampleTrees(HopTrees):
    """Writes samples, each as `SampleListing` lists it."""

    def lines(self, row: Entry) -> Iterator[str]:
        style = self.style
        state = f"{state_color(row['state'], style)}{row['state']}{style.end}"
        after = f" after {duration(row['latency_ns'] / 1e9)}" if row["latency_ns"] is not None else ""
        what = f"{style.data}{row['body'] or 'PUSH'}{style.end} {safe(row['key_expr'] or '')}"
        when = f"{row['frame']:>6}  {self.clock(row['ts_ns'])}"
        yield f"{when}  {state}{after}  {what}  {size(row['payload_len'] or 0)}"
        below: dict[int | None, list[Entry]] = {}
        for hop in row["hops"]:
            below.setdefault(hop["passes_on_frame"], []).append(hop)
        for hop in below.get(None, ()):
            yield self.line(hop["frame"], hop["after_ns"], "", self.hop(hop, row))
            yield from self.branch(hop, row, below, "")
        sources = {hop["to"] for hop in row["hops"]}
        for one in row["missing"]:
            if one["node"] not in sources:
                yield f"{'':20} {self.missing(one, row)}"

    def branch(self, hop: Entry, row: Entry, below: dict[int | None, list[Entry]], lead: str) -> Iterator[str]:
        """The lines of what the receiver of a PUSH does with it."""
        if deep := [*self.too_deep(lead)]:
            yield from deep
            return
        passed = [one for one in below.get(hop["frame"], ()) if one["from"] == hop["to"]]
        missing = [one for one in row["missing"] if one["node"] == hop["to"]]
        for number, one in enumerate(passed, 1):
            last = number == len(passed) and not missing
            yield self.line(one["frame"], one["after_ns"], f"{lead}{'└─' if last else '├─'}", self.hop(one, row))
            yield from self.branch(one, row, below, f"{lead}{'   ' if last else '│  '}")
        for number, one in enumerate(missing, 1):
            branch = "└─" if number == len(missing) else "├─"
            yield f"{'':20} {self.style.dim}{lead}{branch}{self.style.end} {self.missing(one, row)}"

    def hop(self, hop: Entry, row: Entry) -> str:
        """A PUSH."""
        style = self.style
        text = f"{self.node(hop, 'from')} → {self.node(hop, 'to')}  {self.where(hop)}".rstrip()
        if hop["key_expr"] != row["key_expr"]:
            text += f"  {style.error}as another key: {safe(hop['key_expr'] or '')}{style.end}"
        said = [] if hop["held_ns"] is None else [f"held {duration(hop['held_ns'] / 1e9)}", hop["confidence"]]
        said += (
            [] if hop["since_stamp_ns"] is None else [f"{duration(hop['since_stamp_ns'] / 1e9)} since its timestamp"]
        )
        text += f"  {style.derived}[{', '.join(said)}]{style.end}" if said else ""
        stamps = [f"{one['point']} by {self.name(one['node'])} {self.clock(one['ts_ns'])}" for one in hop["stamps"]]
        return text + (f"  {style.dim}{', '.join(stamps[:_MOST_STAMPS])}{style.end}" if stamps else "")

    def missing(self, one: Entry, row: Entry) -> str:
        """That somebody was left out."""
        style = self.style
        color, sure = (style.error, "isn't") if one["certain"] else (style.warning, "perhaps isn't")
        why = f"{self.node(one, 'to')} {sure} sent it, and subscribes to {safe(one['subscriber_key'])}"
        drop = (
            f"; {row['congestion_control']}: without room it is dropped" if row["congestion_control"] == "Drop" else ""
        )
        return f"{color}{why} (frame {one['subscriber_frame']}){style.end}{drop}"
