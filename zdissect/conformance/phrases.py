"""What the forms of a verdict say alike: who, where, which bytes, what then."""

from zdissect.grammar.rules import RULES
from zdissect.listing.listing import Entry
from zdissect.output.text import prose

MS = 1_000_000
_SHORT = 8


def node(end: Entry, short: bool = False) -> str:
    """`client 1a2b… 10.0.0.1:50000`: as much as is known of a node."""
    zid = end["zid"]
    if zid is not None and short and len(zid) > _SHORT:
        zid = f"{zid[:_SHORT]}…"
    return " ".join(one for one in (end["role"], zid, end["address"] if not short or zid is None else None) if one)


def verdict(report: Entry, word: str) -> str:
    """A word for the verdict, and whether that holds for the files as a whole.

    Args:
        report: The report, or the entry of one capture.
    """
    cut = any(one["problems"] and one["frames"] for one in report.get("captures", [report]))
    return f"{word}, as far as it can be read" if cut else word


def session(one: Entry) -> str:
    """`Session 1  client 1a2b 10.0.0.1:50000 → router 3c4d 10.0.0.2:7447  tcp.0`."""
    opener, acceptor = (node(end) or "?" for end in one["ends"])
    flows = one["flow_ids"]
    more = f" and {len(flows) - 3} more" if len(flows) > 3 else ""
    return f"Session {one['session']}  {opener} → {acceptor}  {', '.join(flows[:3])}{more}"


def breaker(one: Entry) -> str:
    """`the opener, client 1a2b…`: who broke a rule."""
    who = node(one, short=True)
    return ", ".join(part for part in (f"the {one['side']}" if one["side"] else "", who) if part) or "somebody"


def times(number: int) -> str:
    """Empty, or `12 times`."""
    return "" if number == 1 else f"{number} times"


def frames(one: Entry) -> str:
    """`frame 17`, `frames 17, 18 and 19`, `frames 17, 18, ... 95`."""
    numbers = one["frames"]
    if len(numbers) == 1 and one["last_frame"] == numbers[0]:
        return f"frame {numbers[0]}"
    shown = ", ".join(map(str, numbers))
    return f"frames {shown}" if numbers[-1] == one["last_frame"] else f"frames {shown}, ... {one['last_frame']}"


def place(one: Entry) -> str:
    """`OPEN_SYN from the opener, client 1a2b…, frame 6`: where a violation was found first."""
    said = f"{one['message']} from " if one["message"] and one["duty"] else ""
    count = times(one["count"])
    return prose(f"{said}{breaker(one)}, {frames(one)}{f', {count}' if count else ''}")


def octets(one: Entry) -> str:
    """`0x002a of tcp, 3 bytes: 00 01 02  zenoh.open_syn.cookie`; empty if it is about no bytes."""
    if one["buffer"] is None:
        return ""
    size, data, field = one["length"], bytes.fromhex(one["bytes"]), f"  {one['field']}" if one["field"] else ""
    where = f"0x{one['offset']:04x} of {one['buffer']}"
    if not size:
        before = f" after {data.hex(' ')}" if data else ""
        return f"{where}, nothing is left{before}{field}"
    count = "1 byte" if size == 1 else f"{size} bytes"
    if not data:
        return f"{where}, {count} (not in the capture){field}"
    return f"{where}, {count}: {data.hex(' ')}{' ...' if len(data) < size else ''}{field}"


def then(one: Entry) -> str:
    """What the other side did then, in a sentence."""
    did = one["then"]
    if did["what"] == "nothing":
        return "nothing more from the other side in the capture"
    parts = []
    if did["message"] is not None and not (did["what"] == "closed" and did["messages"] == 1):
        rest = f", and {did['messages'] - 1} more" if did["messages"] > 1 else ""
        when = f"{_after(did['after_ns'])} (frame {did['frame']})"
        parts.append(f"the other side went on: {did['message']} {when}{rest}")
    if did["what"] == "closed":
        reason = f" with {did['reason']}" if did["reason"] else ""
        who = "it" if parts else "the other side"
        parts.append(f"{who} closed the link{reason} {_after(did['end_after_ns'])} (frame {did['end_frame']})")
    if did["what"] == "hung up":
        parts.append(f"{'it' if parts else 'the other side'} ended the connection {_after(did['end_after_ns'])}")
    return prose("; ".join(parts))


def rule_text(code: str) -> str:
    """The first sentence of a rule."""
    return f"{RULES[code].text.partition('. ')[0].rstrip('.')}."


def _after(ns: int) -> str:
    """`at once`, `after 0.412 ms`, `after 350 ms`, `after 12.5 s`."""
    if not ns:
        return "at once"
    ms = ns / MS
    return "after " + (f"{ms:.3f} ms" if ms < 10 else f"{ms:.0f} ms" if ms < 10_000 else f"{ms / 1000:.1f} s")


def tally(report: Entry) -> str:
    """`2 errors, 1 note; 3 known before`."""
    counts = report["counts"]
    parts = [
        f"{counts[name]} {name}{'s' if counts[name] > 1 else ''}"
        for name in ("error", "warning", "note") if counts[name]
    ]  # fmt: skip
    text = ", ".join(parts) or "no violations"
    return f"{text}; {counts['known']} known before" if counts["known"] else text


def title(capture: Entry) -> str:
    """The files of a capture."""
    names = capture["files"]
    return prose(names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more files")
