"""`zdissect check`: verdicts, exit codes, files; and that nothing is invented on healthy captures."""

import json
from collections import Counter

import click
import pytest
from click.testing import CliRunner
from junitparser import JUnitXml
from zdissect_cli.main import cli

from tests.cli.listings import EXPECTED, SAMPLES, SHARED, refusal, run

BAD = SAMPLES / "trailing-byte.pcap"
GOOD = SAMPLES / "pubsub-tcp.pcap"
FAULTY = {"trailing-byte.pcap", "duplicate-sn.pcap"}
"""Samples that were made with faults."""


def report(*args: object) -> dict:
    done = run("check", "--json", *args)
    assert done.exception is None, done.exception
    return json.loads(done.stdout)


def rules(*args: object) -> list[tuple[str, str]]:
    return [
        (one["severity"], one["rule"])
        for capture in report(*args)["captures"]
        for session in capture["sessions"]
        for one in session["violations"]
    ]


@pytest.mark.parametrize("profile", ["spec", "rust-1.10", "pico-1.9"])
@pytest.mark.parametrize("name", sorted({*EXPECTED} - FAULTY))
def test_no_problem_is_invented_on_healthy_samples(name, profile):
    found = report("--profile", profile, SAMPLES / name)
    assert (found["verdict"], found["counts"]["error"], found["counts"]["warning"]) == ("passed", 0, 0)


def test_a_bad_one_in_words():
    done = run("check", BAD)
    assert done.return_value == 3
    assert done.stdout.splitlines() == [
        f"{BAD}: failed",
        "",
        "Session 1  client 8 10.0.0.1:40000 → router f1e2d3c4b5a69788796a5b4c3d2e1f0 10.0.0.2:7447  tcp.0",
        "  error    truncated  OAM from the opener, client 8, frame 6",
        "           id is missing",
        "           bytes: 0x0028 of tcp, nothing is left after 39 3a 3b 3c 3d 3e 3f 00",
        "           then:  the other side went on: OPEN_ACK after 0.999 ms (frame 7)",
        "           rule:  A field or region runs past the end of what contains it. docs/rules.md#truncated",
        "  warning  vle-overlong  OPEN_SYN from the opener, client 8, frame 6",
        "           lease takes 2 bytes for 127",
        "           bytes: 0x0003 of tcp, 2 bytes: ff 00  zenoh.open.lease",
        "           then:  the other side went on: OPEN_ACK after 0.999 ms (frame 7)",
        "           rule:  A variable-length integer uses more bytes than it needs. docs/rules.md#vle-overlong",
        "  don't count by this profile: initial-sn-foreign 2",
        "",
        "FAILED: 1 error, 1 warning in 1 session  (profile spec, fails on error)",
    ]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ([GOOD], 0),
        ([BAD], 3),
        ([GOOD, BAD], 3),
        ([SAMPLES / "duplicate-sn.pcap"], 0),
        (["--fail-on", "warning", SAMPLES / "duplicate-sn.pcap"], 3),
        (["--for", "receiver", BAD], 0),
        (["--for", "f1e2", BAD], 0),
        (["--for", "8", BAD], 3),
        (["nosuch.pcap"], 1),
        ([BAD, "nosuch.pcap"], 1),
    ],
)
def test_exit_codes(args, code):
    assert run("check", *args).return_value == code


def test_what_is_cut_short_is_judged_as_far_as_it_goes(tmp_path):
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(BAD.read_bytes()[:-3])
    done = run("check", "--json", cut)
    assert done.return_value == 1
    (capture,) = json.loads(done.stdout)["captures"]
    assert (capture["verdict"], len(capture["problems"])) == ("failed", 1)
    assert "cut.pcap" in done.stderr
    lines = run("check", cut).stdout.splitlines()
    assert lines[0] == f"{cut}: failed, as far as it can be read"
    assert lines[1].startswith(f"  can't be read to its end: {cut}: cut short")
    assert lines[-1].startswith("FAILED, as far as it can be read: ")
    assert run("check", "--markdown", cut).stdout.startswith("# zdissect check: failed, as far as it can be read\n")
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(b"")
    assert run("check", empty).stdout.splitlines()[-1].startswith("NOT JUDGED: ")


def test_nothing_to_judge_is_no_pass(tmp_path):
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(GOOD.read_bytes()[:24])
    done = run("check", empty)
    assert done.return_value == 1
    assert done.stdout.splitlines()[-1].startswith("NOT JUDGED: ")
    assert f"{empty}: no Zenoh that could be judged in 0 frames" in done.stderr


