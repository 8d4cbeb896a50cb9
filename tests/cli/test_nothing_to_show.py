"""Where a command has nothing to show, it says what isn't there, and what may be in what it can't show."""

from pathlib import Path

import pytest

from tests.cli.listings import SAMPLES, run
from tests.conversation import Conversation
from tests.export.tables import write_pcap
from tests.packets import CaptureBuilder

TLS = bytes.fromhex("16030100c8010000c40303")
OPAQUE = "zdissect: conversations that aren't shown: 1 TLS (opaque: no keys)\n"


@pytest.fixture
def made(tmp_path: Path):
    """Writes a capture."""

    def write(capture: CaptureBuilder) -> Path:
        path = tmp_path / "made.pcap"
        write_pcap(path, capture.frames)
        return path

    return write


@pytest.mark.parametrize("command", ["keys", "queries", "samples", "declarations", "findings"])
def test_a_capture_with_zenoh_but_without_rows(command, made):
    path = made(Conversation().open().capture)
    done = run(command, path)
    assert (done.return_value, done.stdout, done.stderr) == (0, "", f"zdissect: no {command} in 7 frames\n")
    assert run(command, "-q", path).stderr == ""
    unmatched = run(command, "-Y", "sn == 1", path).stderr
    assert unmatched == f"zdissect: nothing matches 'sn == 1': no {command} are listed\n"


EVERY = [
    ("-T", "line"), ("stats",), ("sessions",), ("keys",), ("queries",), ("samples",), ("declarations",), ("findings",),
    ("top",), ("ros2",), ("ros2", "doctor"), ("ros2", "bag", "-o", "OUT.mcap"), ("why", "--key", "a", "--to", "1"),
    ("follow", "1"), ("export", "payloads", "-o", "OUT"),
]  # fmt: skip
"""What reads captures, but `check`, whose verdict says it."""


@pytest.mark.parametrize("args", EVERY, ids=" ".join)
def test_what_is_encrypted_is_said(args, made, tmp_path):
    path = made(Conversation().raw(0, TLS).raw(1, b"whatever").capture)
    args = [text.replace("OUT", str(tmp_path / "out")) for text in args]
    done = run(*args, path)
    assert OPAQUE in done.stderr
    if "-o" not in args and "--to" not in args and "1" not in args:
        assert run(*args, "-q", path).stderr == ""


def test_each_of_two_captures_says_it(made):
    path = made(Conversation().raw(0, TLS).raw(1, b"whatever").capture)
    done = run("diff", SAMPLES / "pubsub-tcp.pcap", path)
    assert done.return_value == 1
    assert done.stderr == f"zdissect: no Zenoh found in 5 frames of {path}\n" + OPAQUE.replace(": ", f": {path}: ", 1)
