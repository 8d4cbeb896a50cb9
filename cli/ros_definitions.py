"""Definitions of one's own for `--msgs DIR`: .msg, .srv and .action files."""

import os
from pathlib import Path

import click

from zdissect.ros2.naming import RosWords

from .options import DisplayOptions

_KINDS = {".msg": "msg", ".srv": "srv", ".action": "action"}
_MOST_BYTES = 1 << 20
"""Of a file: what is longer is no definition."""


def definitions(directories: tuple[str, ...]) -> dict[str, str]:
    """The texts of all definitions below some directories, by type: `pkg/msg/T`.

    The package is the name of the directory, without `msg`, `srv` or `action` that the file is in.

    Raises:
        click.BadParameter: A directory can't be read, or has none.
    """
    out: dict[str, str] = {}
    for name in directories:
        if not os.path.isdir(name):
            raise click.BadParameter(f"{name} isn't a directory", param_hint="'--msgs'")
        found = {}
        for path in sorted(Path(name).resolve().rglob("*")):
            kind = _KINDS.get(path.suffix)
            if kind is not None and path.is_file() and path.stat().st_size <= _MOST_BYTES:
                found[f"{_package(path)}/{kind}/{path.stem}"] = path.read_text(encoding="utf-8", errors="replace")
        if not found:
            raise click.BadParameter(f"there are no .msg, .srv or .action files below {name}", param_hint="'--msgs'")
        out |= found
    return out


def ros_words(display: DisplayOptions) -> RosWords | None:
    """What says what is of ROS 2 in an output; None if it isn't wanted."""
    return None if display.raw_keys else RosWords(definitions(display.msgs))


def _package(path: Path) -> str:
    """The package that a file is part of."""
    above = path.parent
    return above.parent.name if above.name in _KINDS.values() else above.name
