"""The key expressions of a capture, a row each: what was sent to them, and asked on them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from zdissect.dissection import Dissection, Item
from zdissect.engine.messages import Row
from zdissect.listing.listing import MOST_ROWS, Entry, Listing, columns, wanted
from zdissect.pipeline import Pipeline
from zdissect.stats.keys import Key, Path, sender, wire_key

MOST_ENCODINGS = 16
"""Encodings that are named for each key."""

_COLUMNS = columns("""
key_expr        long      Key!       Key expression; ?9/q where the declared id 9 isn't known.
messages        number    Messages!  Samples: PUT, DEL, replies; on all sessions: through a router each is there twice.
puts            number    PUT        PUTs that were published.
deletes         number    DEL        DELs that were published.
replies         number    Replies    Replies to queries.
queries         number    Queries    REQUESTs on this very key expression.
bytes           bytes     Payload!   Bytes of payloads.
rate_hz         rate      Rate!      Samples a second, on the link that carried most.
longest_gap_ns  duration  Longest_gap  Longest time between two samples on one link.
gap_frame       number    before_frame  The frame after that time.
sources         list      Sources    Who sent samples: ZenohIDs, or addresses.
encodings       list      Encodings  Encodings of the payloads.
first_frame     number    -          First frame that is about this key.
last_frame      number    -          Last such frame.
first_ts_ns     time      First      Its time.
last_ts_ns      time      Last       Time of the last one.
resolved        flag      -          Whether the key expression is known in full.
""")


@dataclass(slots=True)
class _ListedKey(Key):
    """What is counted of a key, and where it was first and last."""

    requests: int = 0
    encodings: dict[str, None] = field(default_factory=dict)
    first: tuple[int, int] = (0, 0)
    """Frame and time."""
    last: tuple[int, int] = (0, 0)
    gap_ns: int | None = None
    gap_frame: int | None = None

    def sample(self, item: Dissection, row: Row, source: str, path: Path) -> None:
        """Takes a sample."""
        now_ns = item.frame.now_ns
        before = self.paths.get(path)
        if before is not None and (self.gap_ns is None or now_ns - before[2] > self.gap_ns):
            self.gap_ns, self.gap_frame = now_ns - before[2], item.frame.number
        self.count(row, 1, row.get("payload_len") or 0)
        self.seen(source, path, 1, now_ns)
        if row.get("encoding") is not None and len(self.encodings) < MOST_ENCODINGS:
            self.encodings[row["encoding"]] = None


class KeyListing(Listing):
    """The keys of samples and queries; of a choice of messages, those that it is about."""

    name = "keys"
    columns = _COLUMNS

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[tuple[str, bool], _ListedKey] = {}

    def take(self, item: Item, chosen: Sequence[bool] | None) -> None:
        if not isinstance(item, Dissection):
            return
        for message in wanted(item, chosen):
            row = message.row
            name = row["message"]
            if name == "PUSH" or name == "REQUEST" or row.get("body") == "REPLY":
                self.message(item, row)

    def message(self, item: Dissection, row: Row) -> None:
        """Takes a sample or a query."""
        name, resolved = wire_key(row), row.get("key_expr") is not None
        if name is None:
            return
        key = self.known.get((name, resolved))
        place = item.frame.number, item.frame.ts_ns
        if key is None:
            if len(self.known) >= MOST_ROWS:
                self.unlisted += 1
                return
            key = self.known[name, resolved] = _ListedKey(resolved=resolved, first=place)
        key.last = place
        if row["message"] == "REQUEST":
            key.requests += 1
        else:
            key.sample(item, row, sender(item, row), (item.flow.id, item.direction))

    def rows(self, pipeline: Pipeline) -> list[Entry]:
        ordered = sorted(self.known.items(), key=lambda pair: (-pair[1].messages, -pair[1].requests, pair[0]))
        return [_row(name, key) for (name, _), key in ordered]


def _row(name: str, key: _ListedKey) -> Entry:
    """The row of a key."""
    values = key.report(name) | {
        "queries": key.requests,
        "longest_gap_ns": key.gap_ns,
        "gap_frame": key.gap_frame,
        "encodings": list(key.encodings),
        "first_frame": key.first[0],
        "last_frame": key.last[0],
        "first_ts_ns": key.first[1],
        "last_ts_ns": key.last[1],
    }
    return {column.name: values[column.name] for column in _COLUMNS}
