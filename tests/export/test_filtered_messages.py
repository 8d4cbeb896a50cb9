"""`batch -Y`: the table messages holds what matches, all else is as ever."""

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))
from tables import SAMPLES, converted
from zdissect_cli.main import cli

from zdissect.export.conversion_settings import Settings

PLAIN = Settings()


def table(out: Path, name: str) -> list[dict]:
    return pq.read_table(out / name).to_pylist()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "out"
    converted(SAMPLES, out)
    return out


FILTERS = {
    'key_expr within "nano/**"': lambda row: (row["key_expr"] or "").startswith("nano"),
    "payload[0:4] == 6e:61:6e:6f": lambda row: (row["payload"] or b"").startswith(b"nano"),
    "zenoh.put.timestamp": lambda row: row["timestamp"] is not None and "PUT" in (row["body"], row["reply_body"]),
    "sn == 12345": lambda row: False,
}


@pytest.mark.parametrize("text", FILTERS)
@pytest.mark.parametrize("payload", [None, 2])
def test_rows_of_the_tables(whole: Path, tmp_path: Path, text: str, payload: int | None) -> None:
    report = converted(SAMPLES, tmp_path / "out", replace(PLAIN, filter=text, payload=payload))
    expected = [row for row in table(whole, "messages") if FILTERS[text](row)]
    found = table(tmp_path / "out", "messages") if expected else []

    def key(row: dict) -> tuple:
        return row["file"], row["flow_id"], row["message_number"], row["message"], row["sn"]

    assert sorted(map(key, found), key=str) == sorted(map(key, expected), key=str)
    assert report.done.rows["messages"] == len(expected)
    counts = Counter(row["file"] for row in expected)
    for name in ("findings", "sessions", "captures"):
        before, after = table(whole, name), table(tmp_path / "out", name)
        if name == "captures":
            numbers = {row["file"]: row["messages"] for row in after}
            assert numbers == {row["file"]: counts[row["file"]] for row in before}
            before, after = ([row | {"messages": 0} for row in rows] for rows in (before, after))
        assert sorted(map(str, after)) == sorted(map(str, before))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sn = 5", "did you mean =="),
        ("request.answered == true", "read once"),
        ("frame.time_relative < 1s", "use frame.time instead"),
    ],
)
def test_what_tables_cannot_answer_is_refused(tmp_path: Path, text: str, says: str) -> None:
    done = CliRunner().invoke(cli, ["batch", str(SAMPLES), "-o", str(tmp_path / "out"), "-Y", text])
    assert done.exit_code == 2
    assert says in done.stderr
    assert not (tmp_path / "out").exists()
