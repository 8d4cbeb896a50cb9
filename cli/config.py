"""`zdissect config`: the settings that are in force, and where each is from."""

import os
from typing import Any

import click

from .command import Command
from .exit_codes import DONE
from .settings import KEYS, UserSettings, current, usual_path


@click.command("config", cls=Command)
@click.option("--example", is_flag=True, help="Print a file with all settings, each in a comment.")
def config(example: bool) -> int:
    """Prints the settings in force, and where each comes from, in the format of the file itself.

    The file is config.toml in ~/.config/zdissect (XDG_CONFIG_HOME, or where else the platform has it), or what --config
    or ZDISSECT_CONFIG names. The command line wins over it, and it over what is built in.
    """
    if example:
        click.echo(f"# {usual_path()}: settings of zdissect; remove the # in front of those that you want.\n")
        for name, key in KEYS.items():
            click.echo(f"# {key.doc}\n# {name} = {written(key.default)}\n")
        return DONE
    settings = current()
    click.echo(f"# {_state(settings)}")
    rows = [(f"{name} = {written(value)}", where) for name, value, where in in_force(settings)]
    width = max(len(row) for row, _ in rows)
    for row, where in rows:
        click.echo(f"{row:<{width}}  # {where}")
    return DONE


def _state(settings: UserSettings) -> str:
    """Which file was read, if any."""
    if not settings.path:
        return "no file is read"
    if settings.lines:
        return f"{settings.path}:"
    return f"{settings.path}: {'it sets nothing' if os.path.exists(settings.path) else 'there is no such file'}"


def in_force(settings: UserSettings) -> list[tuple[str, Any, str]]:
    """Each setting, its value, and where that is from."""
    out = []
    for name, key in KEYS.items():
        value, where = key.default, "built in"
        if name in settings.lines:
            value, where = settings.values[name], f"line {settings.lines[name]}"
        if name == "pager":
            for variable in ("ZDISSECT_PAGER", *(() if name in settings.lines else ("PAGER",))):
                if variable in os.environ:
                    value, where = os.environ[variable], variable
                    break
        if name == "color" and value == "auto" and os.environ.get("NO_COLOR"):
            where += ", and NO_COLOR is set"
        out.append((name, value, where))
    return out


def written(value: Any) -> str:
    """A value in TOML, of which these are JSON, too."""
    import json

    return json.dumps(value, ensure_ascii=False)


commands = {"config": config}
