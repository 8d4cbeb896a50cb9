"""The state of a decoder between the files of a capture, as bytes, and why they may be believed.

They are a pickle, and loading a pickle runs what it says. So none is loaded but what this user wrote with this version:
a state is sealed by an HMAC with a key that only the user can read. It isn't in OUT, which others may be able to write
to. Only bytes that the seal fits are loaded. Without the key, as on another machine, a capture is decoded anew.
"""

import hmac
import os
import pickle
import stat
import sys
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

from zdissect import __version__
from zdissect.export.conversion_settings import Settings
from zdissect.export.decoding import Decoding
from zdissect.growing.checkpoint import StateFile

_KEY = "follow.key"
_LEAST = 32
"""Characters of a key that is believed to be whole."""


class StateLostError(Exception):
    """A state can't be used; the capture must be decoded from its start."""


def packed(decoding: Decoding, mark: list[Any] | None) -> bytes:
    """The state of a decoder whose rows were all taken, and the mark of its last file."""
    return pickle.dumps((decoding.state(), mark), pickle.HIGHEST_PROTOCOL)


def restored(data: bytes, settings: Settings) -> tuple[Decoding, list[Any] | None]:
    """(decoder, mark) from bytes whose seal was checked. Raises StateLostError."""
    try:
        state, mark = pickle.loads(data)
        decoding = Decoding(settings)
        decoding.resume(state)
    except Exception as problem:  # written by code that has changed since, though its version hasn't
        raise StateLostError(f"{type(problem).__name__}: {problem}") from problem
    return decoding, mark


def checksum(data: bytes) -> str:
    """What names the content of a state."""
    return sha256(data).hexdigest()


class Sealing:
    """Seals states, and tells whether one is sealed."""

    def __init__(self, folder: Path | None = None) -> None:
        """
        Args:
            folder: Where the key is; by default in the user's directory for states of programs.
        """
        self.folder = folder or _folder()
        self.key = _key(self.folder)

    def seal(self, digest: str) -> str:
        """The seal of a state by its checksum; empty if there is no key."""
        return "" if self.key is None else self.sealed(digest, self.key)

    @staticmethod
    def sealed(digest: str, key: bytes) -> str:
        """The seal by a key."""
        said = f"{__version__}\n{sys.implementation.cache_tag}\n{digest}".encode()
        return hmac.new(key, said, sha256).hexdigest()

    def good(self, state: StateFile, path: Path) -> bool:
        """Whether a state is there, whole, and sealed by this user with this version."""
        if not state.seal or not hmac.compare_digest(state.seal, self.seal(state.sha256)):
            return False
        try:
            return checksum(path.read_bytes()) == state.sha256
        except OSError:
            return False


def _folder() -> Path:
    """The user's directory for states."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "zdissect"


def _key(folder: Path) -> bytes | None:
    """The user's key, made where there is none; None if others might know it, or it can't be kept."""
    path = folder / _KEY
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            new = folder / f"{_KEY}.{token_hex(4)}"
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
                file.write(token_hex(32))
            _place(new, path)
        with open(path, encoding="ascii") as file:
            if not _own(os.fstat(file.fileno())) or not _own(os.stat(folder), stat.S_IWGRP | stat.S_IWOTH):
                return None
            text = file.read()
    except (OSError, ValueError):
        return None
    return text.encode() if len(text) >= _LEAST else None


def _place(new: Path, path: Path) -> None:
    """Gives a new key its name, unless another process was first."""
    try:
        os.link(new, path)
    except FileExistsError:
        pass
    finally:
        new.unlink()


def _own(status: os.stat_result, forbidden: int = stat.S_IRWXG | stat.S_IRWXO) -> bool:
    """Whether something is this user's, and others may not do what they must not."""
    if not hasattr(os, "geteuid"):  # Windows: what is below the user's directory is the user's
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & forbidden
