"""What is said to those who type an option of tshark's that zdissect doesn't have."""

import click

OPTIONS = {
    "-z": "statistics are commands: zdissect stats, sessions, keys, queries, findings, follow",
    "-2": "a file is read twice where that is needed: leave it out",
    "-R": "use -Y, which reads a file twice if need be",
    "-G": "`zdissect fields` lists fields",
    "-o": "settings are in a file: `zdissect config`",
    "-C": "--config names another settings file",
    "-S": "-T line has one line per message; `zdissect --help` has all forms",
    "-P": "-T line has one line per message",
    "-F": "-w always writes pcapng",
    "-J": "-O shows only some messages in full, -Y selects them",
    "-W": "-w always keeps everything known about a frame",
    "-p": "whether an interface is promiscuous is up to tcpdump: zdissect -T line - reads what it writes",
    "-I": "monitor mode is up to tcpdump: zdissect -T line - reads what it writes",
    "-s": "frames are captured whole: tcpdump -s cuts them, and zdissect -T line - reads what it writes",
    "-y": "the link layer is up to tcpdump: zdissect -T line - reads what it writes",
    "-L": "-D lists interfaces",
    "-X": "tshark's scripts aren't supported; the library does more: docs/library.md",
    "-g": "chmod changes who may read a file",
    "-K": "nothing is decrypted",
    "-N": "names are never looked up",
    "-H": "names are never looked up",
    "--export-objects": "`zdissect export payloads` writes payloads to files",
    "--print": "what is captured is always shown, also with -w",
    "--disable-protocol": "only Zenoh is shown",
    "--enable-heuristic": "Zenoh is recognised by content anyway",
    "--list-interfaces": "-D lists interfaces",
    "--no-duplicate-keys": "-T json never repeats a key",
}
"""By option, what does the same here, or why nothing does."""

FORMS = {
    "ek": "jsonl",
    "jsonraw": "json, whose nodes have their bits",
    "pdml": "json",
    "psml": "line",
    "ps": "tree",
    "tabs": "fields",
    "text": "tree, or line",
}
"""By form of -T, what is like it."""


def hint(problem: click.ClickException) -> str:
    """What to do instead; empty if nothing is known."""
    if isinstance(problem, click.NoSuchOption):
        return OPTIONS.get(problem.option_name, "")
    if isinstance(problem, click.BadParameter) and problem.param is not None and problem.param.name == "form":
        asked = str(problem.message).split("'")[1:2]
        return f"the closest is {FORMS[asked[0]]}" if asked and asked[0] in FORMS else ""
    return ""
