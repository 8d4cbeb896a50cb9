"""Statistics of the messages that a display filter selects."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from zdissect_cli.main import cli

SAMPLES = Path(__file__).parents[2] / "samples"
QUERIES = SAMPLES / "query-router.pcap"


def report(*args: str, name: str = "query-router.pcap") -> dict[str, Any]:
    done = CliRunner().invoke(cli, ["stats", "-q", "--json", *args, str(SAMPLES / name)])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def kinds(known: dict[str, Any]) -> dict[str, int]:
    return {one["message"]: one["count"] for one in known["messages"]}


def test_a_filter_that_all_messages_match_changes_nothing() -> None:
    for name in ("query-router.pcap", "duplicate-sn.pcap", "pubsub-tcp.pcap"):
        every, filtered = (report("--every", "1s", *args, name=name) for args in ((), ("-Y", "zenoh")))
        assert filtered == every | {
            "sessions": filtered["sessions"], "intervals": filtered["intervals"]
        }  # fmt: skip
        # batches count with their length prefixes where no message is chosen, and messages without
        counts = [[(one["frames"], one["messages"]) for one in known["intervals"]["listed"]]
                  for known in (every, filtered)]  # fmt: skip
        assert counts[0] == counts[1]


def test_queries_have_all_their_answers() -> None:
    found = report("-Y", "message == REQUEST")
    assert kinds(found) == {"REQUEST": 48}
    assert found["queries"] == report()["queries"]
    assert found["keys"]["listed"] == found["findings"] == []
    assert [[end["messages"] for end in one["ends"]] for one in found["sessions"]] == [[0, 16], [0, 12], [20, 0]]
    assert found["accounting"] == report()["accounting"]


def test_answers_alone_are_no_queries_and_no_strays() -> None:
    found = report("-Y", "message == RESPONSE")
    assert (found["queries"]["queries"], found["queries"]["stray_answers"]) == (0, 0)
    assert sum(one["messages"] for one in found["keys"]["listed"]) == 56


def test_what_comes_later_takes_a_second_pass() -> None:
    found = report("-Y", "request.answered == false")
    assert kinds(found) == {"REQUEST": 3}
    assert [one["key_expr"] for one in found["queries"]["keys"]] == ["nobody/home", "silent/q"]
    assert [one["session"] for one in found["sessions"]] == [2, 3]


def test_findings_are_those_of_the_messages() -> None:
    found = report("-Y", 'finding == "sn-gap"', name="duplicate-sn.pcap")
    assert [(one["code"], one["count"]) for one in found["findings"]] == [("sn-gap", 1)]
    assert report("-Y", "message == PUSH", name="duplicate-sn.pcap")["findings"] == []


def test_only_findings_of_the_messages_make_it_fail() -> None:
    sample = str(SAMPLES / "duplicate-sn.pcap")
    for wanted, code in (("message == PUSH", 0), ("message == FRAME", 3)):
        args = ["stats", "-q", "--fail-on", "note", "-Y", wanted, sample]
        assert CliRunner().invoke(cli, args, standalone_mode=False).return_value == code


def test_nothing_matches() -> None:
    done = CliRunner().invoke(cli, ["stats", "-Y", "sn == 77777", str(QUERIES)])
    assert "nothing matches sn == 77777 in 207 frames" in done.stderr
    assert "Sessions" not in done.stdout
