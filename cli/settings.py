"""What a user has set once and for all, in a file: `color = "never"`. The command line wins, then the file.

The file is config.toml in the directory that the platform has for it (~/.config/zdissect, or where XDG_CONFIG_HOME
says); `--config FILE` reads another, `--no-config` none. A setting is a row of `KEYS`.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import click

from zdissect.output.time_formats import FORMATS

from .common import nearest

_META = "zdissect.settings"


class BadSetting(click.ClickException):
    """A file of settings that can't be read or isn't understood: which, where, what."""

    exit_code = 2


def _choice(*values: str) -> Callable[[Any], str]:
    """What is wrong with a value that isn't one of these."""
    return lambda value: "" if value in values else f"isn't one of {', '.join(values)}"


def _texts(value: Any) -> str:
    return "" if isinstance(value, list) and all(isinstance(one, str) for one in value) else "isn't a list of strings"


def _rules(value: Any) -> str:
    if wrong := _texts(value):
        return wrong
    from .decode_as import decode_as

    try:
        decode_as(tuple(value))
    except click.BadParameter as problem:
        return f": {problem.message}"
    return ""


def _size(value: Any) -> str:
    return "" if isinstance(value, int) and not isinstance(value, bool) and value > 0 else "isn't a number above 0"


def _pager(value: Any) -> str:
    return "" if isinstance(value, str) or value is False else "is neither a command nor false"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: the parameter that it is the default of, by its name in the code; empty: read where it is used."""

    parameter: str
    default: Any
    wrong: Callable[[Any], str]
    doc: str
    commands: tuple[str, ...] = ()
    """The commands that it holds for; none: all that have the parameter."""


KEYS: dict[str, Setting] = {
    "form": Setting(
        "form", "tree", _choice("tree", "line", "fields", "csv", "json", "jsonl"), "-T of `zdissect FILE`", ("dissect",)
    ),
    "columns": Setting("", [], _texts, "-e of -T fields and -T csv: names of fields and columns"),
    "time": Setting("times", "u", _choice(*FORMATS), "-t, the format of times"),
    "payload-bytes": Setting("payload_bytes", 96, _size, "--bytes, how much of a payload is shown", ("dissect", "hex")),
    "color": Setting("color", "auto", _choice("auto", "always", "never"), "--color"),
    "theme": Setting("theme", "auto", _choice("auto", "dark", "light", "ansi"), "--theme"),
    "pager": Setting("", "less", _pager, "the pager's command, or false; ZDISSECT_PAGER wins, PAGER doesn't"),
    "decode-as": Setting("rules", [], _rules, '-d, ports that carry Zenoh: "tcp.port==9000,zenoh"'),
}
"""All settings by their names in the file."""


@dataclass(frozen=True, slots=True)
class UserSettings:
    """The settings of a file."""

    path: str = ""
    """Where it is, or would be; empty: none is read."""
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """The line of each."""

    def defaults(self, command: str) -> dict[str, Any]:
        """The defaults of a command's parameters."""
        return {
            key.parameter: tuple(value) if isinstance(value, list) else value
            for name, value in self.values.items()
            if (key := KEYS[name]).parameter and (not key.commands or command in key.commands)
        }


def usual_path() -> str:
    """Where the file is looked for."""
    if home := os.environ.get("XDG_CONFIG_HOME"):
        return os.path.join(home, "zdissect", "config.toml")
    return os.path.join(click.get_app_dir("zdissect"), "config.toml")


def read(path: str, needed: bool) -> UserSettings:
    """The settings in a file, which may be absent unless it is needed. Raises BadSetting."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode()
    except FileNotFoundError:
        if needed:
            raise BadSetting(f"{path}: there is no such file") from None
        return UserSettings(path)
    except (OSError, UnicodeDecodeError) as problem:
        raise BadSetting(f"{path}: {getattr(problem, 'strerror', None) or 'it is not UTF-8'}") from None
    import tomllib  # only here: most have no such file

    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        what, _, place = str(problem).partition(" (at ")
        where = place.rstrip(")") or "end of document"
        raise BadSetting(f"{path}: {where}: {what}") from None
    lines = {name: _line(name, text) for name in values}
    for name, value in values.items():
        if name not in KEYS:
            hint = nearest(name, KEYS) or f": there are {', '.join(KEYS)}"
            raise BadSetting(f"{path}: line {lines[name]}: there is no setting {name!r}{hint}")
        if wrong := KEYS[name].wrong(value):
            between = "" if wrong.startswith(":") else " "
            raise BadSetting(f"{path}: line {lines[name]}: {name} = {value!r}{between}{wrong}")
    return UserSettings(path, values, lines)


def _line(name: str, text: str) -> int:
    """The line that a key is in."""
    match = re.search(rf"""^[ \t]*\[*[ \t]*["']?{re.escape(name)}["']?[ \t]*[=.\]]""", text, re.MULTILINE)
    return text.count("\n", 0, match.start()) + 1 if match else 1


def current() -> UserSettings:
    """The settings in force in the command that runs."""
    context = click.get_current_context(silent=True)
    found = context.meta.get(_META) if context is not None else None
    return found if isinstance(found, UserSettings) else UserSettings()


def asked(context: click.Context, path: str | None, none: bool) -> None:
    """Remembers what stood before the command: which file to read, or none."""
    if none and path is not None:
        raise click.UsageError("--config names a file of settings, --no-config reads none: leave one of them out")
    context.meta["zdissect.config"] = (path, none)


def put_in_force(context: click.Context) -> None:
    """Reads the file that was asked for, or the usual one; its values are the defaults of a command from now on."""
    path, none = context.meta.get("zdissect.config", (None, False))
    path = path or (None if none else os.environ.get("ZDISSECT_CONFIG"))
    settings = UserSettings() if none or path == "" else read(path or usual_path(), needed=path is not None)
    context.meta[_META] = settings
    context.default_map = settings.defaults(context.command.name or "")


def _take(context: click.Context, param: click.Parameter, value: Any) -> None:
    """Receives one of the two options; whichever comes last reads the file."""
    if context.resilient_parsing:
        return
    path, none = context.meta.get("zdissect.config", (None, False))
    if param.name == "config":
        asked(context, value or path, none)
    else:
        asked(context, path, value or none)
    context.meta["zdissect.seen"] = seen = context.meta.get("zdissect.seen", 0) + 1
    if seen == len(OPTIONS):
        put_in_force(context)


OPTIONS = (
    click.Option(
        ["--config"], metavar="FILE", is_eager=True, expose_value=False, callback=_take,
        help="Read settings from this file: `zdissect config` prints those in force.",
    ),
    click.Option(["--no-config"], is_flag=True, is_eager=True, expose_value=False, callback=_take, help="Read none."),
)  # fmt: skip
"""What every command takes."""
