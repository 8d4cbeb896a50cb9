"""Runs the commands that list what is in a capture, and what the tests compare their tables with."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from zdissect_cli.main import cli

SAMPLES = Path(__file__).parents[2] / "samples"
SHARED = SAMPLES.parents[1] / "shared" / "captures"
EXPECTED = json.loads((SAMPLES / "expected.json").read_text())
COMMANDS = ("sessions", "keys", "queries", "samples", "declarations", "findings")


def run(*args: str | Path) -> Result:
    """Runs a command line."""
    return CliRunner().invoke(cli, [*map(str, args)], standalone_mode=False)


def listed(command: str, *args: str | Path) -> list[dict[str, Any]]:
    """The rows of a table, from JSON."""
    done = run(command, "--json", *args)
    assert done.exception is None, done.exception
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def as_csv(command: str, *args: str | Path) -> list[dict[str, str]]:
    """The rows of a table, from CSV."""
    return list(csv.DictReader(io.StringIO(run(command, "--csv", *args).stdout)))


def messages(name: str) -> list[dict[str, Any]]:
    """The rows of the message table of a sample, which the tests count by themselves."""
    return [json.loads(line) for line in run("-T", "jsonl", SAMPLES / name).stdout.splitlines()]


def sidecar(name: str) -> dict[str, Any]:
    """What the applications of a shared capture did, as they saw it."""
    path = SHARED / f"{name}.json"
    if not path.exists():
        pytest.skip("needs the shared captures")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def refusal(*args: str | Path) -> str:
    """Why a command line is refused."""
    done = run(*args)
    assert isinstance(done.exception, click.UsageError)
    assert done.exception.exit_code == 2
    assert done.stdout == ""
    return done.exception.format_message()
