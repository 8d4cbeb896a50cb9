"""The report of `zdissect stats` as tables. Texts of a capture are escaped, and never read as markup."""

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from zdissect.grammar.rule import SEVERITIES
from zdissect.output.style import Style
from zdissect.output.text import safe

from .stats_cells import Report, add_row, empty_table, short_zid, title
from .stats_over_time import intervals
from .stats_sessions import sessions_tables
from .stats_units import duration, hertz, many, size

_CLASSES = {
    "decoded": "decoded",
    "undecoded": "undecoded: in no field",
    "skipped": "skipped: in no batch",
    "framing": "WebSocket frames around batches",
    "opaque": "opaque: TLS, QUIC",
    "not_zenoh": "not Zenoh",
    "repeated": "repeated: retransmitted, or in no connection",
}


def theme(style: Style) -> Theme:
    """The colours that the tables have by name: `dim`, and those of severities."""
    texts = {name: Text.from_ansi(f"{getattr(style, name)}x{style.end}") for name in ("dim", *SEVERITIES)}
    return Theme({name: text.spans[0].style if text.spans else "" for name, text in texts.items()})


def show(report: Report, console: Console, top: int, narrow: bool, sparks: int) -> None:
    """Prints the report.

    Args:
        top: So many keys are shown; 0 for all.
        narrow: ZenohIDs are cut to their first digits.
        sparks: Characters in a line that sparklines are for; 0: there are none.
    """
    for part in _parts(report, top, narrow, sparks):
        console.print(part, soft_wrap=isinstance(part, Text) and not narrow)


def _parts(report: Report, top: int, narrow: bool, sparks: int) -> Iterator[RenderableType]:
    """Titles and tables; what isn't there has none."""
    capture = report["capture"]
    yield Text(f"{many(capture['frames'], 'frame')} in {duration(capture['duration_s'])}", "bold")
    if report["sessions"]:
        yield from sessions_tables(report["sessions"], narrow)
    if report["messages"]:
        yield title("Messages")
        yield _messages(report["messages"])
    if report["keys"]["listed"]:
        yield from (title("Keys"), *_keys(report["keys"], top, narrow))
    if report["queries"]["queries"] or report["queries"]["stray_answers"]:
        yield from (title("Queries"), *_queries(report["queries"], top))
    if report["findings"]:
        yield title("Findings")
        yield _findings(report["findings"])
    if report["unopened"]:
        yield title("Frames without TCP or UDP")
        yield _unopened(report["unopened"])
    if "intervals" in report:
        yield from intervals(report["intervals"], sparks)
    yield title("Payload bytes")
    yield _accounting(report["accounting"])
    yield from _notes(report)


def _messages(messages: list[Report]) -> Table:
    table = empty_table("Layer", "Message", "Count", "Bytes", right=("Count", "Bytes"))
    layer = ""
    for kind in messages:
        words = filter(None, (kind["message"] or "undecoded", kind["body"], kind["reply_body"]))
        add_row(
            table, kind["layer"] if kind["layer"] != layer else "", " ".join(words), kind["count"], size(kind["bytes"])
        )
        layer = kind["layer"]
    return table


def _keys(keys: Report, top: int, narrow: bool) -> Iterator[RenderableType]:
    table = empty_table("Key", "Messages", "Payload", "Rate", "Sources", right=("Messages", "Payload", "Rate"))
    shown = keys["listed"][: top or None]
    for key in shown:
        sources = [source if ":" in source else short_zid(source, narrow=True) for source in key["sources"]]
        who = ", ".join(sources[:3]) + (f" and {len(sources) - 3} more" if len(sources) > 3 else "")
        rate = "" if key["rate_hz"] is None else hertz(key["rate_hz"])
        add_row(table, safe(key["key_expr"]), key["messages"], size(key["bytes"]), rate, who)
    yield table
    yield from _more(len(keys["listed"]) - len(shown), "key")
    if keys["others"]:
        yield Text(f"{many(keys['others']['messages'], 'message')} on further keys, counted together", "dim")


def _queries(queries: Report, top: int) -> Iterator[RenderableType]:
    endless = ("Unanswered",) if queries["unanswered"] else ()
    several = ("Requests",) if queries["requests"] > queries["queries"] else ()
    numbers = ("Queries", *several, "Replies", "Min", "Median", "p95", "Max", *endless)
    table = empty_table("Key", *numbers, right=numbers)
    shown = queries["keys"][: top or None]
    rows = [*shown, {**queries, "key_expr": "all"}] if len(queries["keys"]) != 1 else shown
    for key in rows:
        times = key["response_time_ns"] or {}
        spans = [duration(times[name] / 1e9) if times else "" for name in ("min", "median", "p95", "max")]
        replies = f"{key['replies']}+{key['errors']}E" if key["errors"] else key["replies"]
        last = [key["unanswered"] or ""] if endless else []
        hops = [key["requests"]] if several else []
        style = "bold" if "keys" in key else ""
        add_row(table, safe(key["key_expr"]), key["queries"], *hops, replies, *spans, *last, style=style)
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


def _findings(findings: list[Report]) -> Table:
    table = empty_table("Finding", "Severity", "Count", "First in", "Meaning", right=("Count",))
    for finding in findings:
        severity = Text(finding["severity"], finding["severity"])
        meaning = finding["text"].split(". ")[0].removesuffix(".")
        add_row(table, finding["code"], severity, finding["count"], f"frame {finding['first_frame']}", meaning)
    return table


# --- frames and bytes


def _unopened(unopened: list[Report]) -> Table:
    table = empty_table("Kind", "Frames", "", right=("Frames",))
    for kind in unopened:
        note, style = ("ordinary", "dim") if kind["background"] else ("not opened", "")
        add_row(table, safe(kind["what"]), kind["frames"], note, style=style)
    return table


def _accounting(accounting: Report) -> Table:
    table = empty_table("Outcome", "Bytes", "Share", right=("Bytes", "Share"))
    captured = accounting["captured"]
    for name, text in _CLASSES.items():
        if accounting[name] or name == "decoded":
            share = f"{100 * accounting[name] / captured:.1f} %" if captured else ""
            add_row(table, text, f"{accounting[name]} B", share)
    add_row(table, "captured", f"{captured} B", "", style="bold")
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
