"""What the nodes of a capture have declared, a row each: from which frame on, and until when."""

from collections.abc import Sequence
from dataclasses import dataclass

from zdissect.dissection import Dissection, Item
from zdissect.engine.messages import DecodedMessage, Row
from zdissect.listing.listing import MOST_ROWS, Entry, Listing, columns
from zdissect.pipeline import Pipeline
from zdissect.session.declared_options import interest_options, queryable_options
from zdissect.session.interests import KINDS
from zdissect.stats.keys import sender, wire_key
from zdissect.table import endpoint

_COLUMNS = columns("""
kind            text      Kind!     key (an id for a key expression), subscriber, queryable, token, interest.
id              number    Id        Its number, among those of its kind of that node in that session.
key_expr        long      Key!      Its key expression; ?9/q where the declared id 9 isn't known; null for an interest in all.
options         list      Options   complete and distance of a queryable; mode and kinds of an interest.
role            text      By!       Role of the node that declares it.
zid             zid       ZenohID   ZenohID of that node, or its address.
peer            zid       To        The node that is told.
session         number    Session   Number of the session.
flow_id         text      -         The conversation that carries the declaration.
frame           number    Frame!    Number of the frame that declares it.
ts_ns           time      Time      Time of that frame.
until_frame     number    Until!    Frame that undeclares it, gives its number to another, or ends the interest.
until_ts_ns     time      -         Time of that frame.
lasted_ns       duration  Lasted    From one to the other.
ended           text      End!      undeclared, replaced, reply (told once, for an interest), session (ended with that), open (at the end of the capture).
interest_frame  number    -         Frame with the interest that it answers.
answered_frame  number    -         Frame with the D_FINAL that answers an interest.
""")  # noqa: E501

_Place = tuple[object, int, str, int, str | None]
"""Session, side, kind, id; and the key, where declarations have no ids."""


@dataclass(slots=True, eq=False)
class _Declared:
    """A declaration."""

    entry: Entry
    now_ns: int
    chosen: bool


class DeclarationListing(Listing):
    """The declarations; of a choice of messages those that one of them makes or ends."""

    name = "declarations"
    columns = _COLUMNS

    def __init__(self) -> None:
        super().__init__()
        self.listed: list[_Declared] = []
        self.alive: dict[_Place, _Declared] = {}

    def take(self, item: Item, chosen: Sequence[bool] | None) -> None:
        if not isinstance(item, Dissection):
            return
        for index, message in enumerate(item.messages):
            name = message.shared["message"]
            if name == "DECLARE" or name == "INTEREST":
                self.message(item, message, chosen is None or chosen[index])

    def message(self, item: Dissection, message: DecodedMessage, chosen: bool) -> None:
        """Takes a DECLARE or INTEREST."""
        row = message.row
        assert item.speaker is not None
        where, side, sourced = item.speaker
        verb, _, what = (row.get("body") or "").partition("_")
        if row["message"] == "INTEREST":
            kind, ident, key = "interest", row.get("interest_id"), None
            verb = "U" if row.get("interest_mode") == "Final" else "D"
        elif what == "KEYEXPR":
            kind, ident, key = "key", row.get("expr_id"), None
        elif what == "FINAL":
            self.answered((where, 1 - side, "interest", row.get("interest_id") or 0, None), item, chosen)
            return
        else:
            kind, ident, key = KINDS.get(what, ""), row.get("entity_id"), row.get("key_expr")
        if not kind or ident is None:
            return
        place = where, side, kind, ident, key if sourced and not ident else None
        if verb == "U":
            self.end(place, item, "undeclared", chosen)
        else:
            self.declare(place, item, message, chosen)

    def answered(self, place: _Place, item: Dissection, chosen: bool) -> None:
        """Takes the D_FINAL of an interest."""
        interest = self.alive.get(place)
        if interest is not None:
            interest.entry["answered_frame"] = item.frame.number
            interest.chosen = interest.chosen or chosen

    def declare(self, place: _Place, item: Dissection, message: DecodedMessage, chosen: bool) -> None:
        """Takes what is declared. What is said again is known; so is what only a reply repeats."""
        row, options = message.row, _options(place[2], message)
        known, reply = self.alive.get(place), self.is_reply(place, row)
        if known is not None:
            if known.entry["key_expr"] == wire_key(row) and (reply or known.entry["options"] == options):
                return
            if not reply:
                self.end(place, item, "replaced", chosen=False)
        entry: Entry = {column.name: None for column in _COLUMNS} | {
            "kind": place[2], "id": place[3], "key_expr": wire_key(row), "options": options,
            "role": row.get("src_role"), "zid": sender(item, row), "flow_id": item.flow.id,
            "peer": row.get("dst_zid") or endpoint(item.flow.ends[1 - item.direction]),
            "frame": item.frame.number, "ts_ns": item.frame.ts_ns, "interest_frame": row.get("interest_frame"),
            "ended": "reply" if reply else None,
        }  # fmt: skip
        declared = _Declared(entry, item.frame.now_ns, chosen)
        if not reply:
            self.alive[place] = declared
        self.keep(declared)

    def is_reply(self, place: _Place, row: Row) -> bool:
        """Whether it is told once, in reply to an interest in what is there now. An id for a key stays nevertheless."""
        if place[2] in ("interest", "key") or row.get("interest_id") is None:
            return False
        interest = self.alive.get((place[0], 1 - place[1], "interest", row["interest_id"], None))
        return interest is not None and interest.entry["options"][0] == "Current"

    def end(self, place: _Place, item: Dissection, how: str, chosen: bool) -> None:
        """Ends what was declared, if it is known."""
        known = self.alive.pop(place, None)
        if known is None:
            return
        frame = item.frame
        known.chosen = known.chosen or chosen
        known.entry |= {
            "until_frame": frame.number, "until_ts_ns": frame.ts_ns, "lasted_ns": frame.now_ns - known.now_ns,
            "ended": how,
        }  # fmt: skip

    def keep(self, declared: _Declared) -> None:
        """Lists a declaration, if there is room."""
        if len(self.listed) >= MOST_ROWS:
            self.listed = [one for one in self.listed if one.chosen or one.entry["ended"] is None]
            if len(self.listed) > 0.9 * MOST_ROWS:  # else each new one would go through all of them
                self.unlisted += 1
                return
        self.listed.append(declared)

    def rows(self, pipeline: Pipeline) -> list[Entry]:
        report = self.sessions.report(pipeline.all_links(), self.extent.now_ns)
        sessions = {link["flow_id"]: session for session in report for link in session["links"]}
        for declared in self.listed:
            entry = declared.entry
            session = sessions.get(entry["flow_id"])
            entry["session"] = session["session"] if session is not None else None
            if entry["ended"] is None:
                over = session is not None and session["ended"]["how"] not in ("open", "silent")
                entry["ended"] = "session" if over else "open"
        return [declared.entry for declared in self.listed if declared.chosen]


def _options(kind: str, message: DecodedMessage) -> list[str]:
    """What is said besides id and key."""
    if kind == "interest":
        return interest_options(message)
    return queryable_options(message) if kind == "queryable" else []
