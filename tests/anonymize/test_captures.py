"""Whole captures: what is made of them is dissected in the same way, and nothing that was replaced is left."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from zdissect_cli.main import cli

from tests.anonymize.proof import items, leaks, raw, secrets, structure
from zdissect.capture import CaptureError, open_capture
from zdissect.capture.output_file import OutputFile

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.pcap*"))
SHARED = Path(__file__).parents[3] / "shared" / "captures"
LONG = ("fleet", "10k", "2mb", "kill9", "publisher-ids")
RECORDED = [path for path in sorted(SHARED.glob("*.pcap*")) if not any(word in path.name for word in LONG)]


SEED = ("--seed", os.environ.get("ANONYMIZE_SEED", "fleet"))
"""The same ZenohIDs, keys and addresses in every run; others are tried by setting it."""


def anonymize(*arguments, code=0):
    done = CliRunner().invoke(cli, ["anonymize", *map(str, arguments)], standalone_mode=False)
    assert done.exception is None, done.exception
    assert done.return_value == code
    return done


def same(path, out):
    """Whether both have the same structure, and nothing that was replaced is in the new one."""
    old, new = structure(items(path)), structure(items(out))
    assert [one for one in zip(old, new, strict=True) if one[0] != one[1]] == []
    assert leaks(secrets(items(path)), raw(out)) == []


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples(path, tmp_path):
    out = tmp_path / "out.pcapng"
    anonymize(*SEED, path, out)
    same(path, out)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_recorded_captures(path, tmp_path):
    out = tmp_path / "out.pcapng"
    try:
        with open_capture(str(path)) as capture:
            list(capture)
    except CaptureError:
        anonymize(*SEED, path, out, code=1)
        return
    anonymize(*SEED, path, out)
    same(path, out)


def test_frames_keep_their_number_time_link_and_length(tmp_path):
    for path in SAMPLES:
        out = tmp_path / f"{path.stem}.out"
        anonymize(path, out)
        with open_capture(str(path)) as old, open_capture(str(out)) as new:
            for one, other in zip(old, new, strict=True):
                assert one[1:5] == other[1:5]
                assert len(one.data) == len(other.data)


def test_segments_that_are_sent_again_hold_the_same(tmp_path):
    """A copy of a segment, and one of its end only, say what the first one says now."""
    path, twice, out = SAMPLES[0].parent / "pubsub-tcp.pcap", tmp_path / "twice.pcapng", tmp_path / "out.pcapng"
    with open_capture(str(path)) as capture, OutputFile(str(twice)) as copy:
        for frame in capture:
            copy.write(frame)
            copy.write(frame)
    anonymize(twice, out)
    same(twice, out)
    with open_capture(str(out)) as capture:
        frames = [frame.data for frame in capture]
    assert frames[::2] == frames[1::2]


def test_the_same_seed_makes_the_same(tmp_path):
    path = SAMPLES[0]
    made = []
    for name, arguments in {"a": ["--seed", "x"], "b": ["--seed", "x"], "c": ["--seed", "y"], "d": [], "e": []}.items():
        anonymize(*arguments, path, tmp_path / name)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    assert len(set(made)) == 4


def test_types_of_ros_2_may_stay(tmp_path):
    path = SHARED / "20-ros2-talker-listener.pcap"
    if not path.exists():
        pytest.skip("no ../shared/captures here")
    for keep in ([], ["--keep", "ros2"]):
        out = tmp_path / f"out{len(keep)}"
        anonymize(*keep, path, out)
        assert (b"std_msgs::msg::dds_::String_" in out.read_bytes()) == bool(keep)


def test_what_is_not_zenoh_is_overwritten(tmp_path):
    path, out = SAMPLES[0].parent / "tunnels.pcap", tmp_path / "out.pcapng"
    done = anonymize(path, out)
    assert "overwritten: frames without TCP or UDP, but for their first headers: 1 ARP, 1 EtherType" in done.output


def test_out_is_not_overwritten_and_never_in(tmp_path):
    path, out = tmp_path / "in.pcap", tmp_path / "out.pcapng"
    path.write_bytes(SAMPLES[0].read_bytes())
    out.write_bytes(b"mine")
    for arguments in ([path, out], [path, path], ["--force", path, path]):
        done = CliRunner().invoke(cli, ["anonymize", *map(str, arguments)])
        assert done.exit_code == 2
    assert out.read_bytes() == b"mine"
    assert path.read_bytes() == SAMPLES[0].read_bytes()
    anonymize("--force", path, out)
    assert out.read_bytes() != b"mine"


def test_a_file_cut_short_gives_what_it_holds(tmp_path):
    path, out = tmp_path / "in.pcap", tmp_path / "out.pcapng"
    path.write_bytes((SAMPLES[0].parent / "pubsub-tcp.pcap").read_bytes()[:-5])
    anonymize(path, out, code=1)
    assert len(items(out)) == 19
    anonymize(tmp_path / "missing.pcap", tmp_path / "none.pcapng", code=1)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in.pcap", "out.pcapng"]


def test_several_files_become_one(tmp_path):
    whole, parts, out = SAMPLES[0].parent / "pubsub-tcp.pcap", [tmp_path / "a", tmp_path / "b"], tmp_path / "out"
    with open_capture(str(whole)) as capture:
        frames = list(capture)
    for path, some in zip(parts, (frames[:17], frames[17:]), strict=True):
        with OutputFile(str(path)) as part:
            for frame in some:
                part.write(frame)
    anonymize("--seed", "x", *parts, out)
    anonymize("--seed", "x", whole, tmp_path / "of whole")
    assert out.read_bytes() == (tmp_path / "of whole").read_bytes()
