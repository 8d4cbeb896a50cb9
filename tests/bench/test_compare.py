"""The benchmark of tests/bench/compare: what its captures hold, what it makes of measurements, and a run in small."""

import json
import sys
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path

import pytest

from tests.bench.compare import runs, tools
from tests.bench.compare.__main__ import main
from tests.bench.compare.captures import write
from tests.bench.compare.experiments import Plan, side_by_side
from tests.bench.compare.page import Figures, in_readme, page, rates
from tests.bench.compare.runs import ROOT, Failed, Figure, Run, lines, medians, run
from tests.bench.compare.shapes import ALIKE, SHAPES, Exchange, said
from tests.bench.compare.tools import PythonReader, Zdissect, others
from tests.observed import observed
from zdissect.capture import open_capture
from zdissect.records import Frame

HEADERS = 14 + 20 + 32
"""Bytes of Ethernet, IPv4, and TCP with timestamps."""


def made(path: Path, shape: str, protocol: str, messages: int) -> tuple[dict[str, int], list[Frame]]:
    """What is said to be in a capture, and its frames."""
    with path.open("wb") as file:
        facts = write(shape, protocol, messages, 0, file)
    with open_capture(str(path)) as capture:
        return facts, [*capture]


@pytest.mark.parametrize("shape", SHAPES)
def test_captures_of_zenoh_are_healthy_and_complete(shape, tmp_path):
    facts, frames = made(tmp_path / "capture.pcap", shape, "zenoh", 1500)
    found = observed(frames)
    assert found.codes == []
    kinds = Counter(row["message"] for row in found.rows)
    network = sum(kinds[name] for name in ("PUSH", "REQUEST", "RESPONSE", "RESPONSE_FINAL"))
    assert 1500 <= network == facts["messages"] < 1530
    assert kinds["INIT_SYN"] == kinds["CLOSE"] == 8
    assert (kinds["REQUEST"] > 0) == (shape in ("robots", "queries"))
    assert all(row["key_expr"] for row in found.of("PUSH"))
    lanes = {row["priority"] for row in found.of("FRAME")}
    assert len(lanes) == (5 if shape == "robots" else 1)


def mqtt_packets(stream: bytes) -> list[tuple[int, bytes]]:
    """First byte and body of each."""
    out, at = [], 0
    while at < len(stream):
        first, length, shift = stream[at], 0, 0
        while True:
            at += 1
            length |= (stream[at] & 127) << shift
            shift += 7
            if stream[at] < 128:
                break
        out.append((first, stream[at + 1 : at + 1 + length]))
        at += 1 + length
    return out


@pytest.mark.parametrize("shape", ALIKE)
def test_captures_of_mqtt_have_the_same_samples(shape, tmp_path):
    facts, frames = made(tmp_path / "capture.pcap", shape, "mqtt", 1000)
    streams: dict[bytes, bytes] = defaultdict(bytes)
    for frame in frames:
        streams[frame.data[26:38]] += frame.data[HEADERS:]
    found = [packet for stream in streams.values() for packet in mqtt_packets(stream)]
    assert Counter(first for first, _ in found) == {0x10: 8, 0x20: 8, 0x30: facts["messages"], 0xE0: 8}
    bodies = Counter(body for first, body in found if first == 0x30)
    samples = (one for what in said(shape) if not isinstance(what, Exchange) for one in what.samples)
    expected = (len(one.key).to_bytes(2) + one.key.encode() + one.payload for one in islice(samples, facts["messages"]))
    assert bodies == Counter(expected)


@pytest.mark.parametrize("protocol", ["zenoh", "mqtt"])
def test_every_second_segment_is_acknowledged(protocol, tmp_path):
    """In both directions: tshark would be several times slower without."""
    _, frames = made(tmp_path / "capture.pcap", "robots", protocol, 1000)
    waiting: Counter[bytes] = Counter()
    for frame in frames:
        ends = frame.data[26:38]
        other = ends[4:8] + ends[:4] + ends[10:] + ends[8:10]
        waiting[other] = 0
        if len(frame.data) > HEADERS:
            waiting[ends] += 1
            assert waiting[ends] <= 2
            assert len(frame.data) - HEADERS <= 1448


def figure(tool: str, form: str, messages: int, processor_s: float, series: str = "tools", **other: object) -> Figure:
    values = {"shape": "one", "jobs": 1, "size": 10**6, "wall_s": 9.0, "peak_mb": 30.0, "spread": 0.1, **other}
    return Figure(series=series, tool=tool, form=form, messages=messages, processor_s=processor_s, **values)


