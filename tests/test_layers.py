"""Who may import whom, who may open files, and what is loaded only when it is used (CONTRIBUTING.md)."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest

from tests.sources import LIBRARY, ROOT, SOURCES, imports, part, tree

STANDARD = {"_typeshed", "compression"}
"""What comes with Python besides `sys.stdlib_module_names`: for types, and from 3.14 on."""

LAYERS = {
    "grammar": "",
    "records": "",
    "limits": "",
    "paste": "",
    "capture": "records",
    "engine": "grammar",
    "flow": "engine grammar limits records",
    "dissection": "engine flow grammar records",
    "session": "dissection engine flow grammar limits records",
    "dissector": "dissection engine flow grammar records session",
    "stages": "dissector flow grammar limits records session",
    "pipeline": "dissection dissector engine flow grammar limits records session stages",
    "fed": "dissection pipeline records vector",
    "verbose": "dissection flow pipeline records",
    "endless": "dissection flow pipeline records",
    "readings": "engine flow grammar records",
    "table": "dissection engine flow grammar records",
    "excerpt": "dissection engine flow pipeline records session",
    "anonymize": "dissection engine flow grammar pipeline records session",
    "filters": "dissection engine flow grammar records ros2 session table vector",
    "stats": "dissection engine flow grammar pipeline records session table vector",
    "reach": "dissection engine flow grammar pipeline records session stats table",
    "listing": "dissection engine flow grammar pipeline reach records session stats table",
    "transcript": "dissection engine flow grammar listing pipeline records session stats table",
    "ros2": "dissection engine grammar pipeline records stats table",
    "output": "dissection engine filters flow grammar records ros2 session stats table vector",
    "parallel": "dissection engine flow grammar pipeline records vector",
    "conformance": "dissection engine flow grammar listing output pipeline records session stats table",
    "comparison": "dissection engine grammar listing output pipeline stats",
    "vector": "dissection dissector engine flow grammar pipeline records session",
    "export": "capture dissection dissector engine filters flow grammar limits output parallel pipeline records "
    "ros2 session stats table vector",
    "growing": "capture export grammar stats",
    "spark": "capture export growing parallel records ros2",
    "library": "capture dissection engine fed filters flow grammar output paste pipeline readings records table",
    "scapy": "engine grammar",
    "__init__": "library",
}
"""Which parts of zdissect each part may import, besides itself and the version in `zdissect`. What isn't listed here
imports nothing of ours."""

ARROW = tuple(f"zdissect/filters/{name}.py" for name in ("compiled", "on_arrow", "arrow_predicates", "on_datasets"))
"""Filters over Arrow, which are imported by whoever has any."""

LIBRARIES = {
    "click": ("cli/",),
    "rich": ("cli/", "zdissect/output/"),
    "scapy": ("zdissect/flow/scapy_links.py", "zdissect/capture/packet_socket.py", "zdissect/scapy/"),
    "lz4": ("zdissect/flow/lz4block.py", "zdissect/capture/packings.py"),
    "backports": ("zdissect/capture/packings.py",),
    "wsproto": ("zdissect/flow/websocket.py",),
    "cobs": ("zdissect/flow/serial_line.py",),
    "lark": ("zdissect/filters/syntax.py",),
    "rosbags": ("zdissect/ros2/", "zdissect/export/"),
    "xxhash": ("zdissect/ros2/owners.py",),
    "re2": ("zdissect/filters/patterns.py",),
    "pyarrow": ("zdissect/export/", "zdissect/spark/", *ARROW),
    "pyspark": ("zdissect/spark/",),
    "numpy": (
        "zdissect/vector/",
        "zdissect/export/block_rows.py",
        "zdissect/export/block_tables.py",
        "zdissect/export/ros_columns.py",
        "zdissect/parallel/look_blocks.py",
    ),
}
"""Where a library may be imported. A new one needs a reason, a dependency in pyproject.toml and a line here."""

SLOW = {"scapy", "rich", "wsproto", "cobs", "pyarrow", "pyspark", "lark", "re2", "numpy", "rosbags", "xxhash"}
"""What nobody waits for who doesn't use it: imported in the function that needs it, or in a module of the command line
that only one command loads."""

LAZY = (
    "cli/",
    "zdissect/export/",
    "zdissect/filters/",
    "zdissect/growing/",
    "zdissect/parallel/look_blocks.py",
    "zdissect/scapy/",
    "zdissect/spark/",
    "zdissect/vector/",
)
"""What only one command loads, and no other part of the library."""

OPENERS = ("zdissect/capture/", "zdissect/export/", "zdissect/growing/", "zdissect/spark/")
"""Who may open files. The command line may too."""

OPENING = {"open", "read_bytes", "read_text", "write_bytes", "write_text", "mmap", "fdopen", "popen", "Popen"}

FILE_MODULES = {"io", "os", "gzip", "bz2", "lzma", "zipfile", "tarfile", "codecs", "mmap", "subprocess"}


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
        if name in ("zdissect", "cli") or name in sys.stdlib_module_names or name in STANDARD:
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
        run("filter", "--help"),
    ],
    ids=["main", "pipeline", "help", "hex-help", "hex", "capture", "filter-help"],
)
def test_slow_libraries_are_not_loaded_unless_used(code):
    assert not {name.split(".")[0] for name in loaded(code)} & SLOW


def test_help_does_not_load_the_dissector():
    assert not {name for name in loaded(run("--help")) if name.startswith(("zdissect.engine", "zdissect.flow"))}


def test_modules_import_in_one_direction():
    """Imports for types and inside functions count too: whoever reads a module needs none of those that need it."""
    modules = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in SOURCES}
    needs: dict[str, set[str]] = {}
    for name, path in modules.items():
        nodes = [node for node in ast.walk(tree(path)) if isinstance(node, ast.ImportFrom) and node.module]
        named = {f"{node.module}.{alias.name}" for node in nodes for alias in node.names}
        needs[name] = {one if one in modules else one.rpartition(".")[0] for one in named} & modules.keys() - {name}
    TopologicalSorter(needs).prepare()  # raises CycleError with the circle
