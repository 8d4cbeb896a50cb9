"""`--grep`, and the colours: of what is found, by theme, and whether there are any."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from zdissect_cli.common import style_of, wants_color
from zdissect_cli.main import cli

from zdissect.output.style import THEMES

FIRST = str(Path(__file__).parents[2] / "samples" / "pubsub-tcp.pcap")


def run(*args: str) -> Result:
    return CliRunner().invoke(cli, args, standalone_mode=False)


def test_lines_that_hold_a_text() -> None:
    plain = run("-T", "line", FIRST).stdout.splitlines()
    found = run("-T", "line", "--grep", "message 1", FIRST).stdout.splitlines()
    assert found == [line for line in plain if " ─ " in line or "message 1" in line], "and who talks"


@pytest.mark.parametrize(("text", "times"), [("put", 4), ("PUT", 4), ("Put", 0), ("NANO/T0", 0), (".", 23)])
def test_capitals_make_it_exact(text: str, times: int) -> None:
    out = run("-T", "line", "--grep", text, FIRST).stdout.splitlines()
    assert len([line for line in out if " ─ " not in line]) == times


def test_batches_of_the_tree_that_hold_a_text() -> None:
    out = run("--grep", "message 1", FIRST).stdout
    assert out == run("--frame", "18", FIRST).stdout
    assert run("--grep", "no such text", FIRST).stdout == ""


def test_only_what_is_shown_counts() -> None:
    bad = str(Path(FIRST).parent / "duplicate-sn.pcap")
    assert run("-T", "line", "--fail-on", "note", "--grep", "181513", bad).return_value == 0
    assert run("-T", "line", "--fail-on", "note", "--grep", "repeated", bad).return_value == 3


def test_what_is_found_is_reversed_whatever_its_colours() -> None:
    out = run("-T", "line", "--color", "always", "--grep", "put   nano/t1", FIRST).stdout
    assert "\x1b[7m" not in out
    out = run("-T", "line", "--color", "always", "--grep", "t1               ", FIRST).stdout.splitlines()[-1]
    assert "\x1b[7mt1" in out
    plain = run("-T", "line", "--grep", "t1              ", FIRST).stdout.splitlines()[-1]
    assert re.sub(r"\x1b\[[0-9;]*m", "", out) == plain


def test_it_needs_lines() -> None:
    done = CliRunner().invoke(cli, ["--grep", "x", "-T", "jsonl", FIRST])
    assert done.exit_code == 2
    assert "--grep needs -T tree or -T line" in done.stderr


@pytest.mark.parametrize(
    ("ground", "theme"),
    [
        ("15;0", "dark"),
        ("0;15", "light"),
        ("0;7", "light"),
        ("12;8", "dark"),
        ("default;default", "ansi"),
        ("", "ansi"),
    ],
)
def test_the_theme_fits_the_background(ground: str, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORFGBG", ground)
    assert style_of("auto") is THEMES[theme]
    assert style_of("light") is THEMES["light"]


@pytest.mark.parametrize(
    ("env", "colour"),
    [
        ({}, False),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"CLICOLOR_FORCE": "0"}, False),
        ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_who_decides_on_colour(env: dict[str, str], colour: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert wants_color("auto") == colour
    assert wants_color("always")
    assert not wants_color("never")
