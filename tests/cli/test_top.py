"""`zdissect top`: of a file its last table; live one after the other, or in place on a terminal."""

import json
import os
import pty
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import cli
from tests.capturing import PATIENT, SAMPLES, stand_in
from tests.in_blocks import small_blocks
from zdissect import fed
from zdissect.capture import live
from zdissect.stats.activity import Activity
from zdissect.vector.usual_batches import UsualBatches

SAMPLE = str(SAMPLES / "declared-keys-router.pcap")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["top", *map(str, arguments)], standalone_mode=False)


def keys(table: str) -> list[str]:
    """The keys of a table, in order."""
    lines = table.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("Key "))
    return [line.split()[0] for line in lines[start + 1 :] if line and line[0] not in "(L"]


def test_a_file_gives_one_table() -> None:
    done = run(SAMPLE)
    assert done.return_value == 0
    first, *_ = done.stdout.splitlines()
    assert "130 frames" in first
    assert "135 messages, 49 values" in first
    assert keys(done.stdout)[0] == "factory/hall-1/cell-7/robot/arm/pose"
    assert '16 bytes  "after s2 is gone"' in done.stdout
    assert "(deleted)" in done.stdout


def test_json_is_an_object_for_each_table() -> None:
    done = run("--json", "--every", 1, SAMPLE)
    entries = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["final"] for one in entries] == [False, False, True]
    assert [one["ts_ns"] for one in entries] == sorted(one["ts_ns"] for one in entries)
    last = entries[-1]
    assert (last["frames"], last["messages"], last["values"]) == (130, 135, 49)
    assert sum(key["messages"] for key in last["keys"]) == 49
    table = run("--every", 1, SAMPLE).stdout.split("\nKey ")[-1]
    assert [key["key_expr"] for key in last["keys"]] == keys(f"Key {table}")
    by_name = {key["key_expr"].rpartition("/")[2]: key for key in last["keys"]}
    assert {key["value_bytes"] for key in last["keys"]} >= {None, 16}
    assert bytes.fromhex(by_name["pose"]["value"]) == b"after s2 is gone"
    assert all(key["value"] is None for key in last["keys"] if key["value_bytes"] is None)


def test_json_has_what_the_table_says_of_links_and_findings() -> None:
    first = json.loads(run("--json", "-c", 40, SAMPLE).stdout)
    assert first["links"]
    for link in first["links"]:
        assert [set(end) for end in link["ends"]] == [{"role", "zid", "address", "messages"}] * 2
    found = json.loads(run("--json", SAMPLES / "duplicate-sn.pcap").stdout)
    assert found["findings"] == {"sn-duplicate": 1, "sn-gap": 1}
    assert (found["last_finding"]["frame"], found["last_finding"]["code"]) == (5, "sn-gap")
    assert found["last_finding"]["severity"] == "warning"
    assert json.loads(run("--json", "--top", 2, SAMPLE).stdout)["more_keys"] == 4


@pytest.mark.parametrize(
    ("order", "first"),
    [("rate", "arm/pose"), ("bytes", "arm/pose"), ("messages", "arm/pose"), ("size", "arm/pose"), ("key", "cmd/go")],
)
def test_keys_are_put_in_the_order_that_is_asked_for(order: str, first: str) -> None:
    assert keys(run("--sort", order, SAMPLE).stdout)[0].endswith(first)


def test_so_many_keys_are_shown_and_the_rest_is_counted() -> None:
    done = run("--top", 2, SAMPLE)
    assert len(keys(done.stdout)) == 2
    assert "(4 more keys)" in done.stdout
    assert len(keys(run("--top", 0, SAMPLE).stdout)) == 6


def test_frames_that_come_together_give_the_same_table(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [SAMPLE, SAMPLES / "pubsub-tcp.pcap", SAMPLES / "duplicate-sn.pcap"]
    one_by_one = [run("--json", *every, name).stdout for name in names for every in ([], ["--every", 0.1])]
    counted, take = list[None](), Activity.usual

    def usual(known: Activity, batches: UsualBatches) -> Iterator[None]:
        for one in take(known, batches):
            counted.append(one)
            yield

    monkeypatch.setattr(Activity, "usual", usual)
    monkeypatch.setattr(fed, "MOST_WAITING", 30)
    with small_blocks(4):
        blocks = [run("--json", *every, name).stdout for name in names for every in ([], ["--every", 0.1])]
    assert blocks == one_by_one
    assert len(counted) > 10


def test_capture_time_makes_the_tables_of_a_file() -> None:
    done = run("--every", 1, SAMPLE)
    assert done.stdout.count("Key  ") == 3  # 2.8 s, and its end
    assert run("--every", 1, "-n", 1, SAMPLE).stdout.count("Key  ") == 1


def test_links_are_shown_with_both_sides(tmp_path: Path) -> None:
    one = tmp_path / "begins.pcap"
    one.write_bytes((SAMPLES / "pubsub-tcp.pcap").read_bytes()[:2600])
    done = run(one)
    assert done.return_value == 1  # it is cut
    assert "Opened by" in done.stdout
    assert "peer 34adcbe76c21f3f410dd19b2ebfe68a3 127.0.0.1:57592" in done.stdout


def test_findings_are_shown() -> None:
    done = run(SAMPLES / "trailing-byte.pcap")
    assert "findings: " in done.stdout
    assert "[vle-overlong]" in done.stdout or "last: frame" in done.stdout


def test_what_makes_no_sense_is_refused() -> None:
    done = CliRunner().invoke(cli, ["top", "-n", "3", SAMPLE])
    assert done.exit_code == 2
    assert "for files -n needs --every S" in done.stderr
    assert CliRunner().invoke(cli, ["top"]).exit_code == 2
    assert run("nosuch.pcap").return_value == 1


def test_live_it_is_shown_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "executable", lambda name: str(tmp_path / name) if (tmp_path / name).exists() else None)
    stand_in(tmp_path, "tcpdump", PATIENT)
    done = run("-i", "lo", "--every", 0.3, "-n", 2)
    assert done.return_value == 0
    assert done.stdout.count("Key  ") == 2
    assert "frames captured on lo" in done.stderr


def test_on_a_terminal_it_has_a_screen_of_its_own_and_the_last_table_stays(tmp_path: Path) -> None:
    stand_in(tmp_path, "tcpdump", PATIENT)
    pid, terminal = pty.fork()
    if not pid:
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        command = [sys.executable, "-m", "zdissect_cli", "top", "-i", "lo", "--every", "0.3", "-a", "duration:1.5"]
        os.execve(sys.executable, command, os.environ | {"PATH": path, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"})
    out = b""
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        out += piece
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
    screen, left, after = out.partition(b"\x1b[?1049l")
    assert b"\x1b[?1049h" in screen
    assert left
    assert b"Key  " in screen
    assert b"Key  " in after
    assert all(len(line) <= 80 for line in after.decode().split("\r\n") if "zdissect:" not in line)
