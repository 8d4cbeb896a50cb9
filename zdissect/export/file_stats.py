"""The state of each input file: the rows of `captures`, filled by readers and decoders."""

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

from zdissect.export.tables import TABLES_VERSION
from zdissect.flow.unopened import noteworthy
from zdissect.grammar.rules import RULES
from zdissect.stats.accounting import Accounting, unopened

OK, CUT, DAMAGED, UNREADABLE, FAILED = "ok", "cut", "damaged", "unreadable", "failed"
"""Status of a file. All but the first make a finding, `capture-STATUS`."""


@dataclass(slots=True)
class FileStats:
    """One input file."""

    file: str
    capture: str = ""
    """The first file of its capture."""
    part: int = 0
    format: str | None = None
    link_types: tuple[int, ...] = ()
    size: int | None = None
    status: str = OK
    error: str | None = None
    frames: int = 0
    bytes: int = 0
    payload: int = 0
    first_ns: int | None = None
    last_ns: int | None = None
    messages: int = 0
    findings: int = 0
    unopened: Counter[str] = field(default_factory=Counter)
    """Frames that gave neither a segment nor a datagram, by reason."""
    accounting: Accounting = field(default_factory=Accounting)

    def read(self, frames: int, size: int, first_ns: int, last_ns: int) -> None:
        """Counts frames, and their bytes, that were read from it."""
        self.frames += frames
        self.bytes += size
        if self.first_ns is None:
            self.first_ns = first_ns
        self.last_ns = last_ns

    def problem(self, status: str, error: str) -> None:
        """Notes why it couldn't be read to its end."""
        self.status, self.error = status, error
        self.findings += 1

    def grown(self) -> None:
        """Forgets why it couldn't be read to its end: there is more of it now."""
        if self.status != OK:
            self.status, self.error = OK, None
            self.findings -= 1

    def fail(self, error: str) -> None:
        """Notes that it couldn't be converted, if nothing else is wrong with it."""
        if self.status == OK:
            self.problem(FAILED, f"{self.file}: {error}")

    def state(self) -> list[Any]:
        """All that is known of it but for the accounting, as JSON types."""
        return [getattr(self, name) for name in _STATE]

    @classmethod
    def of(cls, state: list[Any]) -> "FileStats":
        """The file that had this `state`."""
        known = dict(zip(_STATE, state, strict=True))
        known["link_types"], known["unopened"] = tuple(known["link_types"]), Counter(known["unopened"])
        return cls(**known)

    def counts(self) -> tuple[list[int], dict[str, int]]:
        """Its counts, and the frames that weren't opened by reason, as JSON types."""
        counted = self.accounting
        bytes_ = [counted.decoded, counted.undecoded, counted.skipped, counted.not_captured]
        return [self.frames, self.bytes, self.payload, self.messages, self.findings, *bytes_], dict(self.unopened)

    def add(self, counts: tuple[list[int], dict[str, int]]) -> None:
        """Adds counts of the same file."""
        numbers, unopened = counts
        frames, size, payload, messages, findings, decoded, undecoded, skipped, not_captured = numbers
        self.unopened.update(unopened)
        self.frames += frames
        self.bytes += size
        self.payload += payload
        self.messages += messages
        self.findings += findings
        counted = self.accounting
        counted.decoded += decoded
        counted.undecoded += undecoded
        counted.skipped += skipped
        counted.not_captured += not_captured

    def row(self) -> dict[str, Any]:
        """Its row in `captures`."""
        counted = self.accounting
        return {
            "file": self.file,
            "capture": self.capture or self.file,
            "part": self.part,
            "format": self.format,
            "link_types": list(self.link_types),
            "size": self.size,
            "frames": self.frames,
            "bytes": self.bytes,
            "payload_bytes": self.payload,
            "decoded_bytes": counted.decoded,
            "undecoded_bytes": counted.undecoded,
            "skipped_bytes": counted.skipped,
            "missing_bytes": counted.not_captured,
            "unopened_frames": noteworthy(self.unopened).total(),
            "unopened": unopened(self.unopened),
            "messages": self.messages,
            "findings": self.findings,
            "first_ts": None if self.first_ns is None else self.first_ns // 1000,
            "first_ts_ns": self.first_ns,
            "last_ts": None if self.last_ns is None else self.last_ns // 1000,
            "last_ts_ns": self.last_ns,
            "status": self.status,
            "error": self.error,
            "schema_version": TABLES_VERSION,
        }

    def finding(self) -> dict[str, Any] | None:
        """Its row in `findings`, if something is wrong with it."""
        if self.status == OK:
            return None
        rule = RULES[f"capture-{self.status}"]
        return {
            "file": self.file, "severity": rule.severity, "group": rule.group, "code": rule.code,
            "message": self.error, "schema_version": TABLES_VERSION,
        }  # fmt: skip


_STATE = [one.name for one in fields(FileStats) if one.name != "accounting"]
