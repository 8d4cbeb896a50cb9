"""No command loads what it doesn't use. How long each takes to start is in tests/bench/test_start_up.py."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAMPLE = str(ROOT / "samples" / "pubsub-tcp.pcap")

HEAVY = {"scapy", "rich", "pyarrow", "pyspark", "pandas", "numpy", "lark", "re2", "duckdb", "wsproto", "tomllib",
         "cobs", "lz4", "backports", "multiprocessing", "asyncio"}  # fmt: skip
"""What takes time to load, or is needed by few."""

DISSECTOR = {"zdissect.pipeline", "zdissect.dissector", "zdissect.capture.capture_file"}
"""The parts that read captures."""

COMMANDS: dict[str, tuple[tuple[str, ...], set[str], bool]] = {
    "help": (("--help",), set(), False),
    "help of all": (("dissect", "--help"), set(), False),
    "tree": ((SAMPLE,), set(), True),
    "line": (("-T", "line", SAMPLE), set(), True),
    "jsonl": (("-T", "jsonl", SAMPLE), set(), True),
    "json": (("-T", "json", SAMPLE), set(), True),
    "fields of columns": (("-T", "fields", "-e", "key_expr", SAMPLE), set(), True),
    "filtered": (("-Y", "sn", "-T", "line", SAMPLE), {"lark"}, True),
    "hex": (("hex", "1d 00 03 6b 2f 61 01 03 31 31 31"), {"lz4"}, False),
    "fields": (("fields", "timestamp"), set(), False),
    "explain": (("explain", "sn-gap"), set(), False),
    "filter": (("filter", "sn > 1"), {"lark"}, False),
    "keys": (("keys", SAMPLE), {"rich"}, True),
    "sessions": (("sessions", SAMPLE), {"rich"}, True),
    "queries": (("queries", SAMPLE), {"rich"}, True),
    "declarations": (("declarations", SAMPLE), {"rich"}, True),
    "findings": (("findings", SAMPLE), {"rich"}, True),
    "follow": (("follow", "1", SAMPLE), set(), True),
    "stats for programs": (("stats", "--json", SAMPLE), set(), True),
    "stats": (("stats", SAMPLE), {"rich"}, True),
    "top": (("top", SAMPLE), {"rich"}, True),
    "config": (("config",), set(), False),
    "completion": (("completion", "bash"), set(), False),
    "help of batch": (("batch", "--help"), set(), False),
    "help of anonymize": (("anonymize", "--help"), set(), True),
    "help of export": (("export", "payloads", "--help"), set(), True),
}
"""What is typed, what of `HEAVY` that may load, and whether the dissector."""


def loaded(*arguments: str) -> set[str]:
    """The modules that are there when a command has ended."""
    code = (
        "import sys\nfrom zdissect_cli.main import cli\n"
        f"try: cli.main({list(arguments)!r}, standalone_mode=False)\n"
        "finally: sys.stderr.write('\\n' + ' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return {*done.stderr.splitlines()[-1].split()}


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_loaded_that_is_not_used(name):
    arguments, may, dissects = COMMANDS[name]
    modules = loaded(*arguments)
    assert {module.split(".")[0] for module in modules} & HEAVY <= may
    if not dissects:
        assert not modules & DISSECTOR


def test_a_small_batch_takes_no_pandas(tmp_path: Path) -> None:
    """Which pyarrow would import to see whether a list is one of its series."""
    modules = loaded("batch", str(ROOT / "samples"), "--include", "pubsub-tcp.pcap", "-q", "-o", str(tmp_path / "out"))
    assert {module.split(".")[0] for module in modules} & HEAVY <= {"pyarrow", "numpy", "multiprocessing"}
    assert (tmp_path / "out" / "messages").is_dir()
