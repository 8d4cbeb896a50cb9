"""Help: examples first, options by their purpose, for every command; a page or two for the program itself."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner
from zdissect_cli.command import GROUPS, Command, called
from zdissect_cli.examples import EXAMPLES
from zdissect_cli.main import Commands, cli
from zdissect_cli.tshark_hints import OPTIONS

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 120}


def every_command() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """The words that call each command, and the command; those of groups, too."""
    context = click.Context(cli, info_name="zdissect", **SETTINGS)
    for name in Commands.modules:
        command = cli.get_command(context, name)
        if isinstance(command, click.Group):
            yield from (((name, below), command.commands[below]) for below in command.commands)
        else:
            assert command is not None
            yield (name,), command


COMMANDS = dict(every_command())


def help_of(*words: str, columns: int = 80) -> str:
    """The help, as a terminal of this width has it."""
    result = CliRunner(env={"COLUMNS": str(columns)}).invoke(cli, [*words, "--help"], terminal_width=columns)
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_starts_with_examples(words):
    text = help_of(*words)
    first = re.findall(r"^(\S[^\n]*):", text, re.MULTILINE)
    assert first[:2] == ["Usage", "Examples"]
    assert text.index("Examples:") < 700
    assert len(EXAMPLES[words[-1]]) > 1


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_option_is_in_a_group(words):
    command = COMMANDS[words]
    assert isinstance(command, Command)
    context = click.Context(command, info_name=" ".join(words), **SETTINGS)
    grouped = Counter(name for names in GROUPS.values() for name in names)
    assert not {name for name, times in grouped.items() if times > 1}
    text = help_of(*words)
    for param in command.get_params(context):
        if isinstance(param, click.Option) and not param.hidden:
            assert called(param) in grouped, f"put {param.opts} into a group of cli/command.py"
            assert re.search(rf"^  {re.escape(param.opts[0])}\b", text, re.MULTILINE), param.opts


def test_no_name_in_a_group_is_left_over():
    used = {called(param) for command in COMMANDS.values() for param in command.params} | {"help", "version"}
    assert {name for names in GROUPS.values() for name in names} <= used


@pytest.mark.parametrize("columns", [80, 120])
def test_the_first_page_is_short_and_leads_to_all(columns):
    text = help_of(columns=columns)
    lines = text.splitlines()
    assert len(lines) <= (84 if columns == 80 else 70)
    assert max(map(len, lines)) <= columns
    for name in set(Commands.modules) - {"dissect"}:
        assert re.search(rf"^  {name} ", text, re.MULTILINE), f"put {name} into Commands.kinds"
    assert "dissect --help" in text
    assert "--version" in text


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_fits_a_wide_terminal(words):
    lines = help_of(*words, columns=120).splitlines()
    assert not [line for line in lines if len(line) > 120 and not line.startswith("  zdissect ")]


def refused(*arguments: str) -> str:
    """What is said about wrong arguments."""
    done = subprocess.run(
        [sys.executable, "-m", "zdissect_cli", *arguments], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-z", "io,stat,1"], "statistics are commands: zdissect stats"),
        (["-T", "ek", "x.pcap"], "the closest is jsonl"),
        (["--fram", "17", "x.pcap"], "Did you mean '--frame'?"),
        (["statz", "x.pcap"], "did you mean 'stats'?"),
        (["completion"], "    bash,"),
        (["keys", "--srot", "bytes", "x.pcap"], "'--sort'"),
    ],
)
def test_errors_lead_to_what_there_is(arguments, said):
    assert said in refused(*arguments)


def test_hints_are_about_what_is_not_there():
    """None hides an option that there is, and each option that it names exists."""
    own = {option for param in COMMANDS[("dissect",)].params for option in param.opts}
    assert not own & OPTIONS.keys()
    for said in OPTIONS.values():
        for option in re.findall(r"(?<!tcpdump )(?<![\w-])--?[A-Za-z][a-z-]*", said):
            assert option in own | {"--config", "--help", "-s"}, f"{option} in {said!r}"
