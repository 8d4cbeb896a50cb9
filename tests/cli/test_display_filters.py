"""`-Y` in all forms of output, and `zdissect filter`."""

import json
import sys
from pathlib import Path
from subprocess import run as process

import pytest
from click.testing import CliRunner, Result
from zdissect_cli.main import cli

SAMPLES = Path(__file__).parents[2] / "samples"
FIRST = str(SAMPLES / "pubsub-tcp.pcap")
QUERIES = str(SAMPLES / "query-router.pcap")
GAPS = str(SAMPLES / "duplicate-sn.pcap")


def run(*args: str) -> Result:
    return CliRunner().invoke(cli, args)


def code(*args: str) -> int:
    """The exit code of a command that is used rightly."""
    done: int = CliRunner().invoke(cli, args, standalone_mode=False).return_value
    return done


def rows(*args: str) -> list[dict]:
    done = run("-T", "jsonl", *args)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_rows_of_what_matches_are_those_of_the_whole() -> None:
    assert rows("-Y", "message == PUSH and sn > 5", FIRST) == [
        row for row in rows(FIRST) if row["message"] == "PUSH" and row["sn"] > 5
    ]
    assert rows("-Y", "zenoh.frame.r == true", FIRST) == [
        row for row in rows(FIRST) if row["reliability"] == "reliable"
    ]


def test_a_line_for_each_match() -> None:
    lines = run("-T", "line", "--long", FIRST).stdout.splitlines()
    matching = run("-T", "line", "--long", "-Y", "message == PUSH", FIRST).stdout.splitlines()
    assert matching == [line for line in lines if "PUSH" in line]
    assert len(matching) == 5


def test_a_tree_folds_what_does_not_match() -> None:
    full = run("--frame", "17", FIRST).stdout
    folded = run("--frame", "17", "-Y", "message == PUSH", FIRST).stdout
    assert "sn: 192036580" in full
    assert "sn: 192036580" not in folded
    assert "FRAME  0x05" in folded
    push = full[full.index("0007") :]
    assert folded.endswith(push)
    assert {*folded.splitlines()} < {*full.splitlines()}
    assert run("--frame", "17", "-Y", "message == PUSH", "--whole", FIRST).stdout == full
    assert run("-Y", "zenoh", FIRST).stdout == run(FIRST).stdout


def test_json_has_the_matching_messages_and_the_frame_around() -> None:
    documents = json.loads(run("-T", "json", "-Y", "key_expr == nano/t0", FIRST).stdout)
    assert {*messages(documents)} >= {"FRAME", "PUSH"}
    keepalives = json.loads(run("-T", "json", "-Y", "message == FRAME", FIRST).stdout)
    assert {*messages(keepalives)} == {"FRAME"}


def messages(documents: list[dict]) -> list[str]:
    """The messages of all layers above the body."""
    found = [one for document in documents for one in document["unit"]["messages"]]
    return [one["message"] for outer in found for one in (outer, *outer.get("messages", ()))]


def test_what_fails_is_what_is_shown() -> None:
    assert code("--fail-on", "note", GAPS) == 3
    assert code("--fail-on", "note", "-Y", "finding", GAPS) == 3
    assert code("--fail-on", "note", "-Y", "not finding", GAPS) == 0


def test_what_is_only_folded_fails_too() -> None:
    faulty = str(SAMPLES / "trailing-byte.pcap")  # an error in its OAM, which is folded
    assert "[1 finding]" in run("-O", "keep_alive", faulty).stdout
    assert code("--fail-on", "error", "-O", "keep_alive", faulty) == 3


def test_a_filter_that_nothing_matches_says_so() -> None:
    done = run("-Y", "sn == 1", FIRST)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "nothing matches sn == 1 in 36 frames" in done.stderr


def test_what_comes_later_takes_a_file() -> None:
    found = rows("-Y", "request.answered == false", QUERIES)
    answered = {row["request_frame"] for row in rows(QUERIES) if row["message"] == "RESPONSE"}
    assert {row["frame_number"] for row in found} == {
        row["frame_number"] for row in rows(QUERIES) if row["message"] == "REQUEST"
    } - answered
    assert found
    program = [sys.executable, "-m", "zdissect_cli", "-Y", "request.answered == true", "-"]
    done = process(program, input=Path(QUERIES).read_bytes(), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"standard input can be read only once" in done.stderr


@pytest.mark.parametrize("command", [["-Y", "sn = 5", FIRST], ["filter", "sn = 5"]])
def test_a_bad_filter_is_shown_with_a_caret(command: list[str]) -> None:
    done = run(*command)
    assert done.stdout == ""
    assert done.exit_code == 2 or code(*command) == 2
    assert done.stderr.endswith("did you mean ==?\n  sn = 5\n     ^\n")


@pytest.mark.parametrize("extra", [["-T", "line", "-Y", "sn"], []])
def test_whole_needs_a_filter_and_a_tree(extra: list[str]) -> None:
    assert run("--whole", *extra, FIRST).exit_code == 2


def test_filter_prints_the_language_a_meaning_columns_and_sql() -> None:
    assert "A display filter selects messages" in run("filter").stdout
    assert "A display filter selects messages" in run("filter", "--help").stdout
    meaning = run("filter", "not sn==5&&tcp.port != 1").stdout.splitlines()
    assert meaning[0] == "not (sn == 5) and all tcp.port != 1"
    assert [line.split()[0] for line in meaning[1:]] == ["sn", "tcp.port"]
    assert run("filter", "--columns", "sn == 5 and key_expr").stdout == "key_expr\nsn\n"
    assert run("filter", "--sql", "sn == 5").stdout == "sn = 5\n"
    assert run("filter", "sn == 5", "--sql").stdout == "sn = 5\n"
    assert run("filter", "--sql", "spark", "payload contains 00").stdout == "contains(unhex(hex(payload)), X'00')\n"
    key = run("filter", "--sql", "key_expr within a/**")
    assert key.stdout == "zdissect_includes('a/**', key_expr)\n"
    assert "zdissect.filters.sql.register" in key.stderr


def test_filter_says_what_tables_cannot_answer() -> None:
    assert "the file is read twice" in run("filter", "request.answered == true").stdout
    assert "works on captures only" in run("filter", "frame.len > 5").stdout
    done = run("filter", "--sql", "frame.len > 5")
    assert code("filter", "--sql", "frame.len > 5") == 2
    assert done.stdout == ""
    assert "frame.len" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "sn == 5 or sn == 6 and not (express or sn in {1, 2 .. 3})",
        'any tcp.port !== 5 and payload[0:2, 3] == "a" and len(key_expr) > 3',
        r'key_expr matches r"\d" and sn & 3 == 1 and not x',
    ],
)
def test_what_filter_prints_means_the_same(text: str) -> None:
    from zdissect.filters.spelling import spelt
    from zdissect.filters.syntax import parse

    assert spelt(parse(spelt(parse(text)))) == spelt(parse(text))
