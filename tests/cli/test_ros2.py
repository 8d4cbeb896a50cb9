"""`zdissect ros2`: views, options, and what is refused."""

import json
import re

import click
import pytest
from zdissect_cli.ros_drawings import dot, mermaid
from zdissect_cli.ros_moment import AtMoment

from tests.cli.listings import SAMPLES, refusal, run
from tests.ros2.truth import ROS
from zdissect.output.text import prose
from zdissect.records import Frame
from zdissect.stats.extent import Extent

TALKER, ACTION, FLEET = (ROS / f"{name}.pcap" for name in ("talker-listener", "action-fibonacci", "two-stacks"))


def lines(*arguments):
    done = run("ros2", "-q", *arguments)
    assert done.exception is None, done.exception
    return done.stdout.splitlines()


def test_the_overview_has_all_in_short():
    shown = lines(FLEET)
    assert shown[0] == "ROS 2: 5 nodes, 4 topics, 1 service, 0 actions, domain 0"
    titles = [line.split()[0] for line in shown if line and line[0].isupper()]
    assert titles == ["ROS", "Node", "Topic", "Service"]
    assert shown[-1].startswith("note     no-subscriber        /fleet/r1/robot publishes /battery")


def test_actions_are_one_thing_each():
    assert "Action servers" in lines("nodes", ACTION)[0]
    assert not [line for view in ("topics", "services", "graph") for line in lines(view, ACTION) if "_action/" in line]
    first, *_, last = lines("actions", ACTION)[1:]
    assert first.split()[:2] == ["/fibonacci", "example_interfaces/action/Fibonacci"]
    assert last.split()[5:8] == ["50", "rejected", "0"] or "rejected" in last


def test_calls_are_told_one_by_one():
    rows = [line.split() for line in lines("services", ROS / "service-calls.pcap")]
    states = [row[6] if row[6] != "b=3" else row[7] for row in rows if row and row[0] in ("80", "85", "89", "91", "98")]
    assert len(states) == 5


def test_the_graph():
    assert lines("graph", FLEET)[:3] == [
        "/fleet/r1/robot",
        "  publishes     /fleet/r1/pose  geometry_msgs/msg/PoseStamped  → /fleet/station",
        "  publishes     /robot_description  std_msgs/msg/String  → /fleet/viewer",
    ]
    assert "  publishes     /battery  std_msgs/msg/Float32  → nobody" in lines("graph", FLEET)
    dot = lines("graph", "--dot", FLEET)
    assert dot[0] == "digraph ros2 {"
    assert '  "/fleet/r1/pose\\ngeometry_msgs/msg/PoseStamped" -> "/fleet/station";' in dot
    mermaid = lines("--mermaid", FLEET)
    assert mermaid[0] == "flowchart LR"
    assert '  n0(["/fleet/r1/robot"])' in mermaid


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m", "\udcff", '"]<img src=x>#quot;&amp;', "back\\slash"])
def test_names_are_only_text_in_drawings(name):
    """A name may be any bytes: none is a command to a terminal, to Mermaid, or to the page that shows it."""
    topic = {"name": f"/{name}", "type": "T", "publishers": [{"node": name}], "subscriptions": []}
    graph = {"nodes": [{"full_name": name}], "topics": [topic], "services": [], "actions": []}
    dotted, drawn = [*dot(graph)], [*mermaid(graph)]
    assert all(line.isprintable() for line in (*dotted, *drawn))
    assert len(dotted) == 7
    assert len(drawn) == 4
    shown = [re.fullmatch(r'  n\d\(?\["([^"<>&]*)(?:<br>T)?"\]\)?', line) for line in drawn[1:3]]
    texts = [re.sub(r"#(\d+);", lambda match: chr(int(match[1])), one[1]) for one in shown]
    assert texts == [prose(name), prose(f"/{name}")]
    assert json.loads(re.fullmatch(r"  (.*) \[shape=ellipse\];", dotted[3])[1]) == prose(name)


def test_what_was_there_at_a_moment():
    def nodes(at):
        return [row["full_name"] for row in json.loads("\n".join(lines("nodes", "--json", "--at", at, FLEET)))]

    every = ["/fleet/r1/robot", "/fleet/station", "/fleet/viewer", "/fleet/pilot", "/fleet/caller"]
    assert nodes("128") == nodes("06:07:39.2") == nodes("2026-11-28T06:07:39.2Z") == every
    assert nodes("06:07:38.2") == every[:1]
    assert nodes("2026-11-28T07:00:00") == []
    assert nodes("1") == nodes("+0.001") == []


