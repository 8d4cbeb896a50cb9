"""The pictures of the README: what zdissect prints on a terminal, as SVG.

    python docs/pictures.py [DIRECTORY] [--columns N]

writes each into docs/img, for dark and for light pages; with `--columns` as in a terminal of another width. To look at
them without a browser: `rsvg-convert docs/img/line-dark.svg -o line.png`.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from zdissect_cli.main import cli

ROOT = Path(__file__).resolve().parents[1]

VIEWS = {
    "tree": (100, ("--frame", "17", "samples/pubsub-tcp.pcap")),
    "line": (120, ("-T", "line", "samples/pubsub-tcp.pcap")),
    "findings": (120, ("-T", "line", "--frame", "3-6", "samples/duplicate-sn.pcap")),
    "stats": (100, ("stats", "samples/query-router.pcap")),
}
"""Name of the picture, columns of the terminal, command."""

_ANSI = [(40, 44, 52), (224, 108, 117), (152, 195, 121), (229, 192, 123), (97, 175, 239), (198, 120, 221),
         (86, 182, 194), (171, 178, 191)]  # fmt: skip
GROUNDS = {
    "dark": TerminalTheme((24, 26, 31), (208, 212, 220), _ANSI),
    "light": TerminalTheme((252, 252, 250), (40, 42, 48), [tuple(part // 2 for part in colour) for colour in _ANSI]),
}

_FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "Fira Code", "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; white-space: pre; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: arial, sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""Rich's own, without a font from another server."""


class Terminal(StringIO):
    """Standard output that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def printed(arguments: Sequence[str], columns: int, ground: str) -> str:
    """What a command prints on a terminal of that width and background."""
    os.environ |= {
        "COLUMNS": str(columns),
        "COLORFGBG": "15;0" if ground == "dark" else "0;15",
        "TERM": "xterm-256color",
    }
    os.environ.pop("NO_COLOR", None)
    before, sys.stdout = sys.stdout, Terminal()
    try:
        cli.main(
            [arguments[0], "-q", *arguments[1:]] if arguments[0] == "stats" else ["-q", *arguments],
            standalone_mode=False,
        )
        return sys.stdout.getvalue()
    finally:
        sys.stdout = before


def picture(name: str, text: str, columns: int, ground: str, title: str) -> str:
    """The text as SVG."""
    console = Console(width=columns, record=True, file=StringIO(), force_terminal=True, color_system="truecolor")
    for line in text.splitlines():
        console.print(Text.from_ansi(line), soft_wrap=False, overflow="fold", highlight=False)
    return console.export_svg(
        title=title, theme=GROUNDS[ground], code_format=_FORMAT, unique_id=f"{name}-{ground}", font_aspect_ratio=0.602
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the pictures of the README.")
    parser.add_argument("directory", nargs="?", default=str(ROOT / "docs" / "img"))
    parser.add_argument("--columns", type=int, help="Width of the terminal, if not that of the README.")
    options = parser.parse_args()
    target = Path(options.directory).resolve()
    target.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    for name, (columns, arguments) in VIEWS.items():
        width = options.columns or columns
        for ground in GROUNDS:
            text = printed(arguments, width, ground)
            svg = picture(name, text, width, ground, f"zdissect {' '.join(arguments)}")
            (target / f"{name}-{ground}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
