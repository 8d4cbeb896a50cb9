"""All captures of ROS 2 that are there, by the checker that states the contract; in others no problem is invented."""

import subprocess
import sys

import pytest

from tests.captures.expectations import SHARED
from zdissect.capture import open_capture
from zdissect.fed import dissected
from zdissect.pipeline import Options, Pipeline
from zdissect.ros2.summaries import RosReport
from zdissect.ros2.view import RosView

CHECKER = SHARED / "tools" / "check_ros2.py"
OTHERS = [path for path in sorted((SHARED / "captures").glob("0[1-9]-*.pcap")) if path.stat().st_size < 200_000]


@pytest.mark.skipif(not CHECKER.exists(), reason="no ../shared/tools here")
def test_the_checker_has_nothing_to_say():
    pytest.importorskip("rosbags")
    command = f"{sys.executable} -m zdissect_cli"
    done = subprocess.run([sys.executable, CHECKER, "--zdissect", command, "-v"], capture_output=True, text=True)
    assert done.stdout.endswith(" 0 failed\n"), done.stdout


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_no_problem_where_there_is_no_ros(path):
    pipeline, view = Pipeline(Options(history=True)), RosView()
    with open_capture(str(path)) as capture:
        for item in dissected(pipeline, capture):
            view.feed(item)
    assert not view.is_ros
    assert RosReport(view, pipeline).problems() == []
