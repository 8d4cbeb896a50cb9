"""What the tables of sessions, keys, queries, declarations and findings have in common: forms, order, width, errors."""

import json
import os
import pty
import subprocess
import sys

import pytest
from zdissect_cli.table_text import TextColumn, table

from tests.cli.listings import COMMANDS, EXPECTED, SAMPLES, as_csv, listed, messages, refusal, run
from tests.cli.terminals import terminal

ROUTER = SAMPLES / "query-router.pcap"
EMPTY = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_json_and_csv_have_the_same_rows(command, name):
    rows, lines = listed(command, SAMPLES / name), as_csv(command, SAMPLES / name)
    assert len(rows) == len(lines)
    for row, line in zip(rows, lines, strict=True):
        assert [key for key in row if key not in ("hops", "missing")] == list(line)
        for key, text in line.items():
            value = row[key]
            told = " ".join(value) if isinstance(value, list) else "" if value is None else str(value)
            assert text == (told.lower() if isinstance(value, bool) else told), key


AS_TABLE = {"queries": ("--table",), "samples": ("--table",)}
"""What makes a table of what is shown otherwise at first."""
OTHERS = {"samples": SAMPLES / "declared-keys-router.pcap"}
"""What has rows where the usual sample has none."""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_table_has_a_line_for_each_row_and_no_colour(command):
    sample = OTHERS.get(command, ROUTER)
    done = run(command, *AS_TABLE.get(command, ()), sample)
    assert done.return_value == 0
    assert len(done.stdout.splitlines()) == len(listed(command, sample)) + 1
    assert "\x1b" not in done.stdout
    assert "…" not in done.stdout.replace("…  ", "").replace("…,", ""), "only ZenohIDs are short in a pipe"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_a_table_fits_a_terminal(command, columns):
    sample = OTHERS.get(command, ROUTER)
    text = terminal(columns, command, *AS_TABLE.get(command, ()), sample)
    assert max(map(len, text.splitlines())) <= columns
    assert text.count("\n") >= len(listed(command, sample)) + 1


def test_what_has_no_room_is_named():
    env = {**os.environ, "COLUMNS": "60", "NO_COLOR": "1"}
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "zdissect_cli", "sessions", str(ROUTER)]
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, env=env, text=True, check=True)
    os.close(theirs)
    os.close(ours)
    assert "no room for" in done.stderr
    assert "--csv and --json have all columns" in done.stderr


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_words_stay_whole_and_keys_keep_what_tells_them_apart(columns):
    """Columns are left out before a key becomes `@/16768…`, a kind `subscri…`, or an address loses its port."""
    kinds = terminal(columns, "declarations", ROUTER)
    assert "queryable " in kinds
    assert "undeclared" in kinds
    addresses = terminal(columns, "sessions", ROUTER)
    assert "127.0.0.1…" not in addresses
    assert "wildcard-reply" in terminal(columns, "findings", ROUTER)


def test_a_table_gives_way_in_order():
    """Long texts to 32 characters, then columns, then long texts to 8, then words."""
    long, word = TextColumn("Key", ["k" * 50]), TextColumn("State", ["unfinished"], whole=True)
    number, spare = TextColumn("Frame", ["123456"], right=True, whole=True), TextColumn("Id", ["7" * 8], weight=1)
    given = [long, word, number, spare]
    widths = {width: [len(cell) for cell in table(given, width)[0][1].split()] for width in (80, 62, 54, 40, 30)}
    assert widths == {80: [50, 10, 6, 8], 62: [32, 10, 6, 8], 54: [34, 10, 6], 40: [20, 10, 6], 30: [10, 10, 6]}
    assert table(given, 24)[0][1].split()[2] == "123456"


def test_colour_where_it_is_asked_for():
    assert "\x1b[36mnote\x1b[0m" in run("findings", "--color", "always", ROUTER).stdout


@pytest.mark.parametrize(
    ("order", "key", "reverse"),
    [("bytes", "bytes", False), ("-bytes", "bytes", True), ("Payload", "bytes", False), ("-key", "key_expr", True)],
)
def test_rows_are_sorted_by_a_column(order, key, reverse):
    rows = listed("keys", "--sort", order, ROUTER)
    assert [row[key] for row in rows] == sorted((row[key] for row in listed("keys", ROUTER)), reverse=reverse)


def test_rows_without_a_value_come_last_in_either_order():
    for order in ("rate_hz", "-rate_hz"):
        rates = [row["rate_hz"] for row in listed("keys", "--sort", order, ROUTER)]
        there = rates.index(None)
        assert there
        assert set(rates[there:]) == {None}


def test_severities_are_sorted_by_weight():
    found = [row["severity"] for row in listed("findings", "--sort", "-severity", SAMPLES / "trailing-byte.pcap")]
    assert found[0] == "error"
    assert found == sorted(found, key=("error", "warning", "note").index)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_column_is_an_error_that_names_some(command):
    assert "there is no column 'nosuch': there are " in refusal(command, "--sort", "nosuch", ROUTER)


def test_a_misspelt_column_gets_a_hint():
    assert "did you mean key_expr, key?" in refusal("keys", "--sort", "key_exp", ROUTER)


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_file_there_is_a_usage_error(command):
    assert "FILE" in refusal(command)


