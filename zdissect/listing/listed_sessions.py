"""The sessions of a capture, a row each."""

from collections import Counter
from collections.abc import Sequence

from zdissect.dissection import Item, findings_of
from zdissect.listing.listing import Entry, Listing, columns
from zdissect.pipeline import Pipeline
from zdissect.stats.chosen_sessions import ChosenSessions

_COLUMNS = columns("""
session          number    Session!   Number of the session, in the order in which they began.
opener_role      text      Opener!    Role of the side that opened it: router, peer, client.
opener_zid       zid       ZenohID    ZenohID of that side.
opener_address   text      Address    Its address, on the first link.
acceptor_role    text      Acceptor!  Role of the other side.
acceptor_zid     zid       ZenohID    ZenohID of the other side.
acceptor_address text      Address    Its address, on the first link.
links            list      Link       Kinds of its links: tcp, udp, ws, raweth.
flow_ids         list      Flows      The conversations that carry it: tcp.0.
first_ts_ns      time      First      First time at which it carried something.
last_ts_ns       time      -          Last time.
duration_ns      duration  Lasted     From the first to the last, without leaps of the clock.
opener_messages  number    Sent!      Messages that the opener sent.
opener_bytes     bytes     Bytes      Bytes that it sent, of batches with their length prefixes.
acceptor_messages number   Received!  Messages that the other side sent.
acceptor_bytes   bytes     Bytes      Bytes that it sent.
skipped_bytes    bytes     -          Bytes of it that couldn't be read as batches.
findings         number    Findings   How many findings there are in it.
handshake        text      -          How much of the handshake is there: complete, partial, join (multicast), none.
version          number    -          Protocol version that the opener speaks; null without a handshake.
batch_size       number    Batch      Largest batch that was agreed on, bytes.
sn_bits          number    -          Width of sequence numbers that was agreed on.
rid_bits         number    -          Width of request ids that was agreed on.
patch            number    -          Patch level that was agreed on.
options          list      Options    What else was agreed on: qos, low_latency, compression, multilink, shm.
opener_lease_ms  number    -          Lease that the opener announced.
acceptor_lease_ms number   -          Lease that the other side announced.
ended            text      End!       How it ended: close, fin, rst, lease, reused, silent, open (until the end).
ended_by         text      By         Which side ended it, or was silent: opener, acceptor.
close_reason     text      Reason     Reason of the CLOSE.
""")

SIDES = ("opener", "acceptor")
_OPTIONS = ("qos", "low_latency", "compression", "multilink", "shm")


class SessionListing(Listing):
    """The sessions; of a choice of messages those that have some, with how many they have."""

    name = "sessions"
    columns = _COLUMNS

    def __init__(self) -> None:
        super().__init__()
        self.counted = self.sessions = ChosenSessions()
        self.found: Counter[str] = Counter()
        """Findings by flow."""
        self.choice = False

    def feed(self, item: Item, chosen: Sequence[bool] | None = None) -> None:
        self.counted.chosen = chosen
        self.choice = self.choice or chosen is not None
        super().feed(item, chosen)

    def take(self, item: Item, chosen: Sequence[bool] | None) -> None:
        self.found[item.flow.id] += sum(1 for _ in findings_of(item, chosen))

    def rows(self, pipeline: Pipeline) -> list[Entry]:
        report = self.sessions.report(pipeline.all_links(), self.extent.now_ns)
        rows = [self.row(session) for session in report]
        return [row for row in rows if not self.choice or row["opener_messages"] or row["acceptor_messages"]]

    def row(self, session: Entry) -> Entry:
        """The row of an entry of `SessionStats.report`."""
        agreed, ended, links = session["negotiated"] or {}, session["ended"], session["links"]
        row: Entry = {column.name: None for column in _COLUMNS}
        for name, end in zip(SIDES, session["ends"], strict=True):
            row |= {f"{name}_{key}": end[key] for key in ("role", "zid", "address", "messages", "bytes", "lease_ms")}
        row |= {name: session[name] for name in ("session", "first_ts_ns", "last_ts_ns", "skipped_bytes", "handshake")}
        row |= {name: agreed.get(name) for name in ("batch_size", "sn_bits", "rid_bits", "patch")}
        versions = [end["version"] for end in session["ends"] if end["version"] is not None]
        by = ended["by"]
        return row | {
            "links": list(dict.fromkeys(link["link"] for link in links)),
            "flow_ids": [link["flow_id"] for link in links],
            "duration_ns": round(session["duration_s"] * 1e9),
            "findings": sum(self.found[link["flow_id"]] for link in links),
            "version": versions[0] if versions else None,
            "options": [name for name in _OPTIONS if agreed.get(name)],
            "ended": ended["how"],
            "ended_by": None if by is None else SIDES[by],
            "close_reason": ended["reason"],
        }
