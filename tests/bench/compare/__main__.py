"""The command `python -m tests.bench.compare`."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.compare.about import machine
from tests.bench.compare.experiments import Plan, against_cores, against_size, side_by_side, through_a_pipe
from tests.bench.compare.page import in_readme, page
from tests.bench.compare.runs import Failed, Figure
from tests.bench.compare.shapes import SHAPES
from tests.bench.compare.tools import FORMS, Tool, Zdissect, others

DESCRIPTION = """\
Compares zdissect with tshark (its own dissector of MQTT, on the same traffic as MQTT, and a Zenoh plugin), scapy and
pyshark, as far as they are installed: the same work in turn, several times; prints a page with the medians.
"""


_INSTALLED = "a zdissect that is installed for another interpreter; repeatable"


def options() -> argparse.ArgumentParser:
    """All that can be said on the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.compare", description=DESCRIPTION)
    add = parser.add_argument
    add("--messages", type=int, default=20_000, metavar="N", help="in each capture; less for slow forms (%(default)s)")
    add("--runs", type=int, default=3, metavar="N", help="of each (%(default)s)")
    add("--shapes", nargs="+", choices=SHAPES, default=[*SHAPES], metavar="SHAPE", help=f"of {', '.join(SHAPES)}")
    add("--forms", nargs="+", choices=FORMS, default=[*FORMS], metavar="FORM", help=f"of {', '.join(FORMS)}")
    add("--base", action="append", default=[], metavar="[NAME=]PYTHON", help=f"also the one before, {_INSTALLED}")
    add("--interpreters", action="append", default=[], metavar="NAME=PYTHON", help=f"also this one, {_INSTALLED}")
    add("--lua", metavar="[NAME=]FILE", help="a Zenoh plugin for tshark, in Lua, and what the page calls it")
    add("--alone", action="store_true", help="only zdissect, no other tools")
    add("--largest", type=int, default=0, metavar="N", help="also cost against size up to so many, and against cores")
    add("--pipe", type=float, default=0, metavar="GB", help="also memory, while so much goes through a pipe")
    add("--directory", type=Path, metavar="DIR", help="keep captures there, and take those that are there already")
    add("--save", type=Path, metavar="FILE", help="keep the figures, as JSON")
    add("--load", type=Path, metavar="FILE", help="measure nothing: write the page from figures that were kept")
    add("--write", type=Path, metavar="FILE", help="write the page there")
    add("--readme", type=Path, metavar="FILE", help="also write the most telling figures into this README")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code."""
    given = options().parse_args(arguments)
    try:
        about, figures = kept(given.load) if given.load else measured(given)
        if given.save:
            every = {"about": about, "figures": [one._asdict() for one in figures]}
            given.save.write_text(json.dumps(every, indent=1), encoding="utf-8")
        if given.readme:
            given.readme.write_text(in_readme(figures, given.readme.read_text(encoding="utf-8")), encoding="utf-8")
    except Failed as error:
        print(error, file=sys.stderr)
        return 1
    text = page(figures, about)
    if given.write:
        given.write.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


def kept(path: Path) -> tuple[list[str], list[Figure]]:
    """What `--save` kept."""
    every = json.loads(path.read_text(encoding="utf-8"))
    return every["about"], [Figure(**one) for one in every["figures"]]


def measured(given: argparse.Namespace) -> tuple[list[str], list[Figure]]:
    """Lines on the machine and the versions, and all figures."""
    with TemporaryDirectory() as place:
        return measure(given, Path(place))


def measure(given: argparse.Namespace, place: Path) -> tuple[list[str], list[Figure]]:
    """Everything that was asked for."""
    plan = Plan(given.messages, given.runs, given.directory or place, [])
    ours = versions_of_ours(given, place)
    tools: list[Tool] = [*ours, *([] if given.alone else others(given.lua))]
    figures = side_by_side(plan, tools, given.shapes, given.forms)
    if given.largest:
        figures += against_size(plan, ours[0], given.forms, given.largest)
        figures += against_cores(plan, ours[0], given.forms, given.largest)
    if given.pipe:
        figures.append(through_a_pipe(plan, ours[0], int(given.pipe * 1e9)))
    about = [machine(), *(f"{tool.name}: {tool.versions}" for tool in tools)]
    about += [f"left out, as it failed: {what}" for what in dict.fromkeys(plan.failed)]
    about.append(f"medians of {plan.runs} runs; {plan.messages:,} messages in a capture, fewer where a tool is slow")
    return about, figures


def versions_of_ours(given: argparse.Namespace, place: Path) -> list[Zdissect]:
    """The zdissect of this interpreter, then those of others; each with a name that says which it is."""
    named = [("zdissect", sys.executable), *(_named(one, "zdissect, {}") for one in given.interpreters)]
    named += [_named(one, "before, {}" if "=" in one else "before") for one in given.base]
    if len({name for name, _ in named}) < len(named):
        raise Failed(f"two have the same name, say NAME=PYTHON: {', '.join(name for name, _ in named)}")
    found = [Zdissect(name, python, place / f"tables{index}") for index, (name, python) in enumerate(named)]
    if any(one.name.startswith("before") and one.place == found[0].place for one in found):
        raise Failed("--base: that interpreter runs the same zdissect, so there is nothing to compare")
    return found


def _named(given: str, form: str) -> tuple[str, str]:
    """The name of an interpreter, and the interpreter."""
    name, _, python = given.rpartition("=")
    return form.format(name or python), python


if __name__ == "__main__":
    sys.exit(main())
