"""`zdissect diff`: in words and as JSON, exit codes, and what is refused."""

import json

import pytest

from tests.cli.listings import SAMPLES, SHARED, refusal, run
from tests.conversation import Conversation
from tests.export.tables import write_pcap
from tests.messages import push, put
from zdissect.grammar.registry import wire_fields

PICO, RUST = SAMPLES / "pico-clients.pcap", SAMPLES / "declared-keys-router.pcap"


def fields(*args: object) -> set[tuple[str, str, str]]:
    """(side, message, field) of what differs."""
    report = json.loads(run("diff", "--json", *args).stdout)
    return {
        (one["side"], one["message"], one.get("field", "messages"))
        for session in report["sessions"]
        for one in session["differences"]
    }


def test_a_capture_is_like_itself():
    done = run("diff", RUST, RUST)
    assert done.return_value == 0
    lines = done.stdout.splitlines()
    assert lines[:2] == [f"A {RUST}", f"B {RUST}"]
    assert lines.count("  no difference") == 2
    assert lines[-1] == "0 differences in 2 sessions"


def test_pico_and_rust_differ_in_what_they_negotiate():
    """What docs/wire-notes.md, section 10, names as fingerprints."""
    found = fields("--any-key", PICO, RUST)
    assert {
        ("opener", "INIT_SYN", "init.batch_size"),
        ("opener", "INIT_SYN", "init.ext_qos"),
        ("opener", "DECLARE D_KEYEXPR", "declare.ext_qos"),
    } <= found
    names = {name.removeprefix("zenoh.") for name in wire_fields()}
    assert {name for *_, name in found if not name.startswith(("[", "ext ", "messages"))} <= names


def test_a_difference_in_words():
    done = run("diff", "--session", "2:1", "--any-key", PICO, RUST)
    assert done.return_value == 1
    lines = done.stdout.splitlines()
    at = lines.index("    init.ext_qos")
    assert lines[at + 1] == "      A  absent"
    assert lines[at + 2].startswith("      B  present  [")


def test_releases_differ_in_what_they_added():
    if not SHARED.exists():
        pytest.skip("needs the shared captures")
    names = [SHARED / f"16-version-{release}.pcap" for release in ("1.0.0", "1.5.0", "1.9.0")]
    assert fields(*names[:2]) == {("opener", "INIT_SYN", "init.ext_patch"), ("acceptor", "INIT_ACK", "init.ext_patch")}
    assert {name for *_, name in fields(*names[1:])} == {"init.ext_shm", "open.ext_shm_challenge"}


@pytest.mark.parametrize(
    "name", ["15-reordered", "15-tcp-seq-wrap", "15-vlan", "15-raw-ip", "15-retransmitted-overlapping"]
)
def test_the_same_session_captured_otherwise_is_the_same(name):
    base = SHARED / "15-base-rotate.pcap"
    if not base.exists():
        pytest.skip("needs the shared captures")
    done = run("diff", base, SHARED / f"{name}.pcap")
    assert (done.return_value, done.stdout.splitlines()[-1]) == (0, "0 differences in 2 sessions")


def test_what_cannot_be_read_or_holds_nothing(tmp_path):
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(RUST.read_bytes()[:24])
    done = run("diff", RUST, empty)
    assert done.return_value == 1
    assert f"no Zenoh found in 0 frames of {empty}" in done.stderr
    assert run("diff", RUST, "nosuch.pcap").return_value == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--session", "1"], "'1' isn't two numbers of `zdissect sessions`"),
        (["--session", "9:1"], f"there is no session 9 in {RUST}, but 1, 2"),
        (["--ignore", "put.payloda"], "no field is called 'put.payloda'; did you mean put.payload"),
    ],
)
def test_sessions_and_fields_that_there_are_not_are_refused(words, why):
    assert why in refusal("diff", *words, RUST, RUST)


@pytest.mark.parametrize("name", ["put.*", "zenoh.put.payload", "ext 0x0e", "put.payload#2", "[sent]", "*reliability*"])
def test_fields_that_there_are(name):
    assert run("diff", "--ignore", name, RUST, RUST).return_value == 0


def test_what_a_capture_lacks_is_said_below_the_differences(tmp_path):
    whole, holed = Conversation().open(), Conversation().open()
    for payload in (b"a", b"b", b"c"):
        data = whole.bytes(0, whole.framed(0, push("demo", body=put(payload))))
        whole.raw(0, data)
        if payload == b"b":
            holed.lose(0, data)
        else:
            holed.raw(0, data)
    paths = [tmp_path / "whole.pcap", tmp_path / "holed.pcap"]
    for path, conversation in zip(paths, (whole, holed), strict=True):
        write_pcap(path, conversation.capture.frames)
    lines = run("diff", *paths).stdout.splitlines()
    assert lines[-3] == "  not seen: capture B lacks bytes of this session: what is missing there may have been said"
