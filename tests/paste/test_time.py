"""Pastes that are nearly something take no longer than others: in a process of its own, which can be ended."""

import subprocess
import sys

import pytest

SECONDS = 60
"""More than enough for what takes a tenth of one; what hangs takes longer than anybody waits."""
UNITS = [
    "\\x03\\x04 ",
    "\\x03, ",
    '\\"',
    "'\\x1d' ",
    "<<1,",
    '<<"',
    "[1,",
    "{0x1d,",
    "1d:",
    "0000  1d 00\n",
    "%1d",
    "/* ",
    "1d | ",
]


@pytest.mark.parametrize("end", ["", "(", '("', "\\"])
def test_repetitions(end: str) -> None:
    program = (
        "import sys; from zdissect.paste import PasteError, parse_paste\n"
        "for text in sys.stdin.read().split('\\0'):\n"
        "    try: parse_paste(text)\n"
        "    except PasteError: pass\n"
    )
    texts = "\0".join(unit * (2000 // len(unit)) + end for unit in UNITS)
    subprocess.run([sys.executable, "-c", program], input=texts, text=True, check=True, timeout=SECONDS)
