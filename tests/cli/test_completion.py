"""Completion by real shells, where they are installed: commands, options, field names, findings, files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

ROOT = Path(__file__).parents[2]
ENV = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

CASES = [
    (["zdissect", "que"], "queries"),
    (["zdissect", "samples/pubs"], "samples/pubsub-tcp.pcap"),
    (["zdissect", "--fr"], "--frame"),
    (["zdissect", "-T", "js"], "jsonl"),
    (["zdissect", "-T", "fields", "-e", "zenoh.push.sc"], "zenoh.push.scope"),
    (["zdissect", "samples/pubsub-tcp.pcap", "-O", "put,dec"], "put,declare"),
    (["zdissect", "explain", "sn-du"], "sn-duplicate"),
    (["zdissect", "fields", "zenoh.push.sc"], "zenoh.push.scope"),
    (["zdissect", "hex", "--as", "low"], "lowlatency"),
    (["zdissect", "stats", "samples/pubs"], "samples/pubsub-tcp.pcap"),
    (["zdissect", "keys", "--so"], "--sort"),
    (["zdissect", "export", "pay"], "payloads"),
]
"""Words so far, and what is among the completions of the last one."""


def shell(name: str, *arguments: str) -> str:
    if not shutil.which(name):
        pytest.skip(f"needs {name}")
    done = subprocess.run([name, *arguments], cwd=ROOT, env=ENV, capture_output=True, text=True, timeout=60)
    assert not done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    """The script for bash, in a file."""
    path = tmp_path_factory.mktemp("completion") / "zdissect"
    path.write_text(CliRunner().invoke(cli, ["completion", "bash"]).output)
    return path


def in_bash(script: Path, words: list[str]) -> list[str]:
    quoted = " ".join(f'"{word}"' for word in words)
    code = f"""source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}
        _zdissect_completion zdissect "{words[-1]}"; printf '%s\\n' "${{COMPREPLY[@]}}" """
    return shell("bash", "--norc", "-c", code).splitlines()


@pytest.mark.parametrize(("words", "found"), CASES, ids=lambda part: " ".join(part) if isinstance(part, list) else "")
def test_bash(script, words, found):
    assert found in in_bash(script, words)


@pytest.mark.parametrize("start", ["'message == PUSH and ", "'!(", "'"])
def test_filters_are_completed_in_quotes(script, start):
    """Bash replaces what is in the quotes."""
    assert f"{start[1:]}key_expr" in in_bash(script, ["zdissect", "-Y", f"{start}key_e"])


def test_options_of_captures_and_nothing_unknown(script):
    options = in_bash(script, ["zdissect", "-"])
    assert {"-Y", "--frame", "--config", "--help", "--version"} <= {*options}
    assert in_bash(script, ["zdissect", "explain", "no-such-thing-at-all"]) == [""]
    assert in_bash(script, ["zdissect", "stast", ""]) != ["Traceback"]


def test_fish():
    source = CliRunner().invoke(cli, ["completion", "fish"]).output
    for words, found in (CASES[0], CASES[4], CASES[6]):
        listed = shell("fish", "--no-config", "-c", f"{source}\ncomplete -C '{' '.join(words)}'")
        assert found in [line.split("\t")[0] for line in listed.splitlines()]


def test_zsh(tmp_path):
    path = tmp_path / "_zdissect"
    path.write_text(CliRunner().invoke(cli, ["completion", "zsh"]).output)
    assert path.read_text().startswith("#compdef zdissect")
    shell("zsh", "-n", str(path))
    env = {**ENV, "COMP_WORDS": "zdissect explain sn-du", "COMP_CWORD": "2", "_ZDISSECT_COMPLETE": "zsh_complete"}
    done = subprocess.run(["zdissect"], env=env, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "plain\nsn-duplicate\nfinding, warning\n"
