"""`--limit fragments=1G`: how much memory each kind of state may take."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

from zdissect.limits import NAMES, UNITS, Limits

Command = TypeVar("Command", bound=Callable[..., Any])
_SIZE = re.compile(rf"(\d+)([{UNITS}]?)(?:i?B)?", re.IGNORECASE)
LEAST = 1 << 16
"""Bytes below which not even ordinary traffic could be explained."""

_option = click.option(
    "--limit", "limits", multiple=True, metavar="NAME=SIZE",
    help=f"Most memory for one kind of state, as in fragments=1G: {', '.join(NAMES)}.",
)  # fmt: skip


def and_limits(option: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """An option that says how captures are dissected, and `--limit`, which all such commands have."""
    return lambda command: option(_option(command))


def memory_limits(texts: tuple[str, ...]) -> Limits:
    """The limits with these changes. Raises click.BadParameter for one that isn't understood."""
    limits = Limits()
    for text in texts:
        name, _, size = (part.strip() for part in text.partition("="))
        match = _SIZE.fullmatch(size)
        if name not in NAMES:
            why = f"{name!r} has no limit; there are {', '.join(NAMES)}"
        elif match is None:
            why = f"{text!r} isn't understood; write {name}=256M"
        else:
            most = int(match[1]) << 10 * (UNITS.index(match[2].upper()) + 1 if match[2] else 0)
            why = f"{text!r} is too little; {name}={LEAST >> 10}K is the least" if most < LEAST else ""
            limits = replace(limits, **{name: most})
        if why:
            raise click.BadParameter(why, param_hint="--limit")
    return limits
