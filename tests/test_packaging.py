"""What is installed: metadata, and that no file is left behind."""

import ast
import re
import subprocess
import sys
import tomllib
from email.message import Message
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest

import zdissect

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def installed() -> Distribution:
    return distribution("zdissect")


@pytest.fixture(scope="module")
def metadata(installed) -> Message:
    return installed.metadata


def test_names_and_license(metadata):
    assert metadata["Name"] == "zdissect"
    assert metadata["Summary"] == PROJECT["description"]
    assert metadata["License-Expression"] == "MIT"
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert metadata["Description-Content-Type"] == "text/markdown"


def test_the_version_is_the_same_everywhere(metadata):
    assert metadata["Version"] == zdissect.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{zdissect.__version__}]" in changes


def test_the_script_is_there(installed):
    (script,) = (entry for entry in installed.entry_points if entry.group == "console_scripts")
    assert (script.name, script.value) == ("zdissect", "zdissect_cli.main:main")
    assert callable(script.load())


@pytest.mark.parametrize("module", ["zdissect", "zdissect_cli"])
def test_the_modules_are_the_script(module):
    out = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True).stdout
    assert out == f"zdissect {zdissect.__version__}, Zenoh protocol 0x09\n"


def test_every_folder_is_a_package():
    """setup.py finds packages by their __init__.py."""
    for folder in {path.parent for path in _sources()}:
        assert (folder / "__init__.py").is_file(), f"{folder} has no __init__.py"


def test_every_file_is_installed(installed):
    files = {str(file) for file in installed.files or ()}
    if "zdissect_cli/main.py" not in files:
        pytest.skip("installed as editable: the source itself is what is installed")
    for path in _sources():
        name = path.relative_to(ROOT).as_posix()
        assert re.sub("^cli/", "zdissect_cli/", name) in files


def test_spark_finds_its_source(tmp_path):
    """Spark goes through the list of all top-level modules; in an editable installation too."""
    code = "import pkgutil; print(*(one.name for one in pkgutil.iter_modules()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "pyspark_zenoh" in done.stdout.split(), "installed before the file was there? pip install -e '.[dev]'"


def test_types_are_for_others_too():
    assert (Path(zdissect.__file__).parent / "py.typed").is_file()


def test_dependencies_are_those_that_are_imported():
    """Names of projects and of modules agree, but for a few. What nothing imports isn't installed, and vice versa."""
    extras = PROJECT["optional-dependencies"]
    lines = [*PROJECT["dependencies"], *extras["batch"], *extras["spark"], *extras["ros2"]]
    projects = {re.split(r"[^\w.-]", line)[0] for line in lines} - {"pandas"}  # which pyspark needs for Arrow
    stated = {{"backports.zstd": "backports", "google-re2": "re2"}.get(name, name) for name in projects}
    nodes = [node for path in _sources() for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    modules += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    imported = {module.split(".")[0] for module in modules}
    assert stated == imported - sys.stdlib_module_names - {"zdissect", "_typeshed", "compression"}  # of Python 3.14


def _sources() -> list[Path]:
    return [path for top in ("zdissect", "cli") for path in (ROOT / top).rglob("*.py")]
