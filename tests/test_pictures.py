"""The pictures of the README are what the script makes, and the script makes what zdissect prints."""

import html
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "img"


def text(path: Path) -> str:
    """What a picture says, without colours and places."""
    return html.unescape("".join(re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))))


def test_they_say_what_is_printed(tmp_path: Path) -> None:
    """Not byte by byte: places depend on the version of rich."""
    subprocess.run([sys.executable, "docs/pictures.py", str(tmp_path)], cwd=ROOT, check=True)
    made = {path.name: text(path) for path in tmp_path.iterdir()}
    assert made == {path.name: text(path) for path in PICTURES.iterdir()}, "run python docs/pictures.py"
    assert "nano\u00a0message\u00a00" in made["line-dark.svg"]


def test_they_ask_no_server_for_anything() -> None:
    for path in PICTURES.iterdir():
        addresses = {*re.findall(r"https?://[^\s\"')]+", path.read_text(encoding="utf-8"))}
        assert addresses <= {"http://www.w3.org/2000/svg"}


def test_the_readme_shows_them() -> None:
    shown = re.findall(r"docs/img/([\w-]+\.svg)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert shown
    assert all((PICTURES / name).exists() for name in shown)
