"""`zdissect follow`: sessions, keys, queries and fragments as transcripts."""

import json
import re
import subprocess
import sys
from collections import Counter

import pytest

from tests.cli.listings import EXPECTED, SAMPLES, SHARED, listed, messages, refusal, run, sidecar
from zdissect.session.keyexprs import intersects

ROUTER, SMALL = SAMPLES / "query-router.pcap", SAMPLES / "udp-small-batch.pcap"
C = "6defa3dd509d6943a8d4189807de5795"


def followed(target, *args):
    """The messages that are followed, from JSON."""
    done = run("follow", target, "--json", *args)
    assert done.exception is None, done.exception
    return json.loads(done.stdout)


def where(rows):
    """What tells messages apart: compared with the message table."""
    return [(row["frame_number"], row["message_index"], row["message"]) for row in rows]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_session_is_all_messages_of_its_flows(name):
    table = messages(name)
    for session in listed("sessions", SAMPLES / name):
        mine = [row for row in table if row["flow_id"] in session["flow_ids"]]
        assert where(followed(f"session:{session['session']}", "--all", SAMPLES / name)) == where(mine)
        said = [row for row in mine if row["message"] not in ("FRAME", "FRAGMENT", "KEEP_ALIVE")]
        assert where(followed(f"session:{session['session']}", SAMPLES / name)) == where(said)


@pytest.mark.parametrize("target", ["3", "session:3", "tcp.2", "flow:tcp.2", C, C[:5], "zid:6"])
def test_a_session_has_several_names(target):
    rows = followed(target, ROUTER)
    assert {(row["session"], row["flow_id"]) for row in rows} == {(3, "tcp.2")}
    assert {row["side"] for row in rows} == {"opener", "acceptor"}
    assert all((row["side"] == "opener") == (row["src_zid"] == C) for row in rows)


@pytest.mark.parametrize("key", ["svc/x", "svc/**", "**", "silent/*", "key:nobody/home"])
def test_a_key_is_all_messages_about_it(key):
    wanted = key.removeprefix("key:")
    table = messages("query-router.pcap")
    about = [row for row in table if row["key_expr"] and intersects(wanted, row["key_expr"])]
    asked = {(row["frame_number"], row["request_id"]) for row in about if row["message"] == "REQUEST"}
    ends = [
        row for row in table
        if row["message"] in ("RESPONSE", "RESPONSE_FINAL") and (row["request_frame"], row["request_id"]) in asked
    ]  # fmt: skip
    assert sorted(where(followed(key, ROUTER))) == sorted({*where(about), *where(ends)})


def test_puts_of_a_key_are_those_that_were_counted():
    name = "declared-keys-router.pcap"
    for key, count in EXPECTED[name]["push_puts_per_key"].items():
        assert Counter(row.get("body") for row in followed(key, SAMPLES / name))["PUT"] >= count


@pytest.mark.parametrize("target", ["44", "frame:44", "47", "50", f"{C}:2", f"{C[:6]}:2", f"request:{C}:2"])
def test_a_query_is_its_requests_and_answers_on_all_hops(target):
    rows = followed(target, ROUTER)
    (query,) = [row for row in listed("queries", ROUTER) if row["request_frame"] == 44]
    asked = [(row["frame_number"], row["request_id"]) for row in rows if row["message"] == "REQUEST"]
    assert asked == [(hop["frame"], hop["request_id"]) for hop in query["hops"]]
    assert {row["session"] for row in rows} == {1, 2, 3}
    answers = [row for row in rows if row["message"] != "REQUEST"]
    assert all((row["request_frame"], row["request_id"]) in asked for row in answers)
    table = [row for row in messages("query-router.pcap") if (row["request_frame"], row["request_id"]) in asked]
    assert where(answers) == where(row for row in table if row["message"].startswith("RESPONSE"))


def test_a_message_in_fragments_is_found_by_any_of_them():
    wholes = [row for row in messages("udp-small-batch.pcap") if row["fragments"]]
    assert wholes
    for whole in wholes[:3]:
        for frame in (whole["fragments"][0], whole["fragments"][-1]):
            rows = followed(f"frame:{frame}", SMALL)
            assert [row["frame_number"] for row in rows if row["message"] == "FRAGMENT"] == whole["fragments"]
            assert rows[-1]["payload"] == whole["payload"]
            raw = run("follow", f"frame:{frame}", "--raw", SMALL).stdout_bytes
            assert raw.hex() == whole["payload"]


def test_interleaved_fragments_are_told_apart():
    name = SHARED / "05-fragments-interleaved-small-batch.pcap"
    if not name.exists():
        pytest.skip("needs the shared captures")
    rows = [json.loads(line) for line in run("-q", "-T", "jsonl", name).stdout.splitlines()]
    (whole, *_) = [row for row in rows if row["fragments"]]
    chain = followed(f"frame:{whole['fragments'][0]}", name)
    frames = [row["frame_number"] for row in chain if row["message"] == "FRAGMENT"]
    assert list(dict.fromkeys(frames)) == whole["fragments"]
    sns = [row["sn"] for row in chain if row["message"] == "FRAGMENT"]
    assert sns[-1] == whole["sn"]
    assert len({row.get("priority") for row in chain if row["message"] == "FRAGMENT"}) == 1


