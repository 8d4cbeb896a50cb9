"""What the tree says of a request because of what comes later."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from zdissect_cli import waiting_items
from zdissect_cli.answers_ahead import LaterAnswers
from zdissect_cli.main import cli

QUERIES = Path(__file__).parents[2] / "samples" / "query-router.pcap"


def run(*args: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(cli, ["-q", *args], input=stdin)


def test_a_request_says_where_its_response_is() -> None:
    text = run("--frame", "37", str(QUERIES)).stdout
    assert "[Response in: frame 42]\n" in text
    assert "[Answered after: 0.720 ms]\n" in text
    response = run("--frame", "42", str(QUERIES)).stdout
    assert "[Request in: frame 37]\n" in response
    assert "[Response time: 0.720 ms]\n" in response


def test_a_request_without_a_response_says_so() -> None:
    assert "[No response, final in: frame 142]\n" in run("--frame", "141", str(QUERIES)).stdout
    assert "[No response" in run("--frame", "37", "-c", "38", str(QUERIES)).stdout


def test_json_has_it_as_the_tree() -> None:
    known = {
        message["request_id"]["value"]: {
            name.removeprefix("zenoh.request."): value
            for name, value in message["derived"].items()
            if name.startswith("zenoh.request.")
        }
        for frame in ("37", "141")
        for item in json.loads(run("-T", "json", "--frame", frame, str(QUERIES)).stdout)
        for carrier in item["unit"]["messages"]
        for message in carrier["messages"]
        if message["message"] == "REQUEST"
    }
    assert [*known.values()] == [
        {"answered": True, "response_in": 42, "final_in": 42, "answer_time": 720_000},
        {"answered": False, "final_in": 142},
    ]
    assert "zenoh.request." not in run("-T", "json", "-", stdin=QUERIES.read_bytes()).stdout


def test_a_search_finds_it() -> None:
    assert "[Response in: frame 42]\n" in run("--grep", "Response in: frame 42", str(QUERIES)).stdout


def test_nothing_is_said_of_what_is_read_once() -> None:
    from_pipe = run("-", stdin=QUERIES.read_bytes()).stdout
    whole = run(str(QUERIES)).stdout.splitlines()
    known = [line for line in whole if line.strip().startswith(("[Response in", "[Answered", "[No response"))]
    assert len(known) > 80
    assert from_pipe.splitlines() == [line for line in whole if line not in known]


def test_no_parser_of_filters_is_loaded_for_it() -> None:
    """Who sets no filter doesn't wait for what reads them."""
    code = (
        "import sys; from zdissect_cli.main import cli; "
        f"cli.main(['-q', {str(QUERIES)!r}], standalone_mode=False); assert 'lark' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


SAMPLES = [str(path) for path in sorted(QUERIES.parent.glob("*.pcap*"))]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[LaterAnswers]:
    """Grows by an entry each time that a capture is read a second time."""
    out: list[LaterAnswers] = []
    read_all = LaterAnswers.read_all

    def noted(self: LaterAnswers) -> None:
        out.append(self)
        read_all(self)

    monkeypatch.setattr(LaterAnswers, "read_all", noted)
    return out


@pytest.mark.parametrize("form", [("-T", "tree", "-v"), ("-T", "json")], ids=lambda form: form[1])
@pytest.mark.parametrize("limit", ["MOST_FRAMES", "MOST_BYTES"])
def test_whoever_waits_for_answers_shows_the_same(
    form: tuple[str, ...], limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it waits until they come, if it waits for a while and reads the capture again, and if it does so at once."""
    again = counted(monkeypatch)
    files = [[name] for name in SAMPLES] + [[str(QUERIES), str(QUERIES)]]
    patient = [run(*form, *names).stdout for names in files]
    assert not again
    for most in (2, -1) if limit == "MOST_FRAMES" else (10_000, -1):
        monkeypatch.setattr(waiting_items, limit, most)
        assert [run(*form, *names).stdout for names in files] == patient
    assert len(again) > 2


def test_a_request_whose_end_never_comes_keeps_nothing_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    again = counted(monkeypatch)
    whole = run("-c", "141", str(QUERIES)).stdout
    assert not again  # the capture ends before
    monkeypatch.setattr(waiting_items, "MOST_FRAMES", 20)
    assert run("-c", "141", str(QUERIES)).stdout == whole
