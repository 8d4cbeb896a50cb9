"""The sessions in the report of `zdissect stats`: their ends, what they agreed on, how they ended."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from .stats_cells import Report, add_row, empty_table, short_zid, title
from .stats_units import duration, size


def _name(end: Report, narrow: bool = True) -> str:
    """`client d9f0a3c1`: short, for use within a text."""
    return f"{end['role'] or ''} {short_zid(end['zid'], narrow) if end['zid'] else end['address']}".strip()


def sessions_tables(sessions: list[Report], narrow: bool) -> Iterator[RenderableType]:
    """Who talked, what they agreed on, and how it ended."""
    yield title("Sessions")
    yield _ends(sessions, narrow)
    yield Text()
    yield _terms(sessions)


def _ends(sessions: list[Report], narrow: bool) -> Table:
    """Two rows for each session: what each end is and sent."""
    table = empty_table("", "Role", "ZenohID", "Address", "Messages", "Bytes", right=("", "Messages", "Bytes"))
    for session in sessions:
        for side, end in enumerate(session["ends"]):
            zid = short_zid(end["zid"], narrow)
            number = "" if side else session["session"]
            add_row(table, number, end["role"] or "?", zid, end["address"], end["messages"], size(end["bytes"]))
    return table


def _terms(sessions: list[Report]) -> Table:
    """What each session agreed on, and how it ended."""
    table = empty_table("", "Lasted", "Agreed on", "End", right=("", "Lasted"))
    for session in sessions:
        add_row(table, session["session"], duration(session["duration_s"]), _agreed(session), _ended(session))
    return table


def _agreed(session: Report) -> str:
    """`version 9, 32-bit sn, batches of 65535 bytes, QoS, lease 10 s`."""
    ends, agreed = session["ends"], session["negotiated"]
    versions = list(dict.fromkeys(end["version"] for end in ends if end["version"] is not None))
    words = [f"version {'/'.join(map(str, versions))}"] if versions else []
    if session["handshake"] in ("none", "partial"):
        words.append("no handshake in the capture" if session["handshake"] == "none" else "handshake incomplete")
    if agreed:
        words += [f"{agreed['sn_bits']}-bit sn", f"batches of {agreed['batch_size']} bytes", f"patch {agreed['patch']}"]
        names = {"qos": "QoS", "low_latency": "low latency", "shm": "shared memory"}
        words += [names.get(name, name) for name, value in agreed.items() if value is True]
    leases = list(dict.fromkeys(f"{end['lease_ms'] / 1000:g} s" for end in ends if end["lease_ms"] is not None))
    words += [f"lease {' and '.join(leases)}"] if leases else []
    if len(session["links"]) > 1:
        words.append(f"{len(session['links'])} links")
    return ", ".join(words)


def _ended(session: Report) -> str:
    """How it ended; of several links, also those that ended otherwise."""
    ended = session["ended"]
    words = [_end(ended, session["ends"])]
    words += [
        f"{link['flow_id']}: {_end(link['ended'], session['ends'])}"
        for link in session["links"] if link["ended"] != ended
    ]  # fmt: skip
    return "; ".join(words)


def _end(ended: Report, ends: list[Report]) -> str:
    """How a link ended, and by whom."""
    how, by, reason = (ended[name] for name in ("how", "by", "reason"))
    who = "" if by is None else _name(ends[by])
    return {
        "close": f"CLOSE {reason} from {who}",
        "fin": f"FIN from {who}, no CLOSE",
        "rst": f"RST from {who}, no CLOSE",
        "lease": f"ended by {who}: the other side's lease was over",
        "reused": "another connection reused its ports",
        "silent": f"{who} was silent for longer than its lease",
        "open": "open at the end of the capture",
    }[how]
