"""The README is true: its commands run, its outputs are those of today, its links lead somewhere.

In a `console` block `$` begins a command and the lines below it are its output, standard error included; a line `...`
stands for any lines. A `sh` block must run, a `python` block too. `<!-- not run: why -->` above a block excuses it,
`<!-- needs: program -->` where that program isn't there.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/architecture.md", "samples/README.md")

_BLOCK = re.compile(r"(?:^<!-- (not run|needs): ([^\n]+) -->\n)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    line: int
    excuse: str
    reason: str
    language: str
    text: str


def blocks(page: str, *languages: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [
        Block(text.count("\n", 0, match.start()) + 1, *match.groups(default="")) for match in _BLOCK.finditer(text)
    ]
    return [block for block in found if block.language in languages]


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command as a user would, with the zdissect that is installed here."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1", "COLUMNS": "80"}
    return subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=env, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
    )  # fmt: skip


def runs(page: str, *languages: str) -> list[Block]:
    return [block for block in blocks(page, *languages) if block.excuse != "not run"]


def needs(block: Block) -> None:
    if block.excuse == "needs" and not shutil.which(block.reason):
        pytest.skip(f"needs {block.reason}")


def lines_of(block: Block) -> str:
    return f"line{block.line}"


@pytest.mark.parametrize("block", runs("README.md", "console"), ids=lines_of)
def test_shown_output(block):
    needs(block)
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, shown = part.split("\n", 1)
        output = shell(command).stdout
        rows = ["(?:.*\n)*?" if row == "..." else re.escape(row) + " *\n" for row in shown.splitlines()]
        fits = re.fullmatch("".join(rows), output) is not None
        assert fits, f"README.md:{block.line}: $ {command}\n\nsays\n\n{output}"


@pytest.mark.parametrize("block", runs("README.md", "sh"), ids=lines_of)
def test_commands_run(block):
    needs(block)
    for command in block.text.splitlines():
        done = shell(command)
        assert done.returncode == 0, f"README.md:{block.line}: {command}\n\n{done.stdout}"
        assert done.stdout


@pytest.mark.parametrize("block", runs("README.md", "python"), ids=lines_of)
def test_library_use(block):
    done = subprocess.run([sys.executable, "-c", block.text], cwd=ROOT, text=True, capture_output=True, timeout=120)
    assert not done.stderr
    assert "factory/hall-1/cell-7/robot/arm/pose" in done.stdout


def test_options_and_commands_exist():
    """Whatever isn't run is at least not made up."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names = "'' dissect hex stats top sessions follow batch check diff why fields explain"
    known = shell(f"for command in {names}; do zdissect $command --help; done").stdout
    commands = [line for block in blocks("README.md", "sh", "console") for line in block.text.splitlines()]
    calls = [re.split(r"[|;>]", call)[0] for line in commands for call in re.findall(r"\bzdissect (.*)", line)]
    used = {
        word for call in calls for word in re.findall(r"(?<!\S)--?[a-zA-Z][a-z-]*", re.sub(r"'.*?'|\".*?\"", "", call))
    }
    used |= {*re.findall(r"`(--[a-z-]+)`", text)}
    missing = {option for option in used if not re.search(rf"(?<![\w-]){option}\b", known)}
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http://", "https://")):
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_paths_exist(page):
    """Those in backticks, and the modules in figures; one may be named below `zdissect`, as `output/tree.py`."""
    text = (ROOT / page).read_text(encoding="utf-8")
    named = {*re.findall(r"`((?:[\w-]+/)+(?:[\w-]+\.\w+)?)`", text)}
    figures = "\n".join(line for line in text.splitlines() if line.startswith("    "))
    parts = "capture|dissector|engine|export|flow|output|session|spark"
    named |= {f"{module}.py" for module in re.findall(rf"(?:^ *|[─▶,] ?)((?:{parts})/\w+)", figures, re.MULTILINE)}
    missing = {path for path in named if not any((ROOT / top / path).exists() for top in ("", "zdissect"))}
    assert len(named) > 5
    assert not missing


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_every_part_is_named(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    parts = {
        path.stem for path in (ROOT / "zdissect").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    rows = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    known = {"__init__", "__main__", *(("grammar", "records") if page != "CONTRIBUTING.md" else ())}
    missing = {part for part in parts - known if not re.search(rf"`(?:zdissect/)?{part}(?:\.py)?`", rows)}
    assert not missing
