"""The rules of the house (CONTRIBUTING.md), checked on the source: who may import whom, who may open files, how long
files and functions may be, what no file may hold."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple, TypeGuard

import pytest

from tests.literals import Literal, Source
from zdissect.grammar.ports import RAW_ETHERTYPES, SCOUTING_PORT, ZENOH_PORT

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path.relative_to(ROOT).as_posix() for top in ("zdissect", "cli") for path in (ROOT / top).rglob("*.py")
)

# --- who may import whom

LAYERS = {
    "grammar": "",
    "records": "",
    "paste": "",
    "capture": "records",
    "engine": "grammar",
    "flow": "engine grammar records",
    "dissection": "engine flow grammar records",
    "session": "dissection engine flow grammar records",
    "dissector": "dissection engine flow grammar records session",
    "pipeline": "dissection dissector engine flow grammar records session",
    "verbose": "dissection flow pipeline records",
    "readings": "engine flow grammar records",
    "table": "dissection engine flow grammar records",
    "stats": "dissection engine flow grammar pipeline records session table",
    "output": "dissection engine flow grammar records session stats table",
    "export": "capture dissection engine flow grammar output pipeline records session stats table",
    "spark": "capture export records",
}
"""Which parts of zdissect each part may import, besides itself and the version in `zdissect`. What isn't listed here
imports nothing of ours."""

LIBRARIES = {
    "click": ("cli/",),
    "rich": ("cli/", "zdissect/output/"),
    "scapy": ("zdissect/flow/foreign.py",),
    "lz4": ("zdissect/flow/lz4block.py",),
    "wsproto": ("zdissect/flow/websocket.py",),
    "cobs": ("zdissect/flow/serial_line.py",),
    "pyarrow": ("zdissect/export/", "zdissect/spark/"),
    "pyspark": ("zdissect/spark/",),
}
"""Where a library may be imported. A new one needs a reason, a dependency in pyproject.toml and a line here."""

SLOW = {"scapy", "rich", "wsproto", "cobs", "pyarrow", "pyspark", "lark"}
"""What nobody waits for who doesn't use it: imported in the function that needs it, or in a module of the command line
that only one command loads."""

LAZY = ("cli/", "zdissect/export/", "zdissect/spark/")
"""What only one command loads, and no other part of the library."""

OPENERS = ("zdissect/capture/", "zdissect/export/", "zdissect/spark/")
"""Who may open files. The command line may too."""
OPENING = {"open", "read_bytes", "read_text", "write_bytes", "write_text", "mmap", "fdopen", "popen", "Popen"}
FILE_MODULES = {"io", "os", "gzip", "bz2", "lzma", "zipfile", "tarfile", "codecs", "mmap", "subprocess"}

# --- facts about the wire

INTERPRETERS = ("zdissect/grammar/", "zdissect/engine/", "zdissect/capture/", "zdissect/paste/")
"""Where numbers of a format are at home: the grammar, what reads and writes by it, formats of files and of text."""

FOREIGN = {
    "zdissect/flow/assembler.py": "flags of TCP",
    "zdissect/flow/causal.py": "flags and sequence numbers of TCP",
    "zdissect/flow/connection.py": "sequence numbers of TCP",
    "zdissect/flow/connection_table.py": "flags and sequence numbers of TCP",
    "zdissect/flow/foreign.py": "802.11",
    "zdissect/flow/headers.py": "link layers and EtherTypes",
    "zdissect/flow/ip.py": "IP, TCP and UDP",
    "zdissect/flow/link.py": "link types and EtherTypes",
    "zdissect/flow/lz4block.py": "blocks of LZ4",
    "zdissect/flow/names.py": "EtherTypes and IP protocols",
    "zdissect/flow/protocols.py": "TLS, QUIC, DNS and others that aren't Zenoh",
    "zdissect/flow/tcp_analysis.py": "flags and sequence numbers of TCP",
    "zdissect/flow/tcp.py": "flags and sequence numbers of TCP",
    "zdissect/flow/tunnels.py": "tunnels",
    "zdissect/flow/upgrade.py": "HTTP",
    "zdissect/flow/wsframes.py": "frames of WebSockets",
    "zdissect/output/printable.py": "Unicode",
    "zdissect/output/text.py": "Unicode",
    "zdissect/readings/packet.py": "Ethernet and IP",
}
"""Files that read other formats than Zenoh's, with numbers of these. So they may not know its messages."""

