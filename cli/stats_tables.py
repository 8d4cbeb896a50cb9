"""The report of `zdissect stats` as tables. Texts of a capture are escaped, and never read as markup."""

from collections.abc import Iterable, Iterator
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from zdissect.output.text import safe

from .stats_units import duration, hertz, many, size

Report = dict[str, Any]

_SEVERITY = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_CLASSES = {
    "decoded": "decoded",
    "undecoded": "undecoded: in no field",
    "skipped": "skipped: in no batch",
    "framing": "WebSocket frames around batches",
    "opaque": "opaque: TLS, QUIC",
    "not_zenoh": "not Zenoh",
    "repeated": "repeated: retransmitted, or in no connection",
}
_SHORT_ZID = 8


def show(report: Report, console: Console, top: int, narrow: bool) -> None:
    """Prints the report.

    Args:
        top: So many keys are shown; 0 for all.
        narrow: ZenohIDs are cut to their first digits.
    """
    for part in _parts(report, top, narrow):
        console.print(part, soft_wrap=isinstance(part, Text) and not narrow)


def _parts(report: Report, top: int, narrow: bool) -> Iterator[RenderableType]:
    """Titles and tables; what isn't there has none."""
    capture = report["capture"]
    yield Text(f"{many(capture['frames'], 'frame')} in {duration(capture['duration_s'])}", "bold")
    if report["sessions"]:
        yield from _sessions(report["sessions"], narrow)
    if report["messages"]:
        yield _title("Messages")
        yield _messages(report["messages"])
    if report["keys"]["listed"]:
        yield from (_title("Keys"), *_keys(report["keys"], top, narrow))
    if report["queries"]["queries"] or report["queries"]["stray_answers"]:
        yield from (_title("Queries"), *_queries(report["queries"], top))
    if report["findings"]:
        yield _title("Findings")
        yield _findings(report["findings"])
    if report["unopened"]:
        yield _title("Frames without TCP or UDP")
        yield _unopened(report["unopened"])
    yield _title("Payload bytes")
    yield _accounting(report["accounting"])
    yield from _notes(report)


def _title(text: str) -> Text:
    return Text(f"\n{text}", "bold")


