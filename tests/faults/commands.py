"""Every command in every form of output, as it is called on a capture: found in the commands themselves."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from zdissect_cli.main import cli

ROOT = Path(__file__).parents[2]
FIRST = ROOT / "samples" / "pubsub-tcp.pcap"
ROS2 = ROOT / "samples-ros2" / "talker-listener.pcap"
ZID = "83a6"
"""Where the ZenohID of a node in the first begins."""

CALLS: dict[str, list[str]] = {
    "dissect": ["dissect {in}", "dissect {in} -v", "dissect -Y sn -w {out}.pcapng {in}"],
    "hex": ["hex 3d00036b2f610103313131", "hex -f {text}"],
    "batch": ["batch {in} -j 1 -o {out}"],
    "top": ["top {in} --batch", "top {in} --json"],
    **{name: [f"{name} {{in}}"] for name in (
        "stats", "sessions", "keys", "queries", "samples", "declarations", "findings"
    )},
    "why": ["why {in} --key nano/att --to {zid}", "why {in} --key nano/att --to {zid} --json"],
    "ros2": [
        *(f"ros2 {view} {{ros2}}" for view in ("", "topics", "graph", "doctor")),
        "ros2 bag {ros2} -o {out}.mcap", "ros2 bag {ros2} -o {out}",
    ],
    "check": [
        "check {in}", "check {in} --save {out}.json", "check {in} --write-baseline {out}.txt",
    ],
    "diff": ["diff {in} {in}"],
    "anonymize": ["anonymize {in} {out}.pcapng"],
    "export": ["export payloads {in} -o {out}"],
    "filter": ["filter sn", "filter"],
    "follow": ["follow 1 {in}"],
    "fields": ["fields", "fields push"],
    "explain": ["explain PUSH"],
    "config": ["config", "config --example"],
    "completion": ["completion bash"],
}  # fmt: skip
"""How each command is called; `{out}` stands where a file or directory is written. Forms are added to those without
options."""

_FORMS = ("json", "csv", "trees", "table", "summary", "dot", "mermaid", "sarif", "junit", "markdown", "raw", "sql")
_ELSEWHERE = {"dot": "ros2 graph", "mermaid": "ros2 graph", "sql": "filter sn", "raw": "follow"}
"""Forms that only some calls of a command have."""


@dataclass(frozen=True)
class Call:
    """One call of a command."""

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def writes(self) -> bool:
        """Whether it writes files of its own."""
        return "{out}" in self.text

    @property
    def reads(self) -> bool:
        """Whether it reads a capture."""
        return "{in}" in self.text or "{ros2}" in self.text

    def args(self, folder: Path, capture: Path = FIRST, ros2: Path = ROS2) -> list[str]:
        """The words of the command line, with outputs in a folder."""
        places = {
            "{in}": str(capture),
            "{ros2}": str(ros2),
            "{out}": str(folder / "out"),
            "{text}": str(folder / "t"),
            "{zid}": ZID,
        }
        words = self.text.split()
        for place, path in places.items():
            words = [word.replace(place, path) for word in words]
        return words


def calls() -> Iterator[Call]:
    """All calls, with each form that a command has: a new form or command is among them by itself."""
    context = click.Context(cli)
    for name in cli.modules:  # type: ignore[attr-defined]
        command = cli.get_command(context, name)
        assert command is not None
        for text in CALLS[name]:
            yield Call(text)
            if "{out}" not in text and " -" not in text.replace(" -f ", " "):
                yield from (Call(f"{text} {form}") for form in _forms(command, text))


def _forms(command: click.Command, text: str) -> Iterator[str]:
    for param in command.params:
        if "-T" in param.opts and isinstance(param.type, click.Choice):
            for form in param.type.choices:
                yield f"-T {form}" + (" -e frame.number" if form in ("fields", "csv") else "")
        flag = next((opt.removeprefix("--") for opt in param.opts if opt.removeprefix("--") in _FORMS), None)
        if flag is None or _ELSEWHERE.get(flag, text.split(" ")[0]) not in text:
            continue
        yield f"--{flag} duckdb" if flag == "sql" else f"--{flag}"
