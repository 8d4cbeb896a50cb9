"""A run that ends at any moment, states that can't be used, and files and outputs that aren't what they were."""

import errno
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from hashlib import sha256

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

from tests.export.tables import SAMPLES, converted, rows
from tests.growing.following import arrive, cut, follow, job, same, table
from zdissect.export.conversion_settings import Settings
from zdissect.export.parquet import WriteError
from zdissect.growing import followed_tables, follower
from zdissect.growing.checkpoint import described, load
from zdissect.growing.decoder_state import Sealing
from zdissect.growing.followed_tables import FollowedTables


class Killed(BaseException):
    """As by kill -9: nothing is cleaned up."""


def _left(out):
    """The names of files in the folder beside the tables."""
    return sorted(str(path.relative_to(out / "_follow")) for path in (out / "_follow").rglob("*") if path.is_file())


def _killed_after(calls, monkeypatch):
    """Ends a run after so many changes to files of a commit."""
    left = [calls]

    def counted(do):
        def called(*args, **options):
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return do(*args, **options)

        return called

    monkeypatch.setattr(followed_tables.os, "replace", counted(os.replace))
    monkeypatch.setattr(followed_tables, "_synced", counted(followed_tables._synced))
    monkeypatch.setattr(followed_tables.Path, "unlink", counted(followed_tables.Path.unlink))
    monkeypatch.setattr(FollowedTables, "__exit__", lambda self, *_: self.owner and self.owner.close())


def test_killed_at_every_change_of_a_commit(tmp_path, place, monkeypatch):
    directory, out, whole = place
    pieces = cut("pubsub-tcp.pcap", tmp_path / "pieces", 3)
    arrive(pieces[:1], directory)
    follow(job(directory, out))
    shutil.copytree(out, tmp_path / "before")
    arrive(pieces[1:], directory)
    converted(directory, whole)
    for calls in range(100):
        shutil.rmtree(out)
        shutil.copytree(tmp_path / "before", out)
        with monkeypatch.context() as patched:
            _killed_after(calls, patched)
            try:
                follow(job(directory, out))
                ended = True
            except Killed:
                ended = False
        follow(job(directory, out))
        assert all(table(out, name) == table(whole, name) for name in ("messages", "findings", "captures", "sessions"))
        assert [name for name in _left(out) if "states" not in name] == ["_owner", "manifest.json"]
        assert sum("states" in name for name in _left(out)) == 1
        if ended:
            break
    assert ended
    assert calls > 10


def test_interrupted_while_parts_are_moved(tmp_path, place, monkeypatch):
    """As by Ctrl-C: what is cleaned up then isn't what is still needed."""
    directory, out, whole = place
    arrive(cut("pubsub-tcp.pcap", tmp_path / "pieces", 2), directory)
    follow(job(directory, out))
    arrive(cut("query-router.pcap", tmp_path / "others", 1, "x_other.pcap"), directory)
    carry_out = FollowedTables.carry_out

    def interrupted(tables, moves, removes):
        if tables.moving:
            raise KeyboardInterrupt
        carry_out(tables, moves, removes)

    with monkeypatch.context() as patched:
        patched.setattr(FollowedTables, "carry_out", interrupted)
        with pytest.raises(KeyboardInterrupt):
            follow(job(directory, out))
    follow(job(directory, out))
    same(out, directory, whole)


def test_killed_twice_by_signal(tmp_path, place):
    directory, out, whole = place
    pieces = cut("query-router.pcap", tmp_path / "pieces", 4)
    command = [sys.executable, "-m", "zdissect_cli", "batch", directory, "-o", out, "--follow"]

    def started():
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def until(count):
        deadline = time.monotonic() + 60
        while not (out / "captures").is_dir() or len(rows(out, "captures")) < count:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    arrive(pieces[:1], directory)
    process = started()
    until(1)
    arrive(pieces[1:2], directory)
    process.kill()
    process.communicate()
    process = started()
    arrive(pieces[2:], directory)
    until(4)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    lines = said.splitlines()
    assert lines[0] == f"zdissect: following {directory}; 1 file in {out} already; Ctrl-C ends it"
    assert lines[-1] == f"zdissect: ended; the same command goes on. Tables in {out}"
    same(out, directory, whole)


