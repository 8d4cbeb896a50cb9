"""The findings of a capture, a row each."""

from collections.abc import Iterator, Sequence

from zdissect.dissection import Dissection, Item, findings
from zdissect.engine.messages import Row
from zdissect.grammar.rules import RULES
from zdissect.listing.listing import MOST_ROWS, Entry, Listing, columns, wanted
from zdissect.pipeline import Pipeline
from zdissect.stats.keys import wire_key
from zdissect.table import endpoint

_COLUMNS = columns("""
frame            number  Frame!    Number of the frame that shows it.
ts_ns            time    Time      Time of that frame.
severity         text    Severity! note, warning, error.
code             text    Finding!  Name of the rule: `zdissect explain CODE` tells more.
session          number  Session   Number of the session; null for scouting, or where there is none.
flow_id          text    Flow      The conversation that it is in.
src              zid     From      Who sent what it is about: ZenohID, or address.
message          text    Message   The message that it is in; null for missing bytes, and for what doesn't come.
key_expr         long    Key       Key expression of that message.
offset           number  -         Where it begins, in the bytes that the message is in.
text             long    Meaning!  What is wrong.
group            text    -         What kind of rule it breaks.
file             text    -         The capture file.
""")


class FindingListing(Listing):
    """The findings; of a choice of messages those that are in one of them."""

    name = "findings"
    columns = _COLUMNS

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Entry] = []
        self.outer: list[tuple[Item, Entry]] = []
        """Those of a batch without messages of its own: if it was compressed, what comes next has them too."""

    def take(self, item: Item, chosen: Sequence[bool] | None) -> None:
        if isinstance(item, Dissection) and item.messages:
            found = list(in_messages(item, chosen))
            told = [(entry["code"], entry["text"]) for entry in found] if self.outer else []
            self.list_outer(told if item.buffer.name == "decompressed" else [])
            for entry in found:
                self.keep(item, entry)
            return
        self.list_outer([])
        if chosen is None or all(chosen):
            for one in findings(item):
                entry = {**_of(one.rule.code, one.start, one.message), **_NOWHERE}
                if isinstance(item, Dissection):
                    self.outer.append((item, entry))
                else:
                    self.keep(item, entry)

    def list_outer(self, told: list[tuple[str, str]]) -> None:
        """Lists what was found in a batch without messages, if those that came out of it don't have it."""
        for item, entry in self.outer:
            if (entry["code"], entry["text"]) not in told:
                self.keep(item, entry)
        self.outer.clear()

    def keep(self, item: Item, entry: Entry) -> None:
        """Lists a finding, if there is room."""
        if len(self.found) >= MOST_ROWS:
            self.unlisted += 1
            return
        frame, end = item.frame, item.flow.ends[item.direction] if item.flow.id else None
        entry |= {"frame": frame.number, "ts_ns": frame.ts_ns, "file": frame.source, "flow_id": item.flow.id}
        entry["src"] = entry.get("src") or (endpoint(end) if end is not None else None)
        self.found.append(entry)

    def rows(self, pipeline: Pipeline) -> list[Entry]:
        self.list_outer([])
        numbers = self.session_numbers(pipeline)
        for entry in self.found:
            entry["session"] = numbers.get(entry["flow_id"])
        return [{column.name: entry[column.name] for column in _COLUMNS} for entry in self.found]


_NOWHERE = {"message": None, "key_expr": None}


def in_messages(item: Dissection, chosen: Sequence[bool] | None) -> Iterator[Entry]:
    """The findings of messages, as far as the message tells of them."""
    for message in wanted(item, chosen):
        row = message.row
        for finding in row.get("findings", ()):
            entry = _of(finding["code"], finding["offset"], finding["message"])
            yield entry | {"message": label(row), "key_expr": wire_key(row), "src": row.get("src_zid")}


def label(row: Row) -> str:
    """`PUSH PUT`, `undecoded`."""
    words = (row["message"] or "undecoded", row.get("body"), row.get("reply_body"))
    return " ".join(word for word in words if word)


def _of(code: str, offset: int, text: str) -> Entry:
    rule = RULES[code]
    return {"severity": rule.severity, "code": code, "offset": offset, "text": text, "group": rule.group}
