"""What the shell completes an argument or the value of an option to; loads what it needs when it is asked."""

import re
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def files(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, which the shell knows."""
    return [CompletionItem(incomplete, type="file")]


def directories(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Directories, which the shell knows."""
    return [CompletionItem(incomplete, type="dir")]


def _names() -> list[tuple[str, str]]:
    """The names that filters know, and what each is."""
    from zdissect.filters import names

    return [(name.name, name.doc) for name in names()]


def field_names(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`-e`: names of fields and columns; the last of several with commas."""
    before, comma, word = incomplete.rpartition(",")
    return _starting(word, _names(), before + comma)


def filters(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`-Y`: the name that the filter ends with so far."""
    match = re.search(r"[\w.]*$", incomplete)
    word = match[0] if match else ""
    return _starting(word, _names(), incomplete[: len(incomplete) - len(word)], part=True) if word else []


def opened_names(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`-O`: names of messages; the last of several with commas."""
    from zdissect.output.folding import message_names

    before, comma, word = incomplete.rpartition(",")
    cut = "" if word.startswith("zenoh") else "zenoh."
    return _starting(word, ((name.removeprefix(cut), "") for name in message_names()), before + comma)


def fields(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`zdissect fields`: fields of the protocol."""
    from zdissect.grammar.registry import fields as known

    return _starting(incomplete, ((field.path, field.doc) for field in known().values()))


def explained(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`zdissect explain`: the codes of findings, then all other names, once there is something to go by."""
    from zdissect.grammar.rules import RULES

    codes = [(code, f"finding, {rule.severity}") for code, rule in RULES.items()]
    if not incomplete:
        return _starting("", codes)
    from .explanations import names

    return _starting(incomplete, [*codes, *((name, "") for name in names() if name not in RULES)])


def kinds(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`--as`: what bytes may be."""
    from zdissect.readings import NAMES

    return _starting(incomplete, NAMES.items())


def interfaces(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`-i`: the interfaces of this machine."""
    import socket

    return _starting(incomplete, ((name, "") for _, name in socket.if_nameindex()))


def separators(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """`-E`: what it may set."""
    words = ("header=y", "header=n", "separator=", "occurrence=f", "occurrence=l", "occurrence=a", "aggregator=",
             "quote=d", "quote=s", "quote=n", "bom=y", "bom=n")  # fmt: skip
    return _starting(incomplete, ((word, "") for word in words), part=incomplete.endswith("="))


def _starting(
    word: str, known: Iterable[tuple[str, str]], before: str = "", part: bool = False
) -> list[CompletionItem]:
    """Those that start with a word, whatever the case; a part of an argument is gone on with."""
    low = word.lower()
    return [
        CompletionItem(before + name, help=doc.split("\n")[0] or None, part=part)
        for name, doc in known
        if name.lower().startswith(low)
    ]