def test_files_are_captures_of_their_own_but_parts_of_one_are_not(tmp_path):
    data = SHARED / "15-rotated.part0.pcap"
    if not data.exists():
        pytest.skip("needs the shared captures")
    parts = sorted(SHARED.glob("15-rotated.part*.pcap"))
    found = report(GOOD, *parts[::-1], BAD)
    assert [capture["files"] for capture in found["captures"]] == [[str(GOOD)], [*map(str, parts)], [str(BAD)]]
    assert [capture["verdict"] for capture in found["captures"]] == ["passed", "passed", "failed"]


def test_a_zenohid_that_nobody_has_is_refused():
    text = refusal("check", "--for", "dead", BAD)
    assert "no ZenohID begins with 'dead'; there are 8, f1e2d3c4b5a69788796a5b4c3d2e1f0" in text


def test_a_baseline_is_written_and_read(tmp_path):
    known = tmp_path / "known.json"
    assert run("check", "--write-baseline", known, BAD).return_value == 3
    done = run("check", "--baseline", known, BAD)
    assert done.return_value == 0
    assert "error    truncated (known)" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("PASSED: no violations; 2 known before in 1 session")
    gone = run("check", "--baseline", known, GOOD)
    assert "not found any more: truncated OAM" in gone.stdout.splitlines()


@pytest.mark.parametrize("text", ["{}", "\xff", None])
def test_a_baseline_that_is_none_is_refused(text, tmp_path):
    path = tmp_path / "known.json"
    if text is not None:
        path.write_text(text, encoding="latin-1")
    assert str(path) in refusal("check", "--baseline", path, BAD)


def test_reports_are_saved_in_the_form_of_their_endings(tmp_path):
    names = [tmp_path / f"report.{ending}" for ending in ("sarif", "xml", "md", "json")]
    done = run("check", *(one for name in names for one in ("--save", name)), BAD)
    assert done.return_value == 3
    assert json.loads(names[0].read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert sum(suite.failures for suite in JUnitXml.fromfile(str(names[1]))) == 1
    assert names[2].read_text(encoding="utf-8") == run("check", "--markdown", BAD).stdout
    assert json.loads(names[3].read_text(encoding="utf-8")) == report(BAD)
    assert "report.txt: its ending says no form: .json (json), .sarif (sarif)" in refusal(
        "check", "--save", "report.txt", BAD
    )


def test_a_file_that_cannot_be_written(tmp_path):
    done = run("check", "--save", tmp_path / "none" / "a.md", BAD)
    assert isinstance(done.exception, OSError | click.ClickException)


def test_shared_captures_have_the_verdicts_that_were_read_by_eye():
    if not SHARED.exists():
        pytest.skip("needs the shared captures")
    expected = {
        "14-connect-to-self": [("warning", "same-zid"), ("note", "close-reason"), ("note", "handshake-refused")],
        "14-lease-expiry": [("warning", "lease-exceeded")],
        "15-dropped-segments": [],
        "15-snaplen-96": [],
        "16-version-0.11.0": [("warning", "version"), ("warning", "version")],
        "18-robot-fleet": [],
        "20-ros2-service-calls": [],
    }
    for name, found in expected.items():
        assert rules(SHARED / f"{name}.pcap") == found, name
    pico = Counter(rules("--profile", "pico-1.9", SHARED / "19-zenoh-pico-clients.pcap"))
    assert pico == {("note", "keep-alive-late"): 1}


def test_hostile_captures_end_with_a_verdict():
    folder = SHARED.parent / "cases" / "hostile"
    if not folder.exists():
        pytest.skip("needs the shared captures")
    for name in ("findmsgs.pcap", "joins.pcap", "overdue.pcap", "one-bit-flip.pcapng", "ts-2262-zenoh-row.pcapng"):
        done = run("check", "--sarif", folder / name)
        assert done.exception is None, name
        assert json.loads(done.stdout)["runs"][0]["properties"]["verdict"] in ("passed", "failed", "not judged")


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_frames_read_in_blocks_have_the_same_verdict(name, monkeypatch):
    plain = report(SAMPLES / name)
    monkeypatch.setattr("zdissect.fed.WORTH_FRAMES", 1)
    assert report(SAMPLES / name) == plain


def test_standard_input():
    done = CliRunner().invoke(cli, ["check", "--json", "-"], input=BAD.read_bytes(), standalone_mode=False)
    assert done.return_value == 3
    assert json.loads(done.stdout)["captures"][0]["files"] == ["-"]
