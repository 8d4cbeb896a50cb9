"""Progress over files: on a terminal only, gone at the end, none with -q, none where the output itself is seen."""

import sys
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from zdissect_cli import file_progress
from zdissect_cli.file_progress import FileProgress
from zdissect_cli.main import cli

SAMPLE = str(Path(__file__).parents[2] / "samples" / "pubsub-tcp.pcap")


class Terminal(StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def written(monkeypatch):
    """Runs a command with a terminal as standard error; what was written there about progress."""
    monkeypatch.setattr(file_progress, "_FIRST_S", 0)
    monkeypatch.setattr(file_progress, "_EVERY_S", 0)
    monkeypatch.setattr(file_progress, "_FRAMES", 10)
    monkeypatch.setenv("TERM", "xterm")

    def run(*arguments: str, out_is_terminal: bool = False) -> str:
        errors = Terminal()
        with CliRunner().isolation():
            monkeypatch.setattr(sys, "stderr", errors)
            if out_is_terminal:
                monkeypatch.setattr(sys, "stdout", Terminal())
            cli.main([*arguments], standalone_mode=False)
        monkeypatch.undo()
        return errors.getvalue()

    return run


def test_a_dissection_to_a_file(written):
    text = written("-T", "jsonl", SAMPLE)
    assert "\r\x1b[K100 % of 0.0 MB, 10 frames, 0 s left" in text
    assert text.rsplit("\r\x1b[K", 1)[1].startswith(("zdissect:", "")), "the line is gone before anything else is said"


def test_tables_and_numbers_on_a_terminal(written):
    assert "10 frames" in written("stats", SAMPLE, out_is_terminal=True)


@pytest.mark.parametrize("arguments", [("-q", "-T", "jsonl", SAMPLE), ("keys", "-q", SAMPLE)])
def test_none_if_quiet(written, arguments):
    assert written(*arguments) == ""


def test_none_where_the_output_is_seen(written):
    assert "frames," not in written("--no-pager", "-T", "line", SAMPLE, out_is_terminal=True)


def test_none_where_there_is_no_terminal():
    assert "frames," not in CliRunner().invoke(cli, ["stats", SAMPLE]).stderr


def test_what_it_says():
    progress = FileProgress(())
    progress.total, progress.frames = 4_000_000_000, 7
    assert progress.text(1_000_000_000, 60) == "25 % of 4000.0 MB, 7 frames, 3 min 0 s left"
    assert progress.text(2_000_000_000, 5) == "50 % of 4000.0 MB, 7 frames, 5 s left"
    assert progress.text(0, 5) == "7 frames, 5 s"
    assert progress.text(5_000_000_000, 5) == "7 frames, 5 s"
