"""`--limit NAME=SIZE`."""

from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli
from zdissect_cli.memory_limits import memory_limits

from zdissect.limits import NAMES, Limits, size_text

SAMPLES = Path(__file__).parents[2] / "samples"


def test_sizes() -> None:
    assert memory_limits(()) == Limits()
    assert memory_limits(("fragments=1G", "sessions = 300000")) == replace(
        Limits(), fragments=1 << 30, sessions=300_000
    )
    assert memory_limits(("streams=64k",)).streams == 1 << 16
    assert [size_text(size) for size in (1 << 30, 3 << 20, 300_000)] == ["1G", "3M", "300000"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("fragment=1G", f"'fragment' has no limit; there are {', '.join(NAMES)}"),
        ("fragments", "'fragments' isn't understood; write fragments=256M"),
        ("fragments=-1", "'fragments=-1' isn't understood; write fragments=256M"),
        ("fragments=1K", "'fragments=1K' is too little; fragments=64K is the least"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(text: str, why: str) -> None:
    with pytest.raises(click.BadParameter) as raised:
        memory_limits((text,))
    assert raised.value.message == why


def test_a_limit_doesnt_change_what_fits() -> None:
    arguments = ["-T", "line", str(SAMPLES / "pubsub-tcp.pcap")]
    plain, limited = (CliRunner().invoke(cli, [*more, *arguments]) for more in ([], ["--limit", "sessions=64K"]))
    assert limited.exit_code == 0
    assert limited.stdout == plain.stdout
    assert CliRunner().invoke(cli, ["--limit", "no=1", *arguments]).exit_code == 2