# --- states


def test_a_state_that_others_have_written_is_not_loaded(tmp_path, place):
    directory, out, whole = place
    pieces = cut("query-router.pcap", tmp_path / "pieces", 3)
    arrive(pieces[:2], directory)
    follow(job(directory, out))
    (state,) = (out / "_follow" / "states").iterdir()

    class Bad:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    state.write_bytes(pickle.dumps(Bad()))
    manifest = out / "_follow" / "manifest.json"
    checkpoint, _, _ = load(manifest.read_text())
    (capture,) = checkpoint.captures
    forged = sha256(state.read_bytes()).hexdigest()
    capture.state = capture.state._replace(sha256=forged)  # the seal can't be forged
    manifest.write_text(checkpoint.json([], []))
    arrive(pieces[2:], directory)
    follow(job(directory, out))
    assert not (tmp_path / "ran").exists()
    same(out, directory, whole)


@pytest.mark.parametrize("why", ["version", "key", "gone"])
def test_a_capture_whose_state_cannot_be_used_is_decoded_anew(why, tmp_path, place, monkeypatch):
    directory, out, whole = place
    pieces = cut("query-router.pcap", tmp_path / "pieces", 3)
    arrive(pieces[:2], directory)
    follow(job(directory, out))
    if why == "version":
        monkeypatch.setattr("zdissect.growing.decoder_state.__version__", "9.9")
    elif why == "key":
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    else:
        shutil.rmtree(out / "_follow" / "states")
    arrive(pieces[2:], directory)
    (epoch,) = follow(job(directory, out))
    assert len(epoch.done.files) == 3
    same(out, directory, whole)


def test_many_captures_keep_few_states(place, monkeypatch):
    directory, out, whole = place
    monkeypatch.setattr(follower, "STATES_KEPT", 2)
    for number in range(4):
        shutil.copy(SAMPLES / "pubsub-tcp.pcap", directory / f"{number}.pcap")
    follow(job(directory, out))
    assert sum("states" in name for name in _left(out)) == 2
    same(out, directory, whole)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are others there")
def test_a_key_that_others_can_read_is_none(tmp_path):
    sealing = Sealing(tmp_path / "home")
    assert sealing.key
    assert sealing.seal("x") == Sealing(tmp_path / "home").seal("x") != sealing.seal("y")
    (tmp_path / "home" / "follow.key").chmod(0o644)
    assert Sealing(tmp_path / "home").key is None
    assert Sealing(tmp_path / "home").seal("x") == ""


# --- files and outputs


def test_a_file_that_is_replaced_is_another_capture(tmp_path, place):
    directory, out, _ = place
    shutil.copy(SAMPLES / "pubsub-tcp.pcap", directory / "x.pcap")
    follow(job(directory, out))
    first = table(out, "messages")
    shutil.copy(SAMPLES / "query-router.pcap", directory / "x.pcap")
    notes: list[str] = []
    follow(job(directory, out), notes)
    assert notes == ["x.pcap holds something else now; it is read as a new capture"]
    converted(directory, tmp_path / "second")
    assert table(out, "messages") == sorted(first + table(tmp_path / "second", "messages"))


def test_files_that_vanish_stay_in_the_tables(tmp_path, place, monkeypatch):
    directory, out, whole = place
    pieces = cut("query-router.pcap", tmp_path / "pieces", 3)
    converted(tmp_path / "pieces", whole)
    for path in pieces:  # each is gone when the next comes: the state is enough
        arrive([path], directory)
        follow(job(directory, out))
        (directory / path.name).unlink()
    assert table(out, "messages") == table(whole, "messages")
    assert table(out, "captures") == table(whole, "captures")


def test_what_must_be_read_again_but_has_gone(tmp_path, place):
    directory, out, _ = place
    pieces = cut("query-router.pcap", tmp_path / "pieces", 3)
    arrive(pieces[:2], directory)
    follow(job(directory, out))
    before = table(out, "messages")
    shutil.rmtree(out / "_follow" / "states")
    (directory / pieces[0].name).unlink()
    arrive(pieces[2:], directory)
    notes: list[str] = []
    follow(job(directory, out), notes)
    assert notes == [f"{pieces[0].name} has gone and can't be read again: what follows is a new capture"]
    assert set(before) < set(table(out, "messages"))
    assert len(table(out, "captures")) == 3