EXCUSED = {
    "zdissect/export/target.py": ("modes of files", "511 & ~_umask()"),
    "zdissect/flow/serial_line.py": (
        "arithmetic of a CRC", "value & 1", "(value ^ byte) & 255", "255", "value ^ 4294967295", "4294967295",
    ),
    "zdissect/flow/websocket.py": (
        "frames of WebSockets", "opcode & CONTROL", "piece.opcode & CONTROL", "opcode == BINARY",
    ),
    "zdissect/session/multicast.py": ("groups of Ethernet", "end.address[0] & 1"),
    "cli/hex_input.py": ("encodings of text", r"b'\t\n\x0b\x0c\r\x1b'", r"b'\xfe\xff'", r"b'\xff\xfe'"),
}  # fmt: skip
"""What else isn't about Zenoh: what it is, and the expressions as `ast.unparse` spells them."""

_MORE, _FRAGMENTS = 'message.flag("M")', "zdissect/session/fragments.py"

PLANTED = (
    (_FRAGMENTS, _MORE, "message.header & 0x40"),
    (_FRAGMENTS, _MORE, "message.header & 64"),
    (_FRAGMENTS, _MORE, "message.header & ~191"),
    (_FRAGMENTS, _MORE, "message.header >> 6 & 1"),
    (_FRAGMENTS, _MORE, "message.header & LARGEST"),
    ("zdissect/session/interests.py", 'named(INTEREST_OPTIONS.bits, name).mask for name in "KSQTRNMA"',
     "1 << bit for bit in range(8)"),
    ("zdissect/flow/detect.py", "ident in _OPENING", "ident in (1, 7)"),
    ("zdissect/flow/detect.py", "(INIT.id, JOIN.id)", "(1, 7)"),
    ("zdissect/flow/detect.py", "bytes([OAM.id, OAM.id | ", 'b"\\0\\x80" or ([OAM.id, OAM.id | '),
    ("zdissect/flow/decode.py", "& ~_CLOSE_FLAG == CLOSE.id", "& 223 == CLOSE.id"),
    ("zdissect/flow/decode.py", "& ~_CLOSE_FLAG == CLOSE.id", "& ~_CLOSE_FLAG == 3"),
    ("zdissect/flow/resync.py", "bytes([KEEP_ALIVE.id])", "bytes([4])"),
    ("zdissect/flow/resync.py", "from zdissect.grammar.flags import", "from zdissect.flow.wsframes import CONTROL as"),
    ("zdissect/flow/framing.py", "Framing(STREAM_PREFIX)", "Framing(2)"),
    ("zdissect/readings/prefixed.py", "Framing(LOW_LATENCY_PREFIX, ", "Framing(prefix=4, "),
    ("zdissect/pipeline.py", "frozenset({ZENOH_PORT, ", "frozenset({7447, "),
    ("zdissect/flow/link.py", "kind in RAW_ETHERTYPES", "kind in (57458, 29408)"),
)  # fmt: skip
"""(file, text, what is written instead): facts about the wire in the wrong place."""

# --- names

_BEFORE = "from before this rule"

SHARED_MODULES = dict.fromkeys(
    ("batch", "files", "groups", "interpreter", "reference", "repeats", "serial", "source", "streams", "tables"),
    _BEFORE,
)  # fmt: skip
"""Names of files that stand in several folders, and why. The list only shrinks."""

SHARED_CLASSES = dict.fromkeys(
    ("Line", "Lines", "Part", "Reader", "Source"), _BEFORE,
)  # fmt: skip
"""Names of several classes, and why. The list only shrinks."""

# --- sizes

LONGEST_FILE = 300
LONGEST_FUNCTION = 40
MOST_ARGUMENTS = 8

LONG_FILES = {
    "zdissect/flow/websocket.py",
}
"""Files that are too long today. The list only shrinks."""

LONG_FUNCTIONS = {
    "zdissect/engine/interpreter.py:steps": "the hot loop: a call per field would halve its speed",
    "zdissect/flow/beginning.py:look": _BEFORE,
    "zdissect/flow/ipfragments.py:feed": _BEFORE,
}
"""Functions that are longer, and why. The list only shrinks."""

MANY_ARGUMENTS = {
    "zdissect/flow/ip.py:_fragment": _BEFORE,
    "zdissect/flow/ipfragments.py:feed": _BEFORE,
    "zdissect/output/tree.py:leaf": _BEFORE,
}
"""Functions that take more, and why. The list only shrinks."""


class Import(NamedTuple):
    line: int
    module: str
    top: bool
    """Whether it happens when the file is imported."""


@cache
def tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), path)


