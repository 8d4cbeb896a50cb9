"""`-T fields` and `-T csv`: commands that tshark's users type, with what they print; and what is refused."""

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from zdissect_cli.main import cli

from zdissect.grammar.columns import NAMES

SAMPLES = Path(__file__).parents[2] / "samples"
FIRST, QUERIES, BAD = (str(SAMPLES / f"{name}.pcap") for name in ("pubsub-tcp", "query-router", "trailing-byte"))


def run(*args: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(cli, ["-q", *args], input=stdin)


def lines(command: str, *files: str) -> list[str]:
    done = run("-T", "fields", *command.split(), *files)
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def rows(*args: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in run("-T", "jsonl", *args).stdout.splitlines()]


COMMANDS = {
    "what was put where": (
        "-r FIRST -e frame.number -e key_expr -e zenoh.put.payload --payload text --frame 17-21",
        ["17\t\t", "17\tnano/t0\tnano message 0", "18\t\t", "18\tnano/t1\tnano message 1",
         "19\t\t", "19\tnano/t2\tnano message 2", "21\t\t", "21\tnano/att\twith attachment"],
    ),
    "a header and a separator": (
        "-r FIRST -e frame.time_epoch -e tcp.srcport -e tcp.dstport -e message -E header=y -E separator=, -c 6",
        ["frame.time_epoch,tcp.srcport,tcp.dstport,message", "1795815925.010148155,57592,7447,INIT_SYN",
         "1795815925.011061717,7447,57592,INIT_ACK"],
    ),
    "requests and what came of them": (
        "-r QUERIES -e frame.number -e zenoh.request.response_in -e request.answered --frame 37,38",
        ["37\t\t", "37\t42\t1", "38\t\t", "38\t40\t1"],
    ),
    "findings": (
        "-r BAD -e frame.number -e severity -e finding -E aggregator=/s --frame 6",
        ["6\twarning note\tvle-overlong initial-sn-foreign", "6\terror\ttruncated"],
    ),
    "the last of several": (
        "-r FIRST -e zenoh.ext.id -e message -E occurrence=l -c 8",
        ["7\tINIT_SYN", "7\tINIT_ACK", "2\tOPEN_SYN"],
    ),
    "the first of several": (
        "-r FIRST -e zenoh.ext.id -e ip.addr -E occurrence=f -c 4", ["1\t127.0.0.1"],
    ),
    "quotes, and what is around a message": (
        "-r FIRST -e frame.len -e eth.src -e zenoh.frame.sn -e zenoh.frame.r -e zenoh.push.m -E quote=s --frame 17",
        ["'96'\t'00:00:00:00:00:00'\t'192036580'\t'1'\t", "'96'\t'00:00:00:00:00:00'\t'192036580'\t'1'\t'0'"],
    ),
    "a name of the plugin, in base64": (
        "-r FIRST -e zenoh.transport.frame.network.push.put.payload --payload base64 --frame 17",
        ["", "bmFubyBtZXNzYWdlIDA="],
    ),
    "times and durations": (
        "-r FIRST -e frame.time -e zenoh.open.lease -e lease_ms -e frame.time_relative -E separator=; --frame 8",
        ["2026-11-27T21:45:25.011315486Z;10000;10000;0.001294560"],
    ),
    "several settings and several names at once": (
        "-r FIRST -e frame.number,ip.addr,zenoh.put.payload -E header=y,separator=,,aggregator=|,quote=d --frame 17",
        ["frame.number,ip.addr,zenoh.put.payload", '"17","127.0.0.1|127.0.0.1",',
         '"17","127.0.0.1|127.0.0.1","6e616e6f206d6573736167652030"'],
    ),
    "presence": ("-r FIRST -e zenoh.push -e tcp -e udp -e ip --frame 17", ["\t1\t\t1", "1\t1\t\t1"]),
    "response times, in seconds": (
        "-r QUERIES -e message -e zenoh.response_time -e response_time_ns --frame 40",
        ["FRAME\t\t", "RESPONSE\t0.000488000\t488000", "RESPONSE_FINAL\t0.000488000\t488000"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", COMMANDS)
def test_commands(what: str) -> None:
    command, expected = COMMANDS[what]
    for name, path in (("FIRST", FIRST), ("QUERIES", QUERIES), ("BAD", BAD)):
        command = command.replace(f"-r {name}", f"-r {path}")
    assert lines(command) == expected


@pytest.mark.parametrize(
    "name", ["frame_number", "key_expr", "response_time_ns", "payload_len", "sn", "src_port", "ts"]
)
def test_columns_are_those_of_jsonl(name: str) -> None:
    expected = [row[name] for row in rows(QUERIES)]
    assert lines(f"-e {name}", QUERIES) == ["" if value is None else str(value) for value in expected]


def test_fields_of_the_wire_and_columns_of_the_same_agree() -> None:
    """Names with a column are read without tapes, unless another name needs these."""
    alone = lines("-e zenoh.request.request_id -e key_expr", QUERIES)
    with_tapes = lines("-e zenoh.request.request_id -e key_expr -e zenoh.frame.z", QUERIES)
    assert alone == [line.rpartition("\t")[0] for line in with_tapes]
    assert any(alone)


def test_what_comes_later_is_not_known_of_a_pipe() -> None:
    command = "-e zenoh.request.response_in -e request.answered"
    known = lines(command, QUERIES)
    responses = [row for row in rows(QUERIES) if row["message"] == "RESPONSE"]
    answers = {(row["request_frame"], row["request_id"], row["dst_zid"]) for row in responses}
    assert sum(line.endswith("\t1") for line in known) == len(answers) > 40
    done = run("-T", "fields", *command.split(), "-", stdin=Path(QUERIES).read_bytes())
    assert done.stdout.splitlines() == ["\t"] * len(known)


def test_a_header_is_there_without_a_message() -> None:
    assert run("-T", "fields", "-e", "key_expr", "-E", "header=y", "--frame", "1", FIRST).stdout == "key_expr\n"
    assert run("-T", "fields", "-e", "key_expr", "-E", "bom=y", "--frame", "1", FIRST).stdout == "\ufeff"


def test_csv_has_all_columns_and_quotes_what_needs_it() -> None:
    table = list(csv.reader(io.StringIO(run("-T", "csv", BAD).stdout), strict=True))
    assert table[0] == [*NAMES]
    for line, row in zip(table[1:], rows(BAD), strict=True):
        made = dict(zip(NAMES, line, strict=True))
        assert made["frame_number"] == str(row["frame_number"])
        assert made["payload"] == (row["payload"] or "")
        assert json.loads(made["findings"] or "null") == row["findings"]
        assert json.loads(made["extensions"] or "null") == row["extensions"]


def test_csv_of_some_names() -> None:
    done = run("-T", "csv", "-e", "frame.number", "-e", "ip.addr", "-e", "key_expr", "--frame", "17", FIRST)
    assert done.stdout == 'frame.number,ip.addr,key_expr\n17,"127.0.0.1,127.0.0.1",\n17,"127.0.0.1,127.0.0.1",nano/t0\n'
    done = run(
        "-T", "csv", "-e", "frame.number", "-e", "key_expr", "-E", "separator=/t,header=n", "--frame", "17", FIRST
    )
    assert done.stdout == "17\t\n17\tnano/t0\n"


def test_payloads_as_text_keep_to_their_line(tmp_path: Path) -> None:
    data = Path(FIRST).read_bytes().replace(b"nano message 0", b'a\tb\nc\x1b"d\xff,,,ef')
    path = tmp_path / "made.pcap"
    path.write_bytes(data)
    wanted = ("-e", "payload", "--payload", "text", "--frame", "17", str(path))
    assert run("-T", "fields", *wanted).stdout.splitlines()[1] == 'a\\tb\\nc\\x1b"d\\xff,,,ef'
    assert run("-T", "fields", "-E", "quote=d", *wanted).stdout.splitlines()[1] == '"a\\tb\\nc\\x1b""d\\xff,,,ef"'
    assert run("-T", "csv", *wanted).stdout.splitlines()[2] == '"a\\tb\\nc\\x1b""d\\xff,,,ef"'


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        ("-T fields", "-T fields needs at least one -e NAME"),
        ("-e key_expr", "-e needs -T fields or -T csv, not -T tree"),
        ("-T jsonl -e key_expr", "-e needs -T fields or -T csv"),
        ("-T line --payload text", "--payload needs -T fields"),
        ("-T fields -e keyexpr", "'keyexpr'; did you mean"),
        ("-T fields -e zenoh.push.scop", "did you mean zenoh.push.scope"),
        ("-T fields -e key_expr -e", "-e"),
        ("-T fields -e len(payload)", "'len(payload)'"),
        ("-T fields -e sn -E header=maybe", "header is y or n"),
        ("-T fields -e sn -E separator=ab", "separator is one printable character, /t or /s"),
        ("-T fields -e sn -E separator=", "separator is one"),
        ("-T fields -e sn -E colour=y", "bom|header|separator"),
        ("-T fields -e sn -E header=y,colour=y", "isn't known"),
        ("-T csv -E quote=d", "-T csv quotes what needs it"),
        ("-T fields -e sn --payload rot13", "rot13"),
        ("-T fields -e sn -x", "-x needs -T tree or -T line"),
        ("-T csv -v", "-v needs"),
        ("-T csv -O push", "-O is about the tree"),
        ("-T fields -e sn --no-bits", "--no-bits is about the tree"),
        ("-V -O push", "-V shows everything in full"),
    ],
)
def test_what_is_refused(args: str, hint: str) -> None:
    done = run(FIRST, *args.split())
    assert (done.exit_code, done.stdout) == (2, "")
    assert hint in done.stderr
