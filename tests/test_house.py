"""The rules of the house (CONTRIBUTING.md) on names, sizes, docstrings, and what no file may hold."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.sources import ROOT, SOURCES, tree

SHARED_MODULES = {
    "batch": "a command of the user's, and a unit of the wire: both are called so by those who know them",
}
"""Names of files that stand in several folders, and why. The list only shrinks."""

SHARED_CLASSES: dict[str, str] = {}
"""Names of several classes, and why. The list only shrinks."""

LONGEST_FILE = 300
LONGEST_FUNCTION = 40
MOST_ARGUMENTS = 8

LONG_FILES: set[str] = set()
"""Files that are too long today. The list only shrinks."""

LONG_FUNCTIONS = {
    "zdissect/engine/interpreter.py:steps": "the hot loop: a call per field would halve its speed",
}
"""Functions that are longer, and why. The list only shrinks."""

MANY_ARGUMENTS = {}
"""Functions that take more, and why. The list only shrinks."""


def excused(found: set[str], excuses: Mapping[str, str], what: str) -> None:
    """Nothing is found but what is excused, and no excuse is left over."""
    wrong, over = sorted(found - excuses.keys()), sorted(excuses.keys() - found)
    assert not wrong, f"{', '.join(wrong)}: {what}"
    assert not over, f"take these from the list, they are as they should be now: {', '.join(over)}"


def test_files_are_short():
    """A file holds one noun of the standard. Split one that grows beyond the limit."""
    long = {path for path in SOURCES if len((ROOT / path).read_text(encoding="utf-8").splitlines()) > LONGEST_FILE}
    assert long <= LONG_FILES, f"more than {LONGEST_FILE} lines: {', '.join(sorted(long - LONG_FILES))}"
    short = (LONG_FILES - long) & {*SOURCES}
    assert not short, f"short now, take them from LONG_FILES: {', '.join(sorted(short))}"


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(sources: Iterable[str]) -> list[tuple[str, Function]]:
    """All functions and methods, with file and name; several may have the same."""
    nodes = ((path, node) for path in sources for node in ast.walk(tree(path)))
    return [(f"{path}:{node.name}", node) for path, node in nodes if isinstance(node, Function)]


def length(function: Function) -> int:
    """How many lines a function has, its head and docstring included."""
    return (function.end_lineno or 0) - function.lineno + 1


def arguments(function: Function) -> int:
    """How many arguments a function takes."""
    every = function.args
    return len(every.posonlyargs) + len(every.args) + len(every.kwonlyargs)


def test_functions_are_short():
    long = {name for name, function in functions(SOURCES) if length(function) > LONGEST_FUNCTION}
    excused(long, LONG_FUNCTIONS, f"more than {LONGEST_FUNCTION} lines")


def test_functions_take_few_arguments():
    """What takes more has a type that holds some of them."""
    many = {name for name, function in functions(SOURCES) if arguments(function) > MOST_ARGUMENTS}
    excused(many, MANY_ARGUMENTS, f"more than {MOST_ARGUMENTS} arguments")


def where(places: Mapping[str, list[str]]) -> str:
    """The places of what stands in several."""
    return "; ".join(f"{name} in {' and '.join(paths)}" for name, paths in places.items() if len(paths) > 1)


def test_no_file_has_the_name_of_another():
    """One word, one meaning: who looks for a module finds one."""
    places = defaultdict(list)
    for path in SOURCES:
        if not path.endswith("__.py"):
            places[Path(path).stem].append(path)
    twice = {name for name, paths in places.items() if len(paths) > 1}
    excused(twice, SHARED_MODULES, f"twice: {where(places)}")


def test_no_class_has_the_name_of_another():
    places = defaultdict(list)
    for path in SOURCES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path}:{node.lineno}")
    twice = {name for name, paths in places.items() if len(paths) > 1}
    excused(twice, SHARED_CLASSES, f"twice: {where(places)}")


@pytest.mark.parametrize("path", SOURCES)
def test_every_file_says_what_it_is(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not text or ast.get_docstring(tree(path)), f"{path} needs a docstring: what is it for?"


TEXTS = {".py", ".md", ".toml", ".txt", ".json", ".in", ".sh", ".cfg", ".ini", ".yml", ".yaml", ""}

SKIPPED = {"build", "dist", "__pycache__"}

FORBIDDEN = {
    "an unfinished piece of work": r"\b(TO" + "DO|FIX" + "ME|XX" + r"X)\b",
    "a path of somebody's machine": r"(?<![\w.}>-])/(work|root|home|Users|mnt|opt)/",
    "a package index": r"index-url|find-links|pythonhosted\.org|pypi\.org/simple|[/.]artifactory|[/.]nexus",
    "a conflict": r"^(<{7}|={7}|>{7})( |$)",
}


def texts() -> Iterator[Path]:
    """All text files of the repository."""
    for path in sorted(ROOT.rglob("*")):
        names = path.relative_to(ROOT).parts
        hidden = any(name.startswith(".") and name != ".ci" for name in names)
        made = {*names} & SKIPPED or any(name.endswith(".egg-info") for name in names)
        if path.suffix in TEXTS and path.is_file() and not hidden and not made:
            yield path


def test_no_file_holds_what_it_must_not():
    found = []
    for path in texts():
        if path == Path(__file__):
            continue
        text = path.read_text(encoding="utf-8")
        for what, pattern in FORBIDDEN.items():
            for match in re.finditer(pattern, text, re.MULTILINE):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{path.relative_to(ROOT)}:{line} holds {what}: {match.group()}")
    assert not found, "\n".join(found)