def imports(path: str) -> list[Import]:
    """All imports of a file, relative ones in full."""
    return list(_imports(tree(path), path.removesuffix(".py").split("/")[:-1], top=True))


def _imports(node: ast.AST, package: list[str], top: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(child.lineno, alias.name, top) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = package[: len(package) + 1 - child.level] if child.level else []
            module = ".".join([*base, *([child.module] if child.module else [])])
            # `from zdissect import x` may name a module
            names = [f"{module}.{alias.name}" if module in ("zdissect", "cli") else module for alias in child.names]
            yield from (Import(child.lineno, name, top) for name in dict.fromkeys(names))
        else:
            typing = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(child, package, top and not typing and not inside)


def part(path: str) -> str:
    """`zdissect/flow/ip.py` is of `flow`, `zdissect/table.py` is `table`."""
    return path.removeprefix("zdissect/").removesuffix(".py").split("/")[0]


LIBRARY = [path for path in SOURCES if path.startswith("zdissect/")]


@pytest.mark.parametrize("path", LIBRARY)
def test_layers(path):
    own = part(path)
    allowed = {own, "__version__", *LAYERS.get(own, "").split()}
    wrong = [
        f"{path}:{line} imports {module}; {own} may only import: {' '.join(sorted(allowed - {own, '__version__'}))}"
        for line, module, _ in imports(path)
        if module.split(".")[0] in ("zdissect", "zdissect_cli", "cli")
        and (module.split(".")[0] != "zdissect" or module.split(".")[1] not in allowed)
    ]
    assert not wrong, "\n".join(wrong)


def test_layers_have_an_order():
    """No part imports, by way of others, itself."""

    def below(name: str, seen: tuple[str, ...] = ()) -> None:
        assert name not in seen, f"a circle: {' > '.join((*seen, name))}"
        for other in LAYERS.get(name, "").split():
            below(other, (*seen, name))

    for name in LAYERS:
        below(name)


@pytest.mark.parametrize("path", SOURCES)
def test_libraries_stay_in_their_place(path):
    for line, module, top in imports(path):
        name = module.split(".")[0]
        if name in ("zdissect", "cli") or name in sys.stdlib_module_names or name == "_typeshed":
            continue
        assert name in LIBRARIES, f"{path}:{line} imports {name}, which isn't one of our dependencies"
        assert path.startswith(LIBRARIES[name]), f"{path}:{line} imports {name}, which only {LIBRARIES[name]} may"
        slow = top and name in SLOW and not path.startswith(LAZY)
        assert not slow, f"{path}:{line} imports {name} at once; do so in the function that needs it"


def test_the_command_line_imports_its_own_modules_relatively():
    """Its name is zdissect_cli once it is installed, and cli in the source."""
    wrong = [
        f"{path}:{node.lineno}"
        for path in SOURCES
        if path.startswith("cli/")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and not node.level and node.module in ("cli", "zdissect_cli")
    ]
    assert not wrong


@pytest.mark.parametrize("path", [path for path in LIBRARY if not path.startswith(OPENERS)])
def test_only_captures_open_files(path):
    """All other layers are pure: bytes and values in, values out."""
    for node in ast.walk(tree(path)):
        if not isinstance(node, ast.Call):
            continue
        call = ast.unparse(node.func)
        where, _, name = call.rpartition(".")
        opens = name in OPENING and (not where or where in FILE_MODULES or name not in ("open", "mmap"))
        assert not opens, f"{path}:{node.lineno} calls {call}(); only {', '.join(OPENERS)} may"


# --- facts about the wire


@cache
def source(module: str) -> Source | None:
    """The source of a module whose names may stand for literals."""
    path = module.replace(".", "/") + ".py"
    known = path in SOURCES and not path.startswith("zdissect/grammar/")
    return Source((ROOT / path).read_text(encoding="utf-8"), source) if known else None


def facts(path: str, text: str) -> list[str]:
    """What a file says of the wire in numbers: Zenoh's own, and all others that nothing excuses."""
    here = Source(text, source)
    numbers = [Literal(node.lineno, ast.unparse(node)) for node in ast.walk(here.tree) if _is_ours(node)]
    if path not in FOREIGN:
        _, *excused = EXCUSED.get(path, ("",))
        numbers += [one for one in here.literals() if one.text not in excused]
    return [f"{path}:{line} says {number}" for line, number in sorted({*numbers})]


def _is_ours(node: ast.AST) -> TypeGuard[ast.Constant]:
    known = (ZENOH_PORT, SCOUTING_PORT, *RAW_ETHERTYPES)
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value in known


READERS = [path for path in SOURCES if not path.startswith(INTERPRETERS)]


@pytest.mark.parametrize("path", READERS)
def test_facts_about_the_wire_stand_in_the_grammar(path):
    """Ids, flags, versions, prefixes and ports come from its objects: `INIT.id`, `FRAGMENT.flag("M").mask`."""
    found = facts(path, (ROOT / path).read_text(encoding="utf-8"))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", FOREIGN)
def test_who_reads_other_formats_knows_no_messages(path):
    known = {module for _, module, _ in imports(path) if module.startswith("zdissect.grammar")}
    assert known <= {"zdissect.grammar.ports"}


def test_no_excuse_is_left_over():
    sources = {path: Source((ROOT / path).read_text(encoding="utf-8"), source) for path in (*FOREIGN, *EXCUSED)}
    found = {path: {one.text for one in here.literals()} for path, here in sources.items()}
    assert not [path for path in FOREIGN if not found[path]]
    assert not {path: left for path, (_, *excused) in EXCUSED.items() if (left := {*excused} - found[path])}


@pytest.mark.parametrize(("path", "before", "after"), PLANTED)
def test_facts_in_the_wrong_place_are_found(path, before, after):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert before in text
    assert facts(path, text.replace(before, after, 1))


# --- what isn't loaded until it is used


def loaded(code: str) -> set[str]:
    """The modules that are loaded after this code, in a process of its own."""
    script = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{code}\nprint('\\n' + ' '.join(sys.modules))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {*out.stdout.splitlines()[-1].split()}


def run(*arguments: str) -> str:
    """Code that runs the command line."""
    return f"from cli.main import cli\ncli.main({list(arguments)!r}, standalone_mode=False)"


@pytest.mark.parametrize(
    "code",
    [
        "import cli.main",
        "import zdissect.pipeline",
        run("--help"),
        run("hex", "--help"),
        run("hex", "1d 00 03 6b 2f 61 01 03 31 31 31"),
        run(str(ROOT / "samples" / "pubsub-tcp.pcap")),
    ],
    ids=["main", "pipeline", "help", "hex-help", "hex", "capture"],
)
def test_slow_libraries_are_not_loaded_unless_used(code):
    assert not {name.split(".")[0] for name in loaded(code)} & SLOW


def test_help_does_not_load_the_dissector():
    assert not {name for name in loaded(run("--help")) if name.startswith(("zdissect.engine", "zdissect.flow"))}


# --- sizes


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
    wrong = sorted(long - LONG_FUNCTIONS.keys())
    assert not wrong, f"more than {LONGEST_FUNCTION} lines: {', '.join(wrong)}"


def test_functions_take_few_arguments():
    """What takes more has a type that holds some of them."""
    many = {name for name, function in functions(SOURCES) if arguments(function) > MOST_ARGUMENTS}
    wrong = sorted(many - MANY_ARGUMENTS.keys())
    assert not wrong, f"more than {MOST_ARGUMENTS} arguments: {', '.join(wrong)}"


# --- names


def test_no_file_has_the_name_of_another():
    """One word, one meaning: who looks for a module finds one."""
    places = defaultdict(list)
    for path in SOURCES:
        places[Path(path).stem].append(path)
    wrong = {name: paths for name, paths in places.items() if len(paths) > 1 and name != "__init__"}
    assert not (wrong.keys() - SHARED_MODULES.keys()), wrong


def test_no_class_has_the_name_of_another():
    places = defaultdict(list)
    for path in SOURCES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path}:{node.lineno}")
    wrong = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert not (wrong.keys() - SHARED_CLASSES.keys()), wrong


def test_modules_import_in_one_direction():
    """Imports for types and inside functions count too: whoever reads a module needs none of those that need it."""
    modules = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in SOURCES}
    needs: dict[str, set[str]] = {}
    for name, path in modules.items():
        nodes = [node for node in ast.walk(tree(path)) if isinstance(node, ast.ImportFrom) and node.module]
        named = {f"{node.module}.{alias.name}" for node in nodes for alias in node.names}
        needs[name] = {one if one in modules else one.rpartition(".")[0] for one in named} & modules.keys() - {name}
    TopologicalSorter(needs).prepare()  # raises CycleError with the circle


@pytest.mark.parametrize("path", SOURCES)
def test_every_file_says_what_it_is(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not text or ast.get_docstring(tree(path)), f"{path} needs a docstring: what is it for?"


# --- what no file may hold

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
