"""The file of settings: what it sets, who wins, what is said where it is wrong; and `zdissect config`."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from zdissect_cli.main import cli
from zdissect_cli.options import DisplayOptions
from zdissect_cli.settings import KEYS, usual_path

SAMPLE = str(Path(__file__).parents[2] / "samples" / "pubsub-tcp.pcap")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the program, with a text as the file of settings."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("ZDISSECT_CONFIG", raising=False)
    for variable in ("PAGER", "ZDISSECT_PAGER", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)

    def start(text: str | None, *arguments: str) -> Result:
        path = Path(usual_path())
        if text is not None:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return CliRunner().invoke(cli, arguments)

    return start


def test_defaults_are_those_of_the_options():
    known = DisplayOptions()
    for name, key in KEYS.items():
        if key.parameter and key.parameter != "rules":
            assert key.default == getattr(known, key.parameter), name


def test_the_file_sets_defaults_and_the_command_line_wins(run):
    lines = run('form = "line"\ntime = "r"\n', "--frame", "17", SAMPLE).stdout
    assert "   17   0.913778" in lines
    assert "   17 1795815925.92" in run(None, "-t", "e", "--frame", "17", SAMPLE).stdout
    assert run(None, "-T", "tree", "--frame", "17", SAMPLE).stdout.startswith("Frame 17  0.913778")
    assert run(None, "--no-config", "--frame", "17", SAMPLE).stdout.startswith("Frame 17  21:45:25")
    assert "+0." not in run(None, "findings", SAMPLE).stdout


def test_columns_are_those_of_fields_and_csv(run):
    assert run('columns = ["frame.number", "key_expr"]', "-T", "csv", "--frame", "17", SAMPLE).stdout == (
        "frame.number,key_expr\n17,\n17,nano/t0\n"
    )
    assert run(None, "-T", "fields", "-e", "sn", "--frame", "17", SAMPLE).stdout == "192036580\n192036580\n"
    assert run(None, "--frame", "17", SAMPLE).exit_code == 0  # a tree has none
    wrong = run('\n\ncolumns = ["frame.numer"]', "-T", "csv", SAMPLE)
    assert wrong.exit_code == 2
    assert "line 3: no field or column is called 'frame.numer'; did you mean frame.number" in wrong.stderr


def test_ports_and_colours(run):
    text = 'decode-as = ["tcp.port==7447,zenoh"]\ncolor = "always"\n'
    assert "\x1b[" in run(text, "--frame", "17", SAMPLE).stdout
    assert "\x1b[" in run(None, "hex", "04").stdout
    assert "\x1b[" not in run(None, "hex", "--color", "never", "04").stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('\ncolour = "never"', "line 2: there is no setting 'colour'; did you mean color"),
        ('x = 1\ncolor = "never"', "line 1: there is no setting 'x': there are form, columns"),
        ('color = "red"', "line 1: color = 'red' isn't one of auto, always, never"),
        ('time = "r"\npayload-bytes = 0', "line 2: payload-bytes = 0 isn't a number above 0"),
        ('decode-as = "tcp.port==9000"', "isn't a list of strings"),
        ('decode-as = ["tcp.port==9000"]', "line 1: decode-as = ['tcp.port==9000']: 'tcp.port==9000' isn't understood"),
        ("pager = 3", "pager = 3 is neither a command nor false"),
        ("[color]\n", "line 1: color = {} isn't one of"),
        ("time = \n", "line 1, column 8"),
        ('time = "r"\ntime = "r"', "config.toml: end of document: Cannot overwrite"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(run, text, said):
    result = run(text, SAMPLE)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.startswith("Error: ") or "config.toml" in result.stderr
    assert not result.stdout
    assert run(None, "--no-config", "--frame", "17", SAMPLE).exit_code == 0


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("command", [["-q", SAMPLE], ["keys", SAMPLE], ["export", "payloads", "-h"]])
def test_the_file_may_be_named(run, tmp_path, order, command):
    path = tmp_path / "other.toml"
    option = ["--config", str(path)]
    arguments = [*option, *command] if order == "before" else [*command[:-1], *option, command[-1]]
    missing = run(None, *arguments)
    assert (missing.exit_code, "there is no such file" in missing.stderr) == (2, True) or "-h" in command
    path.write_text('time = "r"')
    assert run(None, *arguments).exit_code == 0


def test_two_options_exclude_each_other(run):
    for arguments in (("--no-config", "--config", "x", SAMPLE), (SAMPLE, "--config", "x", "--no-config")):
        result = run(None, *arguments)
        assert result.exit_code == 2
        assert "leave one of them out" in result.stderr


def test_config_prints_what_is_in_force(run, monkeypatch):
    out = run('time = "r"\n\npager = "less -R"\n', "config").stdout
    assert out.splitlines()[0].endswith("zdissect/config.toml:")
    assert [line.split("#") for line in out.splitlines() if "line" in line] == [
        ['time = "r"          ', " line 1"],
        ['pager = "less -R"   ', " line 3"],
    ]
    monkeypatch.setenv("ZDISSECT_PAGER", "more")
    monkeypatch.setenv("NO_COLOR", "1")
    out = run(None, "config").stdout
    assert 'pager = "more"' in out
    assert "ZDISSECT_PAGER" in out
    assert "built in, and NO_COLOR is set" in out
    assert run(None, "--no-config", "config").stdout.startswith("# no file is read\n")


def test_the_example_is_a_file(run):
    example = run(None, "config", "--example").stdout
    assert all(f"# {name} = " in example for name in KEYS)
    taken = "\n".join(line.removeprefix("# ") for line in example.splitlines() if " = " in line)
    assert run(taken, "config").exit_code == 0
    assert run(example, "--frame", "17", SAMPLE).exit_code == 0
