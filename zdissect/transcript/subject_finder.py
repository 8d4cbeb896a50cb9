"""A first pass over a capture, which finds out what a subject stands for there."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from zdissect.dissection import Dissection, Item
from zdissect.engine.messages import Row
from zdissect.listing.listed_findings import label
from zdissect.listing.query_hops import ListedQuery, QueryDetails
from zdissect.pipeline import Pipeline
from zdissect.records import Frame
from zdissect.session.keyexprs import intersects
from zdissect.stats.extent import Extent
from zdissect.stats.keys import wire_key
from zdissect.stats.sessions import SessionStats
from zdissect.transcript.selection import Chain, Channel, Selection, SessionPlace, channel_of
from zdissect.transcript.subject import Subject

_MOST_KEYS = 10_000
"""Key expressions that are remembered, to suggest some."""
_NAMED = 5
"""Things that an error names."""

_ASKING = ("REQUEST", "RESPONSE", "RESPONSE_FINAL")


class SubjectError(ValueError):
    """A subject stands for nothing in this capture, or for several things; the message says what there is."""


class SubjectFinder:
    """Fed with the frames and items of a first pass."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.extent = Extent()
        self.sessions = SessionStats()
        self.report: list[dict[str, Any]] = []
        """The sessions, once the pass is over."""
        self.parts: dict[str, SessionPlace] = {}
        """Where the messages of each flow belong."""
        self.queries = QueryDetails()
        self.keys: dict[str, None] = {}
        self.about_key = 0
        """Messages about the subject, if that is a key expression."""
        self.chains: list[Chain] = []
        self.pieces: dict[tuple[str, int, Channel], dict[int, int]] = {}
        """Frames of the fragments of each channel since its last whole message, by sequence number."""
        self.held: dict[str, None] = {}
        """What the frame holds that is the subject, for people."""

    def frame(self, frame: Frame) -> None:
        """Takes a frame, whatever is in it."""
        self.extent.frame(frame)

    def feed(self, item: Item) -> None:
        """Takes what a pipeline gave that keeps its history."""
        self.sessions.feed(item)
        if not isinstance(item, Dissection):
            return
        rows = [message.row for message in item.messages]
        if self.subject.frame is not None:
            self.look_at_frame(item, rows, self.subject.frame)
        for row in rows:
            if row["layer"] == "network":
                self.key(row)
                if row["message"] in _ASKING:
                    self.queries.is_chosen = self.asked_for(item, row)
                    self.queries.feed(item, row)

    def key(self, row: Row) -> None:
        """Takes the key of a message."""
        key = row.get("key_expr")
        if not key:
            return
        if key not in self.keys and len(self.keys) < _MOST_KEYS:
            self.keys[key] = None
        if self.subject.key is not None:
            self.about_key += intersects(self.subject.key, key)

    def asked_for(self, item: Dissection, row: Row) -> bool:
        """Whether a request or answer is what the subject names."""
        if self.subject.frame is not None and item.frame.number == self.subject.frame:
            return True
        if self.subject.request is None or row["message"] != "REQUEST":
            return False
        zid, ident = self.subject.request
        return row.get("request_id") == ident and str(row.get("src_zid") or "").startswith(zid)

    def look_at_frame(self, item: Dissection, rows: list[Row], number: int) -> None:
        """Looks for fragments in the frame that is the subject, and at what else it holds."""
        for row in rows:
            if row["message"] == "FRAGMENT" and "sn" in row:
                place = item.flow.id, item.direction, channel_of(row)
                self.pieces.setdefault(place, {})[row["sn"]] = item.frame.number
        if item.frame.number == number:
            self.held |= {label(row): None for row in rows if row["message"] != "FRAME"}
        if rows and rows[0].get("fragments"):
            self.whole(item, rows[0], number)

    def whole(self, item: Dissection, row: Row, number: int) -> None:
        """Takes a message that was put together from fragments."""
        frames, last = tuple(row["fragments"]), row.get("sn")
        for place, pieces in list(self.pieces.items()):
            if place[:2] == (item.flow.id, item.direction) and last in pieces:
                del self.pieces[place]
                if number in frames:
                    own = frozenset(sn for sn, frame in pieces.items() if frame in frames)
                    self.chains.append(Chain(*place[:2], frames, place[2], own))

    def close(self, pipeline: Pipeline) -> None:
        """The first pass is over."""
        for place, pieces in self.pieces.items():
            if self.subject.frame in pieces.values() and self.subject.frame is not None:  # without an end
                frames = tuple(dict.fromkeys(pieces.values()))
                self.chains.append(Chain(*place[:2], frames, place[2], frozenset(pieces)))
        links = pipeline.all_links()
        self.report = self.sessions.report(links, self.extent.now_ns)
        numbers = {link["flow_id"]: session["session"] for session in self.report for link in session["links"]}
        flips = {link.flow.id: link.flip for link in links}
        self.parts = {flow: SessionPlace(number, flips.get(flow, 0)) for flow, number in numbers.items()}

    def selection(self) -> Selection:
        """What the subject stands for.

        Raises:
            SubjectError: It stands for nothing, or for several things.
        """
        found = list(self.meanings())
        if len(found) == 1:
            return found[0][1]
        if not found:
            raise SubjectError(f"nothing here is {self.subject.text!r}: {self.available()}")
        if self.subject.session is not None and found[0][0].startswith("session:"):
            return found[0][1]  # numbers of sessions are few, and listed: who means a frame says so
        meant = ", ".join(f"{word} ({selection.title})" for word, selection in found[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        raise SubjectError(f"{self.subject.text!r} may be {meant}{more}: name one of them")

    def meanings(self) -> Iterator[tuple[str, Selection]]:
        """What the subject may stand for, each with a word that means nothing else."""
        subject = self.subject
        for session in self.report:
            number, flows = session["session"], [link["flow_id"] for link in session["links"]]
            zids = [end["zid"] or "" for end in session["ends"]]
            named = subject.zid is not None and any(zid.startswith(subject.zid) for zid in zids)
            if number == subject.session or subject.flow in flows or (named and subject.session is None):
                yield f"session:{number}", Selection(_session_title(session), frozenset(flows))
        if subject.frame is not None or subject.request is not None:
            yield from self.of_frame()
        if self.about_key and subject.key is not None:
            yield f"key:{subject.key}", Selection(f"key {subject.key}", key=subject.key)

    def of_frame(self) -> Iterator[tuple[str, Selection]]:
        """The queries and chains that the subject may stand for."""
        queries = [query for query in self.queries.listed if query.chosen]
        if queries and self.subject.request is None:  # all that the frame has to do with
            requests = {key for query in queries for key in query.requests}
            yield f"frame:{self.subject.frame}", Selection(", ".join(map(_query_title, queries)), requests=requests)
        elif queries:
            for query in queries:
                yield f"frame:{query.frame.number}", Selection(_query_title(query), requests=set(query.requests))
        for chain in self.chains:
            count = f"message in fragments, frames {chain.frames[0]} to {chain.frames[-1]}"
            yield f"frame:{self.subject.frame}", Selection(count, chain=chain)

    def available(self) -> str:
        """What there is instead, for people."""
        words = []
        if self.subject.frame is not None and self.held:
            what = ", ".join(list(self.held)[:_NAMED])
            words.append(f"frame {self.subject.frame} holds {what}, neither a request or answer nor a fragment")
        if self.report:
            last = len(self.report)
            words.append("there is session 1" if last == 1 else f"there are sessions 1 to {last}")
        else:
            words.append("there is no session")
        near = get_close_matches(self.subject.text, self.keys, n=_NAMED, cutoff=0.5) or list(self.keys)[:_NAMED]
        if near:
            words.append(f"key expressions as {', '.join(near)}")
        return "; ".join(words)


def _session_title(session: dict[str, Any]) -> str:
    ends = " and ".join(f"{end['role'] or ''} {end['zid'] or end['address']}".strip() for end in session["ends"])
    return f"session {session['session']} of {ends}"


def _query_title(query: ListedQuery) -> str:
    return f"query on {wire_key(query.row) or '?'} of frame {query.frame.number}"