def _table(*columns: str, right: Iterable[str] = ()) -> Table:
    """An empty table; texts are folded, never cut."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1), header_style="dim")
    for name in columns:
        number = name in right
        table.add_column(name, justify="right" if number else "left", overflow="fold", no_wrap=number)
    return table


def _row(table: Table, *cells: object, style: str = "") -> None:
    """Adds a row: texts are shown as they are."""
    table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in cells), style=style)


# --- sessions


def _name(end: Report, narrow: bool = True) -> str:
    """`client d9f0a3c1`: short, for use within a text."""
    return f"{end['role'] or ''} {_zid(end['zid'], narrow) if end['zid'] else end['address']}".strip()


def _zid(zid: str | None, narrow: bool) -> str:
    return "?" if zid is None else zid[:_SHORT_ZID] + "…" if narrow and len(zid) > _SHORT_ZID else zid


def _sessions(sessions: list[Report], narrow: bool) -> Iterator[RenderableType]:
    yield _title("Sessions")
    yield _ends(sessions, narrow)
    yield Text()
    yield _terms(sessions)


def _ends(sessions: list[Report], narrow: bool) -> Table:
    """Two rows for each session: what each end is and sent."""
    table = _table("", "Role", "ZenohID", "Address", "Messages", "Bytes", right=("", "Messages", "Bytes"))
    for session in sessions:
        for side, end in enumerate(session["ends"]):
            zid = _zid(end["zid"], narrow)
            number = "" if side else session["session"]
            _row(table, number, end["role"] or "?", zid, end["address"], end["messages"], size(end["bytes"]))
    return table


def _terms(sessions: list[Report]) -> Table:
    """What each session agreed on, and how it ended."""
    table = _table("", "Lasted", "Agreed on", "End", right=("", "Lasted"))
    for session in sessions:
        _row(table, session["session"], duration(session["duration_s"]), _agreed(session), _ended(session))
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


# --- messages, keys, queries, findings


def _messages(messages: list[Report]) -> Table:
    table = _table("Layer", "Message", "Count", "Bytes", right=("Count", "Bytes"))
    layer = ""
    for one in messages:
        words = filter(None, (one["message"] or "undecoded", one["body"], one["reply_body"]))
        _row(table, one["layer"] if one["layer"] != layer else "", " ".join(words), one["count"], size(one["bytes"]))
        layer = one["layer"]
    return table


def _keys(keys: Report, top: int, narrow: bool) -> Iterator[RenderableType]:
    table = _table("Key", "Messages", "Payload", "Rate", "Sources", right=("Messages", "Payload", "Rate"))
    shown = keys["listed"][: top or None]
    for key in shown:
        sources = [source if ":" in source else _zid(source, narrow=True) for source in key["sources"]]
        who = ", ".join(sources[:3]) + (f" and {len(sources) - 3} more" if len(sources) > 3 else "")
        rate = "" if key["rate_hz"] is None else hertz(key["rate_hz"])
        _row(table, safe(key["key_expr"]), key["messages"], size(key["bytes"]), rate, who)
    yield table
    yield from _more(len(keys["listed"]) - len(shown), "key")
    if keys["others"]:
        yield Text(f"{many(keys['others']['messages'], 'message')} on further keys, counted together", "dim")


def _queries(queries: Report, top: int) -> Iterator[RenderableType]:
    endless = ("Unanswered",) if queries["unanswered"] else ()
    several = ("Requests",) if queries["requests"] > queries["queries"] else ()
    numbers = ("Queries", *several, "Replies", "Min", "Median", "p95", "Max", *endless)
    table = _table("Key", *numbers, right=numbers)
    shown = queries["keys"][: top or None]
    rows = [*shown, {**queries, "key_expr": "all"}] if len(queries["keys"]) != 1 else shown
    for one in rows:
        times = one["response_time_ns"] or {}
        spans = [duration(times[name] / 1e9) if times else "" for name in ("min", "median", "p95", "max")]
        replies = f"{one['replies']}+{one['errors']}E" if one["errors"] else one["replies"]
        last = [one["unanswered"] or ""] if endless else []
        hops = [one["requests"]] if several else []
        style = "bold" if "keys" in one else ""
        _row(table, safe(one["key_expr"]), one["queries"], *hops, replies, *spans, *last, style=style)
    yield table
    yield from _more(len(queries["keys"]) - len(shown), "key")
    words = ["Times are those to the first answer"]
    words += ["Requests: includes those to several neighbours, and those passed on by routers"] if several else []
    words += ["E: errors"] if queries["errors"] else []
    words += ["Unanswered: neither a reply nor RESPONSE_FINAL"] if endless else []
    if queries["without_reply"]:
        words.append(f"{queries['without_reply']} ended without a reply")
    if queries["stray_answers"]:
        words.append(f"{many(queries['stray_answers'], 'answer')} to unknown queries")
    yield Text("; ".join(words), "dim")


def _more(number: int, noun: str) -> Iterator[Text]:
    """What isn't shown."""
    if number > 0:
        yield Text(f"and {many(number, noun)} more: --top 0 shows all", "dim")


def _findings(found: list[Report]) -> Table:
    table = _table("Finding", "Severity", "Count", "First in", "Meaning", right=("Count",))
    for one in found:
        severity = Text(one["severity"], _SEVERITY[one["severity"]])
        meaning = one["text"].split(". ")[0].removesuffix(".")
        _row(table, one["code"], severity, one["count"], f"frame {one['first_frame']}", meaning)
    return table


# --- frames and bytes


def _unopened(unopened: list[Report]) -> Table:
    table = _table("Kind", "Frames", "", right=("Frames",))
    for one in unopened:
        note, style = ("ordinary", "dim") if one["background"] else ("not opened", "")
        _row(table, safe(one["what"]), one["frames"], note, style=style)
    return table


def _accounting(accounting: Report) -> Table:
    table = _table("Outcome", "Bytes", "Share", right=("Bytes", "Share"))
    captured = accounting["captured"]
    for name, text in _CLASSES.items():
        if accounting[name] or name == "decoded":
            share = f"{100 * accounting[name] / captured:.1f} %" if captured else ""
            _row(table, text, f"{accounting[name]} B", share)
    _row(table, "captured", f"{captured} B", "", style="bold")
    return table


def _notes(report: Report) -> Iterator[Text]:
    """What the accounting doesn't show."""
    accounting, words = report["accounting"], []
    for name, text in (("decompressed", "decompressed"), ("reassembled", "reassembled from fragments")):
        if accounting[name]:
            words.append(f"{size(accounting[name])} were {text}")
    if accounting["not_captured"]:
        words.append(f"{size(accounting['not_captured'])} of Zenoh streams aren't in the capture")
    words += [f"{many(number, 'conversation')}: {name}" for name, number in report["conversations"].items()]
    if words:
        yield Text("; ".join(words), "dim")