FIGURES = [
    figure("zdissect", "line", 1, 0.5, "start"), figure("tshark", "line", 1, 0.25, "start"),
    figure("zdissect", "batch", 1, 1.0, "start"),
    figure("zdissect", "line", 100_001, 1.5), figure("tshark", "line", 10_001, 0.75, recognised=0.98),
    figure("zdissect", "batch", 201, 1.05),
]  # fmt: skip


def test_rates_are_without_the_start_and_ratios_of_those():
    assert rates(Figures(FIGURES), "one").splitlines() == [
        "|  | zdissect | tshark |",
        "| --- | ---: | ---: |",
        "| line | 100 k | 20 k (5) |",
        "| batch | – |  |",
        "| recognised | 100% | 98% |",
    ]


def test_the_page_has_all_series_that_were_measured():
    bare = page(FIGURES, ["a machine"])
    assert "- a machine\n" in bare
    assert "## Cost against" not in bare
    sizes = [figure("zdissect", "line", count, 0.5 + count / 1e5, "size") for count in (100_001, 200_001)]
    cores = [figure("zdissect", "batch", 10, 4.0 + jobs, "cores", jobs=jobs, wall_s=6 / jobs) for jobs in (1, 2)]
    pipe = figure("zdissect", "line", 10**7, 99.0, "pipe", size=10**10, peak_mb=41.0)
    text = page([*FIGURES, *sizes, *cores, pipe], [])
    assert "| 100,001 | 1 | 10.00 | 30 |\n| 200,001 | 1 | 10.00 | 30 |\n" in text
    assert "| batch | 2 | 3.0 | 2.00 | 6.0 | 30 |\n" in text
    assert "| zdissect | 10.0 | 10,000,000 | 99 | 41 |\n" in text
    assert "| cores | one | batch | zdissect | 2 | 10 | 6.00 | 3.00 | 10% | 30 |\n" in text


def test_the_readme_gets_the_figures_of_the_first_tool():
    forms = ("tree", "line", "jsonl", "batch")
    found = [figure("zdissect", form, 1, 0.1, "start") for form in forms]
    found += [figure("zdissect", form, 123_457, 1.1 + at, shape="robots") for at, form in enumerate(forms)]
    found += [one._replace(tool="before", processor_s=9.0) for one in found]
    readme = "- Fast:\n  <!-- measured: by this -->\n  so\n  far.\n  <!-- end -->\n  And on.\n"
    speeds = "120,000 messages as trees, 62,000 as lines, 41,000 as JSON Lines and 31,000 as rows of tables"
    text = in_readme(found, readme)
    assert f"about {speeds}, a second and core ([docs/" in " ".join(text.split())
    assert text.startswith("- Fast:\n  <!-- measured: by this -->\n  about ")
    assert text.endswith("performance.md)).\n  <!-- end -->\n  And on.\n")
    with pytest.raises(Failed, match="needs marks"):
        in_readme(found, "- Fast.\n")
    assert in_readme(found, (ROOT / "README.md").read_text())


def test_what_fails_is_left_out_and_named(tmp_path):
    ours, broken = (Zdissect(name, sys.executable, tmp_path) for name in ("zdissect", "broken"))
    broken.python = ["/bin/false"]
    told: list[str] = []
    plan = Plan(20, 1, tmp_path, [], told.append)
    figures = side_by_side(plan, [ours, broken], ["one"], ["line"])
    assert {one.tool for one in figures} == {"zdissect"}
    assert {*plan.failed} == {"line of broken on one"}
    assert any("ended with 1" in text for text in told)


def test_medians():
    found = medians([Run(3.0, 9.0, 40.0), Run(1.0, 2.0, 30.0), Run(2.0, 4.0, 50.0)])
    assert found == (2.0, 4.0, 40.0, 1.0)


def test_what_a_program_took():
    took = run([sys.executable, "-c", "b = b'x' * 600_000_000\nfor _ in range(5_000_000): pass"])
    assert 0.05 < took.processor_s <= took.wall_s * 1.1
    assert 600 < took.peak_mb < 660  # until it starts, a program counts as large as its parent, which runs all tests


def test_a_program_that_fails_is_named_with_its_reason():
    command = [sys.executable, "-c", "import sys; sys.exit('not today')"]
    with pytest.raises(Failed, match="ended with 1: not today"):
        run(command)
    with pytest.raises(Failed, match="ended with 1: not today"):
        [*lines(command)]


