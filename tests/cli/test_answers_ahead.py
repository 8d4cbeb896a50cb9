"""What the tree says of a request because of what comes later."""

import json
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result
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
