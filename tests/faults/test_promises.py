"""What SECURITY.md promises of a capture: nothing in it is run as code, used as a path, or started as a program."""

import ast
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import click
import pytest
from zdissect_cli.main import cli

from tests.conversation import Conversation
from tests.faults.commands import FIRST, ROOT, ROS2, Call, calls
from tests.faults.runs import Runs
from tests.messages import push, put
from tests.sources import SOURCES, tree
from zdissect.capture.output_file import OutputFile
from zdissect.capture.reader import MAX_RECORD
from zdissect.flow.websocket import MOST_MESSAGE
from zdissect.grammar.conditions import ConditionError, _Lookup, parse
from zdissect.limits import NAMES, Limits, size_text
from zdissect.records import Frame
from zdissect.session.fragments import LARGEST

SPELLS = (
    "../../../../tmp/evil", "/etc/cron.d/evil", "..", "C:/evil", "$(touch evil)", "`touch evil`", "a|touch evil",
    "__import__('os').system('touch evil')", "{self.__class__}", "%s%n", "evil\0.txt", "~/evil", "@ros2_lv/0/../evil",
    "0/evil/std_msgs::msg::dds_::__import__('os')_/RIHS01_00", "file:///etc/passwd", "-o/evil",
)  # fmt: skip
"""Texts that would do something if they were code, paths, templates or words of a command line."""
GENERATED = ("zdissect/grammar/conditions.py",)
"""Where texts become code: conditions of the grammar."""
SEALED = "zdissect/growing/decoder_state.py"
"""Where objects are made of bytes: states of `--follow`, whose seal was checked."""

OTHERS = {"--version", "-v"}
"""Options of the program, and of others."""


def _options(command: click.Command | None) -> set[str]:
    """The options of a command, and of those in it."""
    assert command is not None
    inside = command.commands.values() if isinstance(command, click.Group) else ()
    return {opt for param in command.params for opt in param.opts}.union(*map(_options, inside))


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture with such texts as keys, encodings and payloads."""
    conversation = Conversation().open()
    for text in SPELLS:
        encoding = {"id": 0, "S": 1, "schema": text.encode()}
        conversation.frame(0, push(text, body=put(text.encode())))
        conversation.frame(0, push("demo/x", body=put(text.encode(), encoding=encoding, E=1)))
    path = tmp_path_factory.mktemp("bad") / "bad.pcapng"
    with OutputFile(str(path)) as file:
        for number, frame in enumerate(conversation.capture.frames, 1):
            file.write(Frame("", number, frame.ts_ns, frame.link, frame.wire_len, frame.data))
    return path


@pytest.fixture(scope="module")
def runs() -> Iterator[Runs]:
    with Runs() as server:
        yield server


def _own(path: str, folder: Path) -> bool:
    """Whether a run may write there: names alone are below a directory that is open."""
    return (
        "/" not in path
        or path.startswith((str(folder), f"{tempfile.gettempdir()}/tmp"))
        or path in ("/dev/null", "/dev/full")
    )


def _said(runs: Runs, call: Call, capture: Path, ros2: Path, folder: Path) -> list[list[str]]:
    """What a run does besides computing."""
    log = folder / "log"
    log.unlink(missing_ok=True)
    done = runs.run(call.args(folder / "out", capture, ros2), folder / "out", (), audit=str(log))
    assert done.code in (0, 1, 2, 3), (call, done)
    assert "Traceback" not in done.err, (call, done)
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def _conditions() -> set[str]:
    """The code of all texts in the grammar that could be conditions."""
    out = set()
    for path in SOURCES:
        for node in ast.walk(tree(path)) if path.startswith("zdissect/grammar/") else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                with suppress(ConditionError, ValueError, MemoryError):
                    parse(node.value)
                    out.add(ast.unparse(_Lookup().visit(ast.parse(node.value, mode="eval"))))
    return out


def test_no_text_of_a_capture_becomes_code_a_path_or_a_program(runs: Runs, evil: Path, tmp_path: Path) -> None:
    """What becomes code while commands run are conditions of the grammar; nothing has a text of the capture in it."""
    usual = {
        entry[1] for call in calls() for entry in _said(runs, call, FIRST, ROS2, tmp_path) if entry[0] == "compile"
    }
    made = {text.removeprefix("lambda values: ") for text in usual if text.startswith("lambda values: ")}
    assert made <= _conditions()
    telling = [spell for spell in SPELLS if len(spell) > 4]
    folder = tmp_path / "again"
    folder.mkdir()
    for call in calls():
        for event, *what in _said(runs, call, evil, evil, folder):
            assert not any(spell in text for spell in telling for text in map(str, what)), (call, event, what)
            if event not in (
                "compile",
                "socket.gethostname",
            ):  # rosbags makes classes of all definitions that it comes with
                assert event in ("open", "os.rename", "os.mkdir", "os.remove", "shutil.rmtree"), (call, event, what)
                assert all(_own(one, folder) for one in what if isinstance(one, str)), (call, event, what)


def test_payloads_get_names_of_their_own(runs: Runs, evil: Path, tmp_path: Path) -> None:
    call = next(call for call in calls() if str(call).startswith("export"))
    assert runs.run(call.args(tmp_path, evil), tmp_path / "streams").code == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(names) == 2 * len(SPELLS) + 2
    assert all(name[:6].isdecimal() for name in names if not name.startswith("index"))


def test_only_conditions_of_the_grammar_become_code() -> None:
    """Nothing else calls what makes code of texts, or objects of bytes."""
    for path in SOURCES:
        for node in ast.walk(tree(path)):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called in ("eval", "exec", "compile", "__import__", "os.system") or called.startswith(
                ("pickle.load", "marshal.load", "yaml.load", "shelve.")
            ):
                sealed = called == "pickle.loads" and path == SEALED
                assert sealed or (called == "eval" and path in GENERATED), (path, called)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "a.b",
        "a[0]",
        "(lambda: 1)()",
        "'text'",
        "f'{a}'",
        "a if b else c",
        "a := 1",
        "a\nb",
        "*a",
        "1.5",
    ],
)
def test_conditions_have_nothing_that_does_anything(text: str) -> None:
    with pytest.raises(ConditionError):
        parse(text)


def test_security_md_has_the_limits_that_there_are() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = re.findall(r"^  \| `(\w+)` \| (\d+[KMG]) \|", text, re.MULTILINE)
    assert rows == [(name, size_text(getattr(Limits(), name))) for name in NAMES]
    for most, words in (
        (MAX_RECORD, "capture file is believed up to 16 MB"), (MOST_MESSAGE, "WebSocket message up to 16 MB"),
        (LARGEST, "message up to 256 MB"),
    ):  # fmt: skip
        assert words in " ".join(text.split())
        assert f"{most >> 20} MB" in words


def test_security_md_has_the_options_that_there_are() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    context = click.Context(cli)
    known = {opt for name in cli.modules for opt in _options(cli.get_command(context, name))}  # type: ignore[attr-defined]
    assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", "".join(re.findall(r"`[^`]*`", text)))) - OTHERS <= known