def test_commands_of_zdissect(tmp_path):
    ours = Zdissect("zdissect", sys.executable, tmp_path)
    file = Path("there/capture.pcap")
    assert ours.command("batch", file, 2)[4:] == [
        "batch", "--no-config", "-q", "-j", "2", "--mode", "overwrite", "-o", str(tmp_path), "there",
    ]  # fmt: skip
    assert ours.command("tree", file)[-3:] == ["-T", "tree", str(file)]
    assert "-j" not in ours.command("line", Path("-"))
    ours.divisible = set()
    assert ours.command("line", file, 2) is None


def test_a_zdissect_is_that_of_its_interpreter_and_not_that_of_the_directory(monkeypatch, tmp_path, capsys):
    (tmp_path / "zdissect.py").write_text("__version__ = 'no'")
    monkeypatch.setattr(runs, "ROOT", tmp_path)
    place = Path(Zdissect("zdissect", sys.executable, tmp_path).place)
    assert place.parts[-2:] == ("zdissect", "__init__.py")
    assert not place.is_relative_to(tmp_path)
    assert main(["--base", sys.executable]) == 1
    assert "runs the same zdissect" in capsys.readouterr().err


def test_commands_of_tshark(monkeypatch):
    fields = ["P\tZenoh\tzenoh", *(f"F\tName\tzenoh.{name}\tx" for name in ("key_scope", "keyexpr", "payload_len"))]
    told = {"--version": ["TShark 4.0."], "-G": fields}
    monkeypatch.setattr(tools, "lines", lambda command: iter(told[next(word for word in command if word in told)]))
    monkeypatch.setattr(tools.shutil, "which", lambda name: name)
    monkeypatch.setattr(tools, "find_spec", lambda name: None)
    lua, mqtt = others("somebody's=a.lua")
    assert (lua.versions, mqtt.versions) == ("TShark 4.0, plugin somebody's", "TShark 4.0")
    start = ["tshark", "-n", "-X", "lua_script:a.lua", "-r", "a.pcap"]
    fields = ["-T", "fields", "-e", "frame.number", "-e", "zenoh.keyexpr", "-e", "zenoh.payload_len"]
    assert lua.command("fields", Path("a.pcap")) == [*start, *fields]
    assert lua.command("line", Path("a.pcap")) == start
    assert lua.command("batch", Path("a.pcap")) is None


def test_only_tools_that_are_installed_take_part(monkeypatch):
    monkeypatch.setattr(tools.shutil, "which", lambda name: None)
    assert [tool.name for tool in others(None)] == ["scapy, MQTT"]
    with pytest.raises(Failed, match="needs tshark"):
        others("zenoh.lua")


def test_programs_run_without_the_settings_of_this_python(monkeypatch):
    assert not any(name.startswith("PYTHON") for name in runs.ENVIRONMENT)
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    code = "import os; print(*(name for name in os.environ if name.startswith('PYTHON')))"
    assert [*lines([sys.executable, "-c", code])] == [""]


def test_what_measures_stays_small():
    """The system counts as the memory of a program what the one had that started it."""
    code = "import sys, tests.bench.compare.__main__; print(*sys.modules)"
    (names,) = lines([sys.executable, "-c", code])
    assert not {name.split(".")[0] for name in names.split()} & {"zdissect", "scapy", "pytest", "lz4"}


@pytest.mark.slow
def test_a_run_in_small_and_its_page_again_from_the_figures(tmp_path):
    kept, written = tmp_path / "figures.json", tmp_path / "page.md"
    arguments = ["--messages", "40", "--runs", "1", "--alone", "--shapes", "ten", "--forms", "line", "batch"]
    more = ["--largest", "80", "--pipe", "0.0001", "--interpreters", f"again={sys.executable}"]
    assert main([*arguments, *more, "--save", str(kept), "--write", str(written)]) == 0
    found = json.loads(kept.read_text())["figures"]
    counts = Counter((one["series"], one["tool"], one["form"]) for one in found)
    assert counts[("tools", "zdissect, again", "batch")] == counts[("start", "zdissect", "line")] == 1
    assert counts[("size", "zdissect", "line")] == 2
    assert {one["recognised"] for one in found} == {1.0}
    assert all(one["messages"] >= 40 and one["peak_mb"] > 10 for one in found if one["series"] != "start")
    again = tmp_path / "again.md"
    assert main(["--load", str(kept), "--write", str(again)]) == 0
    assert again.read_text() == written.read_text()


def test_scapy_reads_the_captures(tmp_path):
    made(tmp_path / "capture.pcap", "one", "mqtt", 50)
    reader = PythonReader("scapy", 1)
    assert reader.recognised(tmp_path / "capture.pcap") >= 50
    command = reader.command("line", tmp_path / "capture.pcap")
    assert sum("MQTTPublish" in line for line in lines(command)) == 50
