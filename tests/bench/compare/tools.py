"""The tools that are compared, and how each is told to do the same work."""

import json
import re
import shutil
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Protocol

from tests.bench.compare.runs import Failed, lines

FORMS = ("line", "tree", "fields", "json", "jsonl", "stats", "batch")


class Tool(Protocol):
    """A program that dissects a capture."""

    name: str
    protocol: str
    """Of which captures."""
    versions: str

    def command(self, form: str, capture: Path, jobs: int = 1) -> list[str] | None:
        """What is run for a form; None if it has none like it."""

    def share(self, form: str) -> int:
        """By how much its captures are shorter, as it would take too long."""

    def recognised(self, capture: Path) -> int:
        """How many packets it takes for the protocol."""


class Zdissect:
    """A zdissect, by the interpreter that it is installed for."""

    protocol = "zenoh"

    def __init__(self, name: str, python: str, out: Path) -> None:
        self.name, self.out = name, out
        self.python = [python, "-P"]
        """`-P`: the zdissect of the interpreter, not that of the directory in which it is started."""
        told = json.loads(next(lines([*self.python, "-c", _ASK])))
        self.place = told.pop("place")
        self.versions = ", ".join(f"{library} {version}" for library, version in told.items())
        self.divisible = {name for name in ("dissect", "stats", "batch") if self._has_jobs(name)}

    def _words(self, command: str) -> list[str]:
        return [*self.python, "-m", "zdissect_cli", command]

    def _has_jobs(self, command: str) -> bool:
        return any(re.match(r" +-j\b", line) for line in lines([*self._words(command), "--help"]))

    def command(self, form: str, capture: Path, jobs: int = 1) -> list[str] | None:
        """On one core unless `jobs` says otherwise; `-` is standard input."""
        name = form if form in ("stats", "batch") else "dissect"
        if jobs > 1 and name not in self.divisible:
            return None
        start = [*self._words(name), "--no-config", "-q"]
        start += ["-j", str(jobs)] if name in self.divisible and str(capture) != "-" else []
        if form == "batch":
            return [*start, "--mode", "overwrite", "-o", str(self.out), str(capture.parent)]
        if form == "stats":
            return [*start, str(capture)]
        columns = ("-e", "frame.number", "-e", "key_expr", "-e", "payload_len") if form == "fields" else ()
        return [*start, "-T", form, *columns, str(capture)]

    def share(self, form: str) -> int:
        return 1

    def recognised(self, capture: Path) -> int:
        command = [*self._words("dissect"), "--no-config", "-q", "-T", "fields", "-e", "frame.number", str(capture)]
        return sum(1 for _ in groupby(lines(command)))


_ASK = """
import json, platform, zdissect
from importlib.metadata import version, PackageNotFoundError
out = {"place": zdissect.__file__, "zdissect": zdissect.__version__}
out |= {"CPython": platform.python_version(), "built with": platform.python_compiler()}
for name in ("pyarrow", "orjson", "numpy"):
    try:
        out[name] = version(name)
    except PackageNotFoundError:
        pass
print(json.dumps(out))
"""


class Tshark:
    """tshark, with its own dissector of MQTT or a plugin for Zenoh."""

    def __init__(self, name: str, protocol: str, options: Iterable[str] = ()) -> None:
        self.name, self.protocol, self.options = name, protocol, [*options]
        self.versions = next(lines(["tshark", "--version"])).removesuffix(".")
        self.columns = self._columns()

    def _columns(self) -> list[str]:
        """Fields that are like those that zdissect prints: which they are depends on the plugin."""
        if self.protocol == "mqtt":
            return ["mqtt.topic", "mqtt.len"]
        told = lines(["tshark", "-G", "fields", *self.options])
        names = [line.split("\t")[2] for line in told if line.startswith("F\t") and "\tzenoh." in line]
        wanted = (("keyexpr", "key_expr", "suffix"), ("payload_len", "payload"))
        return [found for words in wanted if (found := _first(names, words))]

    def command(self, form: str, capture: Path, jobs: int = 1) -> list[str] | None:
        """Names aren't resolved, as zdissect doesn't either."""
        fields = [word for name in ("frame.number", *self.columns) for word in ("-e", name)]
        options = {
            "line": [], "tree": ["-V"], "fields": ["-T", "fields", *fields], "json": ["-T", "json"],
            "jsonl": ["-T", "ek"], "stats": ["-q", "-z", "io,phs"],
        }.get(form)  # fmt: skip
        if options is None or jobs > 1:
            return None
        return ["tshark", "-n", *self.options, "-r", str(capture), *options]

    def share(self, form: str) -> int:
        return 5 if form == "jsonl" else 1

    def recognised(self, capture: Path) -> int:
        named = re.compile(rf" {self.protocol}", re.IGNORECASE)
        return sum(bool(named.search(line)) for line in lines(["tshark", "-n", *self.options, "-r", str(capture)]))


def _first(names: list[str], words: tuple[str, ...]) -> str:
    """The first name that holds the first possible word."""
    return next((name for word in words for name in names if word in name.rpartition(".")[2]), "")


class PythonReader:
    """A Python library that dissects MQTT, in this interpreter."""

    protocol = "mqtt"

    def __init__(self, name: str, share: int) -> None:
        self.name, self._share = f"{name}, MQTT", share
        self.library = name
        self.versions = next(lines([sys.executable, "-m", _READERS, name, "version", "-"]))

    def command(self, form: str, capture: Path, jobs: int = 1) -> list[str] | None:
        if form not in ("line", "tree") or jobs > 1:
            return None
        return [sys.executable, "-m", _READERS, self.library, form, str(capture)]

    def share(self, form: str) -> int:
        return self._share * (5 if form == "tree" else 1)

    def recognised(self, capture: Path) -> int:
        return int(next(lines([sys.executable, "-m", _READERS, self.library, "count", str(capture)])))


_READERS = "tests.bench.compare.python_readers"


def others(lua: str | None) -> list[Tool]:
    """The other tools that are installed here; `lua` is a Zenoh plugin for tshark, [NAME=]FILE."""
    found: list[Tool] = []
    if shutil.which("tshark"):
        if lua:
            name, _, file = lua.rpartition("=")
            found.append(Tshark("tshark, Zenoh in Lua", "zenoh", ("-X", f"lua_script:{file}")))
            found[-1].versions += f", plugin {name or Path(file).name}"
        elif any("\tzenoh" in line.lower() for line in lines(["tshark", "-G", "protocols"])):
            found.append(Tshark("tshark, Zenoh plugin", "zenoh"))
        found.append(Tshark("tshark, MQTT", "mqtt"))
    elif lua:
        raise Failed("--lua needs tshark, which isn't installed")
    if find_spec("scapy"):
        found.append(PythonReader("scapy", 5))
    if find_spec("pyshark") and shutil.which("tshark"):
        found.append(PythonReader("pyshark", 50))
    return found
