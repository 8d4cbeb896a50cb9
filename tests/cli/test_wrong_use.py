"""Command lines that can't be meant: what is said, and that nothing else happens."""

from pathlib import Path

import pytest

from tests.cli.listings import SAMPLES, refusal, run
from zdissect.filters import suggest

FIRST = SAMPLES / "pubsub-tcp.pcap"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("keys --json --csv", "--json excludes --csv: leave one of them out"),
        ("queries --csv --json", "--csv excludes --json: leave one of them out"),
        ("follow --raw --json 1", "--raw excludes --json: leave one of them out"),
        ("--brief", "--brief is about lines: it needs -T line, not -T tree"),
        ("--long -T jsonl", "--long is about lines: it needs -T line, not -T jsonl"),
        ("follow", "is a file: what to follow comes before it"),
        ("anonymize", "give captures to read, and a file to write"),
        ("export", "zdissect export payloads FILE... -o DIR"),
    ],
)
def test_options_that_exclude_each_other_and_what_is_missing(words, why):
    assert why in refusal(*words.split(), FIRST)


def test_what_is_followed_after_the_file():
    assert "is a file: what to follow comes before it" in refusal("follow", FIRST, "1")
    assert run("keys", "--json", "--json", FIRST).return_value == 0


@pytest.mark.parametrize("words", [["follow", "1"], ["-Y", "request.answered"], ["queries", "-Y", "request.answered"]])
@pytest.mark.parametrize(("name", "why"), [("none.pcap", "there is no such file"), ("", "it is a directory")])
def test_a_file_that_cannot_be_read_is_the_only_fault(words, name, why, tmp_path):
    """Not that there is no session 1, which isn't known, and not that a directory is a pipe."""
    done = run(*words, tmp_path / name)
    assert done.return_value == 1
    (line,) = done.stderr.splitlines()
    assert why in line


def test_nothing_is_made_for_captures_that_cannot_be_read(tmp_path):
    """The next attempt, with the name of the file put right, isn't refused for what the first has left."""
    out = tmp_path / "out"
    assert run("export", "payloads", tmp_path / "none.pcap", "-o", out).return_value == 1
    assert not out.exists()
    assert run("export", "payloads", FIRST, "-o", out).return_value == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--grep", "zzz"], "nothing holds 'zzz' in 36 frames"),
        (["-Y", "message == JOIN"], "nothing matches message == JOIN in 36 frames"),
        (["-Y", "zenoh", "--grep", "zzz"], "nothing matches zenoh and holds 'zzz' in 36 frames"),
        (["--frame", "1"], "no Zenoh found in frame 1, of 36"),
    ],
)
def test_what_there_is_not(options, said):
    assert run(*options, "-T", "line", FIRST).stderr.strip().startswith(f"zdissect: {said}")


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("zenoh.init_syn", "zenoh.transport.init_syn,"),
        ("zenoh.priority", "priority,"),
        ("zenoh.sn", "sn,"),
        ("zenoh.express", "express,"),
        ("tcp.payload", "zenoh.put.payload,"),
        ("zenoh.pusj.scope", "zenoh.push.scope,"),
    ],
)
def test_names_that_end_alike_come_first(asked, found):
    assert suggest(asked).startswith(f"did you mean {found}")


def test_options_of_tshark_have_a_word_on_what_there_is_instead(capsys, monkeypatch: pytest.MonkeyPatch):
    from zdissect_cli.main import main

    monkeypatch.setattr("sys.argv", ["zdissect", "-z", "io,stat,1", str(Path(FIRST))])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "No such option '-z'." in said
    assert "zdissect stats" in said
