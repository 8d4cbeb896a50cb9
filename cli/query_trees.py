"""Queries as trees of what happened: who asked whom, who passed it on, each answer and end, with times."""

from collections.abc import Iterator
from typing import NamedTuple

from zdissect.grammar.primitives import ENDLESS_MS
from zdissect.listing.query_fates import CONSOLIDATED, KEPT_BACK, LATE
from zdissect.output.text import safe

from .hop_trees import HopTrees
from .list_cells import Entry, state_color
from .stats_cells import short_zid
from .stats_units import duration, many, size

MOST_SHOWN = 16
"""Answers of a hop that a tree shows; --json has all."""


class _Event(NamedTuple):
    """What happens on a hop."""

    frame: int
    rank: int
    """Orders what one frame brings: requests, answers, the end."""
    after_ns: int
    text: str
    hop: Entry | None = None
    """The hop that begins there."""


class QueryTrees(HopTrees):
    """Writes queries, each as `QueryListing` lists it."""

    def lines(self, row: Entry) -> Iterator[str]:
        """The lines of a query."""
        style = self.style
        selector = safe(row["key_expr"] or "") + (f"?{safe(row['parameters'])}" if row["parameters"] else "")
        state = f"{state_color(row['state'], style)}{row['state']}{style.end}"
        when = f"{row['request_frame']:>6}  {self.clock(row['ts_ns'])}"
        yield f"{when}  {state}{self.result(row)}  {style.query}{selector}{style.end}"
        below: dict[tuple[int, int], list[Entry]] = {}
        for hop in row["hops"]:
            if hop["passes_on_frame"] is not None:
                below.setdefault((hop["passes_on_frame"], hop["passes_on_id"]), []).append(hop)
        for hop in row["hops"]:
            if hop["passes_on_frame"] is None:
                yield self.line(hop["frame"], hop["after_ns"], "", self.asked(hop, row))
                yield from self.branch(hop, row, below, "")
        if row["ended"] not in ("final", "open"):
            yield f"{'':20}{style.warning}{self.ending(row)}{style.end}"

    def result(self, row: Entry) -> str:
        """What came of it, in a few words."""
        words = []
        if row["replies"] or row["errors"]:
            counts = [many(row["replies"], "reply").replace("replys", "replies")] if row["replies"] else []
            words.append(" and ".join(counts + ([many(row["errors"], "error")] if row["errors"] else [])))
            words[0] += f" after {duration(row['first_time_ns'] / 1e9)}"
        if row["final_time_ns"] is not None:
            words.append(f"end after {duration(row['final_time_ns'] / 1e9)}")
        return f": {', '.join(words)}" if words else ""

    def branch(self, hop: Entry, row: Entry, below: dict[tuple[int, int], list[Entry]], lead: str) -> Iterator[str]:
        """The lines of what happens after a REQUEST."""
        if deep := [*self.too_deep(lead)]:
            yield from deep
            return
        events = sorted(self.events(hop, row, below), key=lambda event: event[:2])
        silent = hop["state"] == "silent"
        for number, event in enumerate(events):
            last = number == len(events) - 1 and not silent
            yield self.line(event.frame, event.after_ns, f"{lead}{'└─' if last else '├─'}", event.text)
            if event.hop is not None:
                yield from self.branch(event.hop, row, below, f"{lead}{'   ' if last else '│  '}")
        if silent:
            style = self.style
            text = f"{style.error}neither an answer nor an end from {self.node(hop, 'to')}{style.end}"
            yield f"{'':20}{style.dim}{lead}└─{style.end} {text}"

    def events(self, hop: Entry, row: Entry, below: dict[tuple[int, int], list[Entry]]) -> Iterator[_Event]:
        """What happens after a REQUEST."""
        for one in below.get((hop["frame"], hop["request_id"]), ()):
            yield _Event(one["frame"], 0, one["after_ns"], self.forwarded(one, row), one)
        for one in hop["answers"][:MOST_SHOWN]:
            yield _Event(one["frame"], 1, one["after_ns"], self.answer(one, hop, row))
        more = hop["answer_count"] - MOST_SHOWN
        if more > 0:
            last = hop["answers"][-1]
            yield _Event(
                last["frame"], 1, last["after_ns"], f"{self.style.dim}{many(more, 'more answer')}{self.style.end}"
            )
        if hop["final_frame"] is not None:
            style, after_ns = self.style, hop["after_ns"] + hop["final_time_ns"]
            color = style.warning if row["state"] == "no answer" else style.dim
            words = f"end{'' if hop['answer_count'] else f', {color}no answer{style.end}'}"
            yield _Event(hop["final_frame"], 2, after_ns, f"{words}  {self.took(hop['final_time_ns'])}")

    def asked(self, hop: Entry, row: Entry) -> str:
        """The REQUEST of the asker."""
        words = [f"{self.node(hop, 'from')} asks {self.node(hop, 'to')}", self.place(hop)]
        words += [row["target"]] if row["target"] else []
        wait_ms = row["timeout_ms"]
        words += (
            ["without a timeout" if wait_ms >= ENDLESS_MS else f"timeout {duration(wait_ms / 1e3)}"] if wait_ms else []
        )
        return "  ".join(words)

    def forwarded(self, hop: Entry, row: Entry) -> str:
        """A REQUEST that passes the query on."""
        style = self.style
        said = [f"held {duration(hop['held_ns'] / 1e9)}", *([hop["confidence"]] if hop["confidence"] else [])]
        text = f"{self.node(hop, 'from')} passes it on to {self.node(hop, 'to')}  {self.place(hop)}"
        if hop["key_expr"] != row["key_expr"]:
            text += f"  {style.error}as another key: {safe(hop['key_expr'] or '')}{style.end}"
        return f"{text}  {style.derived}[{', '.join(said)}]{style.end}"

    def answer(self, one: Entry, hop: Entry, row: Entry) -> str:
        """An answer."""
        style = self.style
        text = f"{style.message}{one['body']}{style.end}"
        if one["timeout"]:
            text += f"  {style.warning}Timeout: no answer from {short_zid(one['responder'], narrow=True)}{style.end}"
        else:
            text += f" {safe(one['key_expr'] or '?')}" if one["key_expr"] != row["key_expr"] else ""
            text += f"  {size(one['payload_len'])}" if one["payload_len"] is not None else ""
        if one["passes_on_frame"] is not None:
            text += f"  {style.derived}[that of frame {one['passes_on_frame']}, held {duration(one['held_ns'] / 1e9)}]"
            text += style.end
        else:
            text += f"  {self.took(one['after_ns'] - hop['after_ns'])}"
        return text + (f"  {style.warning}[{self.fate(one['fate'], hop, row)}]{style.end}" if one["fate"] else "")

    def fate(self, fate: str, hop: Entry, row: Entry) -> str:
        """Why an answer got no further."""
        node, asker = self.node(hop, "from"), hop["from"] == row["asker"]
        return {
            CONSOLIDATED: f"{node} drops it: another reply on this key counts (consolidation)",
            KEPT_BACK: f"{node} doesn't pass it on",
            LATE: f"late: {node} has stopped waiting" if asker else f"late: {node} has already ended the request",
        }[fate]

    def ending(self, row: Entry) -> str:
        """What ended it, where that isn't its end."""
        by = short_zid(row["ended_by"], narrow=True)
        return {
            "node timeout": f"ended by the timeout of {by}",
            "asker timeout": f"ended by the timeout of the asker, {by}: it isn't on the wire",
            "session": f"the session with {by} ended first",
        }[row["ended"]]

    def place(self, hop: Entry) -> str:
        """The session of a hop, and the id of its request."""
        return self.where(hop, f"id {hop['request_id']}")

    def took(self, time_ns: int) -> str:
        """How long something took since the REQUEST of its hop."""
        return f"{self.style.derived}[after {duration(time_ns / 1e9)}]{self.style.end}"