def test_fragments_without_an_end():
    whole = next(row for row in messages("udp-small-batch.pcap") if row["fragments"])
    done = run("follow", f"frame:{whole['fragments'][0]}", SMALL)
    assert f"in fragments of frames {whole['fragments'][0]}, " in done.stdout


def test_raw_is_what_the_application_put():
    puts = [one for one in sidecar("01-pubsub-encodings-tcp")["operations"] if one["op"] == "put"]
    for key in sorted({one["key"] for one in puts})[:12]:
        payloads = [bytes.fromhex(one["payload"]["hex"]) for one in puts if one["key"] == key]
        raw = run("follow", "--raw", f"key:{key}", SHARED / "01-pubsub-encodings-tcp.pcap").stdout_bytes
        assert raw == b"".join(payloads)


def test_the_transcript():
    head, *lines = run("follow", "1", ROUTER).stdout.splitlines()
    assert head == (
        "Session 1  client 30f9b475074ff3702a9dd8634e86b6fd (127.0.0.1:56292) → "
        "router 31bc87a14815ef9acca5c902806df97c (127.0.0.1:7447)  tcp.0"
    )
    assert lines[0].startswith("    4  21:44:40.127832  1 →  INIT_SYN")
    at = next(number for number, line in enumerate(lines) if "RESPONSE  REPLY" in line)
    assert lines[at].startswith(
        "   40  21:44:40.697058  1 →  RESPONSE  REPLY PUT  svc/x  request_id 1  [of frame 38, +0.488 ms]"
    )
    assert lines[at + 1] == "          first from qa"
    assert not any("KEEP_ALIVE" in line or "FRAME" in line for line in lines)


def test_both_sides_have_a_colour_and_without_it_an_arrow():
    colored = run("follow", "--color", "always", "1", ROUTER).stdout
    assert set(re.findall(r"\x1b\[(\d+)m1 →", colored)) == {"36"}
    assert set(re.findall(r"\x1b\[(\d+)m1 ←", colored)) == {"35"}
    assert "\x1b" not in run("follow", "1", ROUTER).stdout
    command = [sys.executable, "-m", "zdissect_cli", "follow", "1", str(ROUTER)]
    plain = subprocess.run(command, capture_output=True, env={"PYTHONIOENCODING": "ascii"}, check=True).stdout.decode()
    assert " 1 >  INIT_SYN" in plain
    assert " 1 <  INIT_ACK" in plain


def test_bytes_that_are_no_text_are_a_dump_and_long_ones_are_cut():
    whole = next(row for row in messages("udp-small-batch.pcap") if row["fragments"])
    target = f"frame:{whole['fragments'][0]}"
    done = run("follow", "--bytes", "32", target, SMALL).stdout
    assert f"... {whole['payload_len'] - 32} bytes more" in done
    every = run("follow", "--bytes", "0", target, SMALL).stdout
    assert " bytes more" not in every


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("nosuch", "nothing here is 'nosuch': there are sessions 1 to 3; key expressions as "),
        ("svd/x", "key expressions as svc/x"),
        ("9999", "nothing here is '9999': there are"),
        ("6", "frame 6 holds INIT_ACK, neither a request or answer nor a fragment; there are sessions 1 to 3"),
        ("tcp.9", "there are sessions 1 to 3"),
        (f"{C}:999", "there are sessions 1 to 3"),
        ("31bc", "'31bc' may be session:1 (session 1 of client 30f9b475074ff3702a9dd8634e86b6fd and router"),
        ("a//b", "As a key expression: empty chunk at byte 2"),
        ("session:x", "'x' is no session"),
        ("frame:-1", "'-1' is no frame"),
    ],
)
def test_what_is_not_there_or_not_clear(target, why):
    assert why in refusal("follow", target, ROUTER)


def test_a_number_that_several_sessions_have_is_listed_with_words_that_are_clear():
    text = refusal("follow", "31bc", ROUTER)
    for word in re.findall(r"(\w+:\w+) \(", text):
        assert run("follow", word, ROUTER).return_value == 0


def test_standard_input_cannot_be_read_twice():
    assert "twice" in refusal("follow", "1", "-")


def test_files_that_cannot_be_read(tmp_path):
    done = run("follow", "1", tmp_path / "nosuch.pcap")
    assert (done.return_value, "there is no session" in done.stderr) == (1, False)
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(ROUTER.read_bytes()[:-9])
    done = run("follow", "1", cut)
    assert done.return_value == 1
    assert done.stderr.count("cut.pcap") == 1


def test_the_summary_and_its_absence():
    done = run("follow", "44", ROUTER)
    assert (
        done.stderr
        == f"zdissect: query on svc/x of frame 44: {len(followed('44', ROUTER))} messages, payloads of 54 bytes\n"
    )
    assert run("follow", "-q", "44", ROUTER).stderr == ""


def test_text_that_would_drive_a_terminal_is_escaped():
    for name in sorted(EXPECTED):
        for session in listed("sessions", SAMPLES / name):
            text = run("follow", f"session:{session['session']}", SAMPLES / name).stdout
            assert all(line.isprintable() for line in text.splitlines())