@pytest.mark.parametrize("command", COMMANDS)
def test_files_that_cannot_be_read(command, tmp_path):
    done = run(command, "--json", tmp_path / "nosuch.pcap")
    assert (done.return_value, json.loads(done.stdout)) == (1, [])
    assert "nosuch.pcap" in done.stderr
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(ROUTER.read_bytes()[:-9])
    done = run(command, "--json", cut)
    assert done.return_value == 1
    assert len(json.loads(done.stdout)) == len(listed(command, ROUTER))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_capture_without_zenoh_has_no_rows(command, tmp_path):
    path = tmp_path / "empty.pcap"
    path.write_bytes(EMPTY)
    done = run(command, path)
    assert (done.return_value, done.stdout) == (0, "")
    assert "no Zenoh found in 0 frames" in done.stderr
    assert run(command, "--json", path).stdout == "[]\n"
    assert len(run(command, "--csv", path).stdout.splitlines()) == 1
    assert run(command, "-q", path).stderr == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_fail_on_looks_at_the_findings_of_the_capture(command):
    assert run(command, "--fail-on", "note", ROUTER).return_value == 3
    assert run(command, "--fail-on", "warning", ROUTER).return_value == 0


def test_so_many_frames():
    assert {row["request_frame"] for row in listed("queries", "-c", "60", ROUTER)} == {37, 44, 54, 58}


def test_times_as_asked_for():
    first = run("queries", "--table", "-t", "e", ROUTER).stdout.splitlines()[1]
    assert "1795815880.696422000" in first


def test_several_files_are_one_capture():
    both = listed("sessions", SAMPLES / "pubsub-tcp.pcap", ROUTER)
    assert [row["session"] for row in both] == [1, 2, 3, 4]


# --- filters


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_filter_that_all_messages_match_changes_no_rows(command, name):
    """But bytes of sessions are those of messages: without length prefixes."""
    rows, chosen = listed(command, SAMPLES / name), listed(command, "-Y", "frame.number >= 0", SAMPLES / name)
    for row in [*rows, *chosen] if command == "sessions" else ():
        row["opener_bytes"] = row["acceptor_bytes"] = 0
    assert chosen == [row for row in rows if command != "sessions" or row["opener_messages"] + row["acceptor_messages"]]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_filter_that_nothing_matches_leaves_no_rows(command):
    done = run(command, "--json", "-Y", 'key_expr == "nosuch"', ROUTER)
    assert (done.return_value, done.stdout) == (0, "[]\n")
    assert "nothing matches" in done.stderr


def test_sessions_count_the_messages_that_match():
    rows = listed("sessions", "-Y", "message == REQUEST", ROUTER)
    table = [row for row in messages("query-router.pcap") if row["message"] == "REQUEST"]
    assert sum(row["opener_messages"] + row["acceptor_messages"] for row in rows) == len(table) == 48
    assert sum(row["opener_bytes"] + row["acceptor_bytes"] for row in rows) == sum(row["length"] for row in table)


def test_what_is_in_a_frame_that_matches_counts_once():
    (whole,) = listed("sessions", "-Y", "layer == transport or layer == network", SAMPLES / "pubsub-tcp.pcap")
    (outer,) = listed("sessions", "-Y", "layer == transport", SAMPLES / "pubsub-tcp.pcap")
    assert whole["opener_bytes"] == outer["opener_bytes"]
    assert whole["opener_messages"] > outer["opener_messages"]


def test_keys_count_the_messages_that_match():
    rows = listed("keys", "-Y", 'key_expr within "svc/**" and flow_id == "tcp.2"', ROUTER)
    assert {row["key_expr"] for row in rows} == {"svc/x", "svc/**", "svc/bad", "svc/gone", "svc/other"}
    assert {source for row in rows for source in row["sources"]} == {"31bc87a14815ef9acca5c902806df97c"}


def test_a_query_is_listed_in_full_if_one_of_its_messages_matches():
    rows = listed("queries", "-Y", "response_time_ns > 1s", ROUTER)
    assert [row["request_frame"] for row in rows] == [167]
    assert rows == [row for row in listed("queries", ROUTER) if row["request_frame"] == 167]
    ahead = listed("queries", "-Y", "zenoh.request.answered == false and src_role == client", ROUTER)
    assert [row["request_frame"] for row in ahead] == [141, 143]


def test_declarations_of_messages_that_match():
    rows = listed("declarations", "-Y", "body == U_QUERYABLE and entity_id == 1", ROUTER)
    assert [(row["key_expr"], row["until_frame"]) for row in rows] == [("svc/**", 189), ("svc/*", 191)]


def test_findings_of_messages_that_match_and_fail_on_looks_at_these():
    wanted = 'finding == "wildcard-reply" and flow_id == "tcp.2"'
    assert [row["frame"] for row in listed("findings", "-Y", wanted, ROUTER)] == [140, 140]
    assert run("findings", "-Y", wanted, "--fail-on", "note", ROUTER).return_value == 3
    assert run("findings", "-Y", "message == PUSH", "--fail-on", "note", ROUTER).return_value == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_filter_is_shown_with_a_caret(command):
    assert "^" in refusal(command, "-Y", "key_expr ==", ROUTER)


def test_what_comes_later_is_not_known_of_standard_input():
    assert "twice" in refusal("queries", "-Y", "zenoh.request.answered == false", "-")


@pytest.mark.parametrize("command", COMMANDS)
def test_times_that_count_from_the_frame_before_are_refused(command):
    assert "-t r" in refusal(command, "-t", "dd", ROUTER)


def test_times_since_the_first_frame():
    first_ns = json.loads(run("stats", "--json", ROUTER).stdout)["capture"]["first_ts_ns"]
    shown = run("queries", "--table", "-t", "r", ROUTER).stdout.splitlines()[1].split()[1]
    assert shown == f"{(1795815880696422000 - first_ns) / 1e9:.9f}" == "0.568961000"
