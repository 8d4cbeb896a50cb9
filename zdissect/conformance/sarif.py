"""A verdict as SARIF 2.1.0 (OASIS), the form in which code scanning takes results.

Captures are binary, so a result has no line: its place is the file, and by `logicalLocations` session, frame and
message; the bytes stand in its text and its properties. What no rule could see is a notification of the tool.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from zdissect import __version__
from zdissect.conformance import phrases
from zdissect.conformance.judgement import violations_of
from zdissect.grammar.profiles import PROFILES
from zdissect.grammar.rule import NOTE
from zdissect.grammar.rules import RULES
from zdissect.listing.listing import Entry
from zdissect.output.rules_page import anchor
from zdissect.output.text import prose

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_KEPT = ("duty", "side", "role", "zid", "address", "message", "key_expr", "field", "frames", "flow_id", "buffer",
         "offset", "length", "bytes", "then")  # fmt: skip


def sarif(report: Entry, exit_code: int) -> Entry:
    """The verdict as a log with one run.

    Args:
        report: What `verdict` gives.
        exit_code: That of the command.
    """
    codes = list(dict.fromkeys(one["rule"] for capture in report["captures"] for one in violations_of(capture)))
    severity = PROFILES[report["profile"]].severity
    run = {
        "tool": {"driver": {
            "name": "zdissect", "version": __version__, "semanticVersion": __version__,
            "rules": [_rule(code, severity(code) or NOTE) for code in codes],
        }},
        "automationDetails": {"id": f"zdissect/check/{report['profile']}/"},
        "invocations": [{
            "executionSuccessful": not any(capture["problems"] for capture in report["captures"]),
            "exitCode": exit_code,
            "toolExecutionNotifications": [*_notifications(report)],
        }],
        "artifacts": [
            {"location": {"uri": uri(name)}, "roles": ["analysisTarget"]}
            for capture in report["captures"] for name in capture["files"]
        ],
        "results": [
            _result(one, codes.index(one["rule"]), where, bool(report["fixed"] or report["counts"]["known"]))
            for capture in report["captures"] for one, where in _placed(capture)
        ],
        "properties": {name: report[name] for name in ("profile", "judged", "fail_on", "verdict", "counts")},
    }  # fmt: skip
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def uri(name: str) -> str:
    """A path as a relative reference, or as a file URI if it is absolute."""
    path = PurePath(name)
    text = quote(path.as_posix().encode("utf-8", "surrogateescape"))
    if path.is_absolute():
        return f"file://{text if text.startswith('/') else f'/{text}'}"
    return text


def _rule(code: str, severity: str) -> Entry:
    rule = RULES[code]
    page = anchor(code)
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in code.split("-")),
        "shortDescription": {"text": phrases.rule_text(code)},
        "fullDescription": {"text": rule.text},
        "help": {
            "text": f"{rule.text} Source: {rule.source}. See {page}, or run: zdissect explain {code}",
            "markdown": f"{rule.text}\n\nSource: {rule.source}. See `{page}`, or run `zdissect explain {code}`.",
        },
        "defaultConfiguration": {"level": severity},
        "properties": {"tags": [rule.group], "source": rule.source},
    }


def _placed(capture: Entry) -> Iterator[tuple[Entry, list[str]]]:
    """The violations of a capture, each with the names of where it is."""
    for session in capture["sessions"]:
        for one in session["violations"]:
            yield one, [f"session {session['session']}"]
    for one in capture["elsewhere"]:
        yield one, [one["flow_id"]] if one["flow_id"] else []


def _result(one: Entry, index: int, where: list[str], compared: bool) -> Entry:
    names = [*where, f"frame {one['frames'][0]}", *([one["message"]] if one["message"] else [])]
    data, count = phrases.octets(one), phrases.times(one["count"])
    details = [
        f"{phrases.place(one)}: {prose(one['text'])}.",
        *([f"Bytes: {data}."] if data else []),
        f"Then: {phrases.then(one)}.",
    ]
    out: dict[str, Any] = {
        "ruleId": one["rule"],
        "ruleIndex": index,
        "level": one["severity"],
        "message": {"text": " ".join(details)},
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": uri(one["file"])}},
            "logicalLocations": [{"name": names[-1], "fullyQualifiedName": prose("/".join(names)), "kind": "message"}],
        }],
        "partialFingerprints": {"zdissectViolation/v1": one["fingerprint"]},
        "occurrenceCount": one["count"],
        "properties": {name: one[name] for name in _KEPT},
    }  # fmt: skip
    if count:
        out["properties"]["last_frame"] = one["last_frame"]
    if compared:
        out["baselineState"] = "unchanged" if one["known"] else "new"
    if one["known"]:
        out["suppressions"] = [{"kind": "external", "justification": "It is in the baseline."}]
    return out


def _notifications(report: Entry) -> Iterator[Entry]:
    """What couldn't be read, and what no rule could see."""
    for capture in report["captures"]:
        place = [{"physicalLocation": {"artifactLocation": {"uri": uri(capture["files"][0])}}}]
        for problem in capture["problems"]:
            yield {"level": "error", "message": {"text": prose(problem)}, "locations": place}
        if not capture["messages"]:
            yield {
                "level": "warning",
                "message": {"text": "No Zenoh could be read: nothing was judged."},
                "locations": place,
            }
        for one in capture["unseen"]:
            yield {"level": "note", "message": {"text": prose(f"Not seen: {one['text']}.")}, "locations": place}
        for session in capture["sessions"]:
            for one in session["unseen"]:
                text = f"Not seen in session {session['session']}: {one['text']}."
                yield {"level": "note", "message": {"text": prose(text)}, "locations": place}
