"""What holds for everything with colours: `--color`, `--theme`, their settings, NO_COLOR; and what fits a terminal."""

import re

import pytest

from tests.cli.listings import SAMPLES, run
from tests.cli.terminals import terminal
from tests.ros2.truth import ROS
from zdissect.output.style import THEMES

ROUTER = SAMPLES / "declared-keys-router.pcap"
COLOURED = [
    ("-T", "line", ROUTER), (ROUTER,), ("stats", ROUTER), ("sessions", ROUTER),
    ("queries", SAMPLES / "query-router.pcap"), ("samples", ROUTER), ("declarations", ROUTER),
    ("findings", SAMPLES / "duplicate-sn.pcap"),
    ("why", "--key", "office/none", "--to", "be6c", ROUTER), ("ros2", "doctor", ROS / "service-calls.pcap"),
    ("check", SAMPLES / "trailing-byte.pcap"), ("diff", SAMPLES / "pico-clients.pcap", ROUTER), ("follow", "1", ROUTER),
    ("hex", "3d 00 03 6b 2f 61 01 03 31 31 31"),
]  # fmt: skip
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def colours(text: str) -> set[str]:
    return set(_ESCAPE.findall(text))


@pytest.mark.parametrize("args", COLOURED, ids=lambda args: " ".join(str(one) for one in args if "/" not in str(one)))
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_theme_holds_for_all_colours(args, theme, tmp_path):
    """From the command line, and as a setting; the usual 16 colours have others."""
    shown = run(*args, "--color", "always", "--theme", theme).stdout
    usual = run(*args, "--color", "always", "--theme", "ansi").stdout
    assert _ESCAPE.sub("", shown) == _ESCAPE.sub("", usual)
    own, others = (set(style[:-1]) | set(style.fields) for style in (THEMES[theme], THEMES["ansi"]))
    assert colours(shown) & own - others, "a colour of the theme's own"
    assert not colours(shown) & others - own, "and none of the usual ones"
    settings = tmp_path / "config.toml"
    settings.write_text(f'theme = "{theme}"\ncolor = "always"\n')
    assert run(*args, "--config", settings).stdout == shown


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize(
    "args",
    [("why", "--key", "factory/hall-1/cell-7/robot/arm/pose", "--to", "be6c", ROUTER),
     ("ros2", "doctor", ROS / "domains-and-mismatches.pcap")],
    ids=["why", "doctor"],
)  # fmt: skip
def test_texts_fit_a_terminal(args, columns):
    lines = terminal(columns, *args).splitlines()
    steps = lines[:-1] if args[0] == "why" else lines  # its verdict may be cut anywhere
    assert max(map(len, steps)) <= columns
    assert "\x1b" not in "".join(lines)
    words = " ".join(" ".join(lines).split())
    assert words == " ".join(run(*args).stdout.split())


def test_fields_have_no_escapes_without_colour():
    """On a narrow terminal their names are bold."""
    assert "\x1b" not in terminal(80, "fields", "push")
