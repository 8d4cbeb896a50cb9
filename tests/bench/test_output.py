"""How fast tapes become text and rows, and how fast the program starts. Run with `pytest tests/bench`."""

import subprocess
import sys

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from zdissect.capture import open_capture
from zdissect.dissection import Dissection
from zdissect.engine.interpreter import interpret
from zdissect.engine.messages import messages
from zdissect.grammar.network import PUSH
from zdissect.output.jsonl import JsonlWriter
from zdissect.output.style import COLOUR, PLAIN, Style
from zdissect.output.tree import TreeWriter
from zdissect.pipeline import Options, dissect

RICH = bytes.fromhex(
    "fd02042f722f62 a10d c212b0b6b8d1dafffb846b08a8a7a6a5a4a3a2a1 3301"
    "e1 b0b6b8d1dafffb846b 09a8a7a6a5a4a3a2a1a0 09057574662d38 c1051002bb064d c903616263 4303617474 0474657874"
)
LEAN = bytes.fromhex("fd02042f722f62 210d 01 0474657874")


@pytest.mark.parametrize("message", [RICH, LEAN], ids=["rich", "lean"])
@pytest.mark.parametrize("style", [PLAIN, COLOUR], ids=["plain", "colour"])
def test_tree_text(benchmark: BenchmarkFixture, message: bytes, style: Style) -> None:
    """Bytes to the lines of a tree."""
    writer = TreeWriter(style)
    text = benchmark(lambda: "\n".join(writer.lines(interpret(PUSH, message))))
    assert '4 bytes  "text"' in text


@pytest.mark.parametrize("message", [RICH, LEAN], ids=["rich", "lean"])
def test_rows(benchmark: BenchmarkFixture, message: bytes) -> None:
    """Bytes to a row."""
    (row,) = benchmark(lambda: messages(interpret(PUSH, message)))
    assert row.row["payload"] == b"text"


def test_capture_to_json_lines(benchmark: BenchmarkFixture) -> None:
    """A small capture, from the file to JSON lines."""

    def run() -> int:
        writer = JsonlWriter()
        with open_capture("samples/pico-clients.pcap") as capture:
            items = dissect(capture, Options())
            return sum(len(line) for item in items if isinstance(item, Dissection) for line in writer.lines(item))

    assert benchmark(run) > 10_000


@pytest.mark.parametrize("arguments", [["--help"], ["hex", "04"]], ids=["help", "hex"])
def test_start_up(benchmark: BenchmarkFixture, arguments: list[str]) -> None:
    """From the shell to the end."""
    command = [sys.executable, "-m", "zdissect_cli", *arguments]

    def start() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(command, capture_output=True, check=True)

    assert benchmark.pedantic(start, rounds=5, warmup_rounds=1).returncode == 0
