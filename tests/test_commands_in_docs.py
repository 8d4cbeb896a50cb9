"""Every `zdissect` command in the docs and in the help runs, in a directory that holds what it reads.

The README has tests of its own (`test_readme`), which compare outputs, too. What can't run here stands in `EXCUSED`.
"""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from zdissect_cli.examples import EXAMPLES
from zdissect_cli.main import cli

ROOT = Path(__file__).parents[1]
PAGES = sorted(path.name for path in (ROOT / "docs").glob("*.md"))

EXCUSED = {
    r"-i lo|-i eth": "captures",
    r"\btcpdump\b|\bssh\b": "needs permission to capture",
    r"--spark\b": "starts Spark, which has tests of its own",
    r"hdfs:|s3a:|abfss:": "needs a cluster",
    r" >>? ~/": "writes to the home directory",
    r"--config FILE|-Y \.\.\.|\bOUT\b|\bDIR\b|'EXPR'|FILE\.\.\.": "has a placeholder",
}
"""Commands that aren't run, by a pattern, and why."""

SHELL = re.compile(r"[|<>;&$`]")


def fenced(page: str) -> Iterator[str]:
    """The commands in the blocks of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```(?:sh|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            command = re.sub(r"\s+#.*", "", line.removeprefix("$ "))
            if command.startswith("zdissect "):
                yield command


def in_table() -> Iterator[str]:
    """The commands of zdissect in the table for tshark's users."""
    text = (ROOT / "docs" / "from-tshark.md").read_text(encoding="utf-8")
    return (
        command for row in text.splitlines() if row.startswith("|") for command in re.findall(r"`(zdissect .*?)`", row)
    )


COMMANDS = sorted(
    {command for page in PAGES for command in fenced(page)}
    | {*in_table()}
    | {line for examples in EXAMPLES.values() for line, _ in examples if "zdissect" in line}
)
RUN = [command for command in COMMANDS if not any(re.search(pattern, command) for pattern in EXCUSED)]


@pytest.fixture
def there(tmp_path, monkeypatch):
    """A directory with what commands read."""
    (tmp_path / "captures").mkdir()
    for name in ("capture.pcap", "robot.pcap", "captures/one.pcap"):
        (tmp_path / name).symlink_to(ROOT / "samples" / "query-router.pcap")
    (tmp_path / "captures" / "two.pcapng").symlink_to(ROOT / "samples" / "pubsub-tcp.pcap")
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    (tmp_path / "known.json").write_text('{"format": "zdissect-baseline", "version": 1, "violations": []}')
    (tmp_path / "dump.txt").write_text("3d 00 03 6b 2f 61 01 03 31 31 31")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("command", RUN)
def test_commands_run(command):
    if SHELL.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", command)):
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        if re.search(r"\| jq\b", command) and not shutil.which("jq", path=path):
            pytest.skip("needs jq")
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command], env={"PATH": path}, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return
    result = CliRunner().invoke(cli, shlex.split(command)[1:], standalone_mode=False)
    assert result.exception is None, result.exception
    assert result.return_value in ((0, 3) if "--fail-on" in command else (0, 1) if " diff " in command else (0,)), (
        result.output
    )


def test_every_excuse_is_needed_and_most_run():
    assert len(RUN) > 70
    needless = {pattern for pattern in EXCUSED if not any(re.search(pattern, command) for command in COMMANDS)}
    assert needless <= {r"hdfs:|s3a:|abfss:", r"--spark\b"}
