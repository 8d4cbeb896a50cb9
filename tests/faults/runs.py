"""Runs of commands in the fork server, and what came of them."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from tests.faults.commands import ROOT

SECONDS = 60


@dataclass
class Ended:
    """How a run has ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> list[str]:
        """The lines on standard error."""
        return self.err.splitlines()


class Runs:
    """The fork server, as a context."""

    def __enter__(self) -> "Runs":
        environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
        self.server = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.faults.fork_server"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment,
        )  # fmt: skip
        assert self._answer() == "ready\n"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stdin.close()
        self.server.wait(SECONDS)
        assert self.server.stdout is not None
        self.server.stdout.close()

    @property
    def _stdin(self) -> IO[str]:
        assert self.server.stdin is not None
        return self.server.stdin

    def start(self, args: list[str], folder: Path, streams: tuple[str | None, ...] = (), **more: object) -> int:
        """Starts a run; the number of its process. Standard streams are files `out` and `err` by default."""
        folder.mkdir(exist_ok=True, parents=True)
        usual = ("/dev/null", str(folder / "stdout"), str(folder / "stderr"))
        for name in usual[1:]:
            Path(name).unlink(missing_ok=True)
        request = {"args": args, "streams": streams or usual, "folder": str(folder), **more}
        print(json.dumps(request), file=self._stdin, flush=True)
        return int(self._answer())

    def end(self, folder: Path) -> Ended:
        """Waits for the end of the run that was started."""
        code = int(self._answer())
        texts = [(folder / name).read_bytes() if (folder / name).exists() else b"" for name in ("stdout", "stderr")]
        return Ended(code, *(text.decode(errors="replace") for text in texts))

    def run(self, args: list[str], folder: Path, streams: tuple[str | None, ...] = (), **more: object) -> Ended:
        """A run from its start to its end."""
        self.start(args, folder, streams, **more)
        return self.end(folder)

    def _answer(self) -> str:
        assert self.server.stdout is not None
        return self.server.stdout.readline()
