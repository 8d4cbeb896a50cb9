"""A verdict as JUnit's XML: a suite for each session, in it a case for each side and kind of rule.

So the cases are the same from run to run, whatever was found. A case fails for the violations that a verdict fails for;
others stand in its output. What isn't in the capture is skipped, what can't be read is an error.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from zdissect.conformance import phrases
from zdissect.conformance.terms import VerdictTerms
from zdissect.conformance.unseen import ONE_DIRECTION
from zdissect.grammar.rule import MALFORMED, PROTOCOL, SEQUENCE
from zdissect.grammar.rules import RULES
from zdissect.listing.listing import Entry
from zdissect.output.text import prose

_KINDS = {MALFORMED: "can be decoded", PROTOCOL: "follows the protocol", SEQUENCE: "numbers and fragments fit"}


def junit(report: Entry, terms: VerdictTerms) -> str:
    """The verdict as a document. Texts from a capture are escaped where XML can't hold them."""
    root = Element("testsuites", name=f"zdissect check {report['profile']}")
    for capture in report["captures"]:
        _suite(root, phrases.title(capture), _readable(capture))
        for session in capture["sessions"]:
            name = f"{phrases.title(capture)} session {session['session']}"
            suite = _suite(root, name, _sides(session, terms))
            SubElement(suite, "system-out").text = _xml("\n".join(_said(session)))
        if capture["elsewhere"]:
            cases = _kinds("nodes", capture["elsewhere"], terms)
            _suite(root, f"{phrases.title(capture)} outside of sessions", cases)
    for total in ("tests", "failures", "errors", "skipped"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in root)))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, name: str, cases: Iterator[Element]) -> Element:
    """A suite with its cases and their numbers. Nothing was timed, so that all times are 0."""
    suite = SubElement(root, "testsuite", name=_xml(name), time="0")
    for case in cases:
        case.set("classname", _xml(name))
        case.set("time", "0")
        suite.append(case)
    for total, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(total, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    return suite


def _readable(capture: Entry) -> Iterator[Element]:
    """Whether a capture could be read, and holds anything to judge."""
    case = Element("testcase", name="can be read")
    if capture["problems"]:
        SubElement(case, "error", type="capture", message=_xml("; ".join(capture["problems"])))
    yield case
    case = Element("testcase", name="holds Zenoh")
    if not capture["messages"]:
        seen = "; ".join(one["text"] for one in capture["unseen"])
        SubElement(case, "error", type="capture", message=_xml(seen or "no Zenoh was found: nothing was judged"))
    yield case


def _sides(session: Entry, terms: VerdictTerms) -> Iterator[Element]:
    for end in session["ends"]:
        if terms.zid and not terms.judges("", end["zid"]):
            continue
        name = f"{end['side']} ({end['role'] or 'unknown role'})"
        own = [one for one in session["violations"] if one["side"] == end["side"]]
        if not end["messages"] and any(one["what"] == ONE_DIRECTION for one in session["unseen"]):
            case = Element("testcase", name=name)
            SubElement(case, "skipped", message="what it sent isn't in the capture")
            yield case
            if not own:
                continue
        yield from _kinds(name, own, terms)


def _kinds(name: str, violations: list[Entry], terms: VerdictTerms) -> Iterator[Element]:
    """A case for each kind of rule."""
    for kind, says in _KINDS.items():
        case = Element("testcase", name=f"{name}: {says}")
        own = [one for one in violations if RULES[one["rule"]].group == kind]
        failed = [one for one in own if terms.fails(one["severity"]) and not one["known"]]
        if failed:
            more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
            text = "\n\n".join(_details(one) for one in failed)
            fault = SubElement(case, "failure", type=failed[0]["rule"], message=_xml(failed[0]["text"] + more))
            fault.text = _xml(text)
        if rest := [one for one in own if one not in failed]:
            SubElement(case, "system-out").text = _xml("\n\n".join(_details(one) for one in rest))
        yield case


def _details(one: Entry) -> str:
    known = " (known before)" if one["known"] else ""
    lines = [f"{one['severity']} {one['rule']}{known}: {prose(one['text'])}", f"  {phrases.place(one)}"]
    if data := phrases.octets(one):
        lines.append(f"  bytes: {data}")
    return "\n".join((*lines, f"  then: {phrases.then(one)}", f"  rule: {one['docs']}"))


def _said(session: Entry) -> Iterator[str]:
    yield phrases.session(session)
    for one in session["unseen"]:
        yield f"not seen: {one['text']}"


def _xml(text: str) -> str:
    """Text that XML 1.0 can hold: what can't be printed is escaped, line by line."""
    return "\n".join(map(prose, text.split("\n")))