def test_a_moment_outside_of_the_capture():
    lasts = "the capture, which lasts from 2026-11-28 06:08:32.685143 to 2026-11-28 06:08:35.613798 UTC, 2.929 s"
    after, before = (run("ros2", "nodes", "--at", at, TALKER) for at in ("+100", "05:00:00"))
    assert after.stderr == f"zdissect: there are no nodes in it\nzdissect: +100 is after {lasts}\n"
    assert before.stderr.endswith(f"zdissect: 05:00:00 is before {lasts}\n")
    assert run("ros2", "nodes", "--at", "+1", TALKER).stderr == ""


@pytest.mark.parametrize(
    ("text", "ts_ns"),
    [("+3.25", 86_400 * 10**9 + 3_250_000_000), ("00:00:01", 86_401 * 10**9), ("1970-01-02", 86_400 * 10**9),
     ("1970-01-02T01:00:00+01:00", 86_400 * 10**9), ("", None)],
)  # fmt: skip
def test_moments(text, ts_ns):
    extent = Extent()
    extent.frame(Frame("a", 1, 86_400 * 10**9, 1, 0, b""))
    assert AtMoment(text).ts_ns(extent) == ts_ns


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nodes",), "which capture?"),
        (("topics", "--dot", TALKER), "--dot draws the graph"),
        ((TALKER, "-o", "x.mcap"), "ros2 bag FILE -o OUT.mcap"),
        (("bag", TALKER), "ros2 bag FILE -o OUT.mcap"),
        ((TALKER, "--at", "noon"), "neither a frame nor a time"),
        ((TALKER, "--at", "9999"), "there is no frame 9999; there are 96"),
        ((TALKER, "--msgs", "nowhere"), "isn't a directory"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, says):
    assert says in refusal("ros2", *arguments)


def test_definitions_must_be_there(tmp_path):
    assert "no .msg, .srv or .action files" in refusal("ros2", "--msgs", tmp_path, TALKER)


def test_definitions_that_cannot_be_read_are_told_of(tmp_path):
    pytest.importorskip("rosbags")
    path = tmp_path / "mower_msgs" / "msg" / "State.msg"
    path.parent.mkdir(parents=True)
    path.write_text("what is this?\n")
    found = json.loads(run("ros2", "--json", "--msgs", tmp_path, TALKER).stdout)
    assert found["messages"][0]["content"] == {"data": "Hello World: 0"}


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("topic", "topic is neither a file nor a view; did you mean topics?"),
        (
            "chatter",
            "/chatter is a topic: zdissect ros2 topics FILE shows it among all; its messages: zdissect -T line ",
        ),
        ("/listener", "/listener is a node: zdissect ros2 nodes FILE shows it among all"),
        ("/chattr", "/chattr is neither a file nor a name of ROS 2 here; did you mean /chatter?"),
    ],
)
def test_what_a_word_that_is_no_file_was_meant_for(word, says):
    done = run("ros2", "doctor", word, TALKER)
    assert done.return_value == 1
    assert f"zdissect: {word}: there is no such file\nzdissect: {says}" in done.stderr


def test_a_capture_without_ros_of_which_a_part_is_missing(tmp_path):
    cut = tmp_path / "cut.pcap"
    cut.write_bytes((SAMPLES / "pubsub-tcp.pcap").read_bytes()[:-9])
    assert "no ROS 2 found" in run("ros2", cut).stderr


def test_a_time_after_midnight():
    extent, day = Extent(), 24 * 3600 * 10**9
    for number, ts_ns in ((1, 20000 * day - 60 * 10**9), (2, 20000 * day + 60 * 10**9)):
        extent.frame(Frame("a.pcap", number, ts_ns, 1, 0, b""))
    assert AtMoment("00:00:05").ts_ns(extent) == 20000 * day + 5 * 10**9
    assert AtMoment("23:59:30").ts_ns(extent) == 20000 * day - 30 * 10**9


def test_captures_without_ros():
    done = run("ros2", SAMPLES / "pubsub-tcp.pcap")
    assert (done.stdout, done.exception) == ("", None)
    assert "no ROS 2 found" in done.stderr
    assert json.loads(run("ros2", "doctor", "--json", SAMPLES / "pubsub-tcp.pcap").stdout) == []


def test_exit_codes(tmp_path):
    from zdissect_cli.main import cli

    from tests.cli.listings import CliRunner

    def code(*arguments):
        return CliRunner().invoke(cli, ["ros2", "-q", *map(str, arguments)], standalone_mode=False).return_value

    bad = tmp_path / "cut.pcap"
    bad.write_bytes(TALKER.read_bytes()[:5000])
    assert code(TALKER) == code("--fail-on", "error", TALKER) == code("--fail-on", "error", FLEET) == 0
    assert code("--fail-on", "note", FLEET) == code("--fail-on", "error", ROS / "service-calls.pcap") == 3
    assert code(bad) == 1
    assert code(tmp_path / "nowhere.pcap") == 1


def test_nothing_there_of_a_kind():
    assert "there are no services in it" in run("ros2", "services", TALKER).stderr
    assert isinstance(run("ros2").exception, click.UsageError)