def test_a_file_that_changes_while_it_is_read(place, monkeypatch):
    directory, out, whole = place
    data = (SAMPLES / "query-router.pcap").read_bytes()
    path = directory / "x.pcap"
    path.write_bytes(data[:9000])
    take_step = follower.take_step

    def meanwhile(step, *args):
        done = take_step(step, *args)
        path.write_bytes(data)
        return done

    monkeypatch.setattr(follower, "take_step", meanwhile)
    assert follow(job(directory, out)) == []
    assert table(out, "messages") == []
    monkeypatch.setattr(follower, "take_step", take_step)
    follow(job(directory, out))
    same(out, directory, whole)


def test_a_full_disk(place, monkeypatch):
    directory, out, whole = place
    follow(job(directory, out))
    shutil.copy(SAMPLES / "query-router.pcap", directory)

    def full(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    for name in ("zdissect.growing.followed_tables._synced", "zdissect.export.parquet.create"):
        with monkeypatch.context() as patched:
            patched.setattr(name, full)
            with pytest.raises(WriteError, match="the disk is full; all files up to now are kept"):
                follow(job(directory, out))
    follow(job(directory, out))
    same(out, directory, whole)


def test_two_into_one(place):
    directory, out, _ = place
    follow(job(directory, out))
    with FollowedTables(str(out), described(job(directory, out))) as tables:
        with pytest.raises(WriteError, match="another run writes to it"):
            follow(job(directory, out))
        manifest = out / "_follow" / "manifest.json"
        other = json.loads(manifest.read_text()) | {"run": "other"}
        manifest.write_text(json.dumps(other))  # where locks don't work
        with pytest.raises(WriteError, match="another run has written to it meanwhile"):
            tables.commit(tables.checkpoint.copy(), [], [])


def test_outputs_of_others(tmp_path, place):
    directory, out, _ = place
    shutil.copy(SAMPLES / "pubsub-tcp.pcap", directory)
    converted(directory, out)
    with pytest.raises(WriteError, match="wasn't made by --follow"):
        follow(job(directory, out))
    shutil.rmtree(out)
    follow(job(directory, out))
    for mode in ("append", "overwrite"):
        with pytest.raises(WriteError, match="was made by --follow"):
            converted(directory, out, mode=mode)
    with pytest.raises(WriteError, match=r"begun with other options \(payload\)"):
        follow(job(directory, out, Settings(payload=1)))
    with pytest.raises(WriteError, match=f"follows {directory}"):
        follow(job(tmp_path, out))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": 2}'])
def test_a_damaged_manifest(text, place):
    directory, out, _ = place
    follow(job(directory, out))
    (out / "_follow" / "manifest.json").write_text(text)
    with pytest.raises(WriteError, match="choose another OUT"):
        follow(job(directory, out))


def test_a_manifest_cannot_reach_outside(tmp_path, place):
    directory, out, _ = place
    follow(job(directory, out))
    (tmp_path / "precious").write_text("x")
    manifest = out / "_follow" / "manifest.json"
    for names in (["../../precious"], [str(tmp_path / "precious")]):
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"removes": names}))
        with pytest.raises(WriteError, match="is damaged"):
            follow(job(directory, out))
        assert (tmp_path / "precious").exists()


# --- the command


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--mode", "append"], "--mode doesn't go with --follow"),
        (["-j", "2"], "--follow takes one process"),
        (["--master", "local"], "--master needs --spark"),
    ],
)
def test_options_that_do_not_go_together(options, why, place):
    directory, out, _ = place
    done = CliRunner().invoke(cli, ["batch", str(directory), "-o", str(out), "--follow", *options])
    assert done.exit_code == 2
    assert why in done.stderr
    assert not out.exists()


def test_no_directory(place):
    directory, out, _ = place
    done = CliRunner().invoke(cli, ["batch", str(directory / "x"), "-o", str(out), "--follow"], standalone_mode=False)
    assert done.return_value == 2
    assert done.stderr == f"zdissect: {directory / 'x'}: there is no such directory\n"
