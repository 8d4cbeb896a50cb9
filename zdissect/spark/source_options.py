"""Options of the data sources: text, as Spark hands them over."""

from collections.abc import Mapping
from typing import NamedTuple

from zdissect.export.conversion_settings import Settings
from zdissect.export.families import AUTO, ONE, SEPARATE
from zdissect.export.payload_limit import FULL, parse_payload_limit

BATCH_ROWS = 4096
"""Rows in a batch that goes to Spark: 1000 to 5000 were fastest."""


PARTITIONS = 8
"""Tasks that share a large capture, if nobody says how many: a source isn't told how many run at once."""


class SourceOptions(NamedTuple):
    """What to read, and how."""

    path: str
    include: tuple[str, ...]
    join: str
    settings: Settings
    pushdown: bool = False
    """Whether filters are taken from Spark."""
    partitions: int = PARTITIONS
    """How many tasks share a large capture."""

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "SourceOptions":
        """From the options of a source. Raises ValueError with a message for users."""
        texts = {name.lower(): text.strip() for name, text in options.items()}
        path = texts.get("path")
        if not path:
            raise ValueError("which captures? give load() a directory, a file or a URI")
        join = texts.get("join", AUTO)
        if join not in (AUTO, ONE, SEPARATE):
            raise ValueError(f"join is {join!r}, but may be {AUTO}, {ONE} or {SEPARATE}")
        include = tuple(pattern.strip() for pattern in texts.get("include", "").split(",") if pattern.strip())
        tcp, udp = ports(texts.get("ports", ""))
        fields, pushdown = (_flag(texts, name) for name in ("fields", "pushdown"))
        payload = _payload(texts.get("payload", FULL))
        settings = Settings(
            tcp, udp, payload, fields, _filter(texts.get("filter", "")), batch_rows=BATCH_ROWS,
            ros2=_flag(texts, "ros2"), contents=_flag(texts, "contents", "true"),
        )  # fmt: skip
        return cls(path, include, join, settings, pushdown, partitions(texts.get("partitions", "")))


def _flag(texts: Mapping[str, str], name: str, default: str = "") -> bool:
    """Whether an option is true."""
    return texts.get(name, default).lower() in ("true", "1", "yes")


def ports(text: str) -> tuple[frozenset[int], frozenset[int]]:
    """(TCP, UDP) ports of `9000`, `tcp:9000,udp:7000`; a bare number is both."""
    numbers: dict[str, set[int]] = {"tcp": set(), "udp": set()}
    for port in filter(None, (part.strip() for part in text.split(","))):
        layer, _, number = port.rpartition(":")
        if layer not in ("", "tcp", "udp") or not number.isdecimal() or not 0 < int(number) < 65536:
            raise ValueError(f"ports: {port!r} isn't understood; write 9000, or tcp:9000,udp:7000")
        for name in (layer,) if layer else ("tcp", "udp"):
            numbers[name].add(int(number))
    return frozenset(numbers["tcp"]), frozenset(numbers["udp"])


def partitions(text: str) -> int:
    """How many tasks share a large capture."""
    if text and not (text.isdecimal() and int(text)):
        raise ValueError(f"partitions is {text!r}, but must be a number of tasks, 1 or more")
    return int(text or PARTITIONS)


def _filter(text: str) -> str:
    """A display filter, which is checked before captures are read."""
    if text:
        from zdissect.export.filtered_messages import check  # slow to import, and most have no filter

        try:
            check(text)
        except ValueError as problem:
            raise ValueError(f"filter: {problem}") from None
    return text


def _payload(text: str) -> int | None:
    """How much of a payload is kept."""
    try:
        return parse_payload_limit(text)
    except ValueError as problem:
        raise ValueError(f"payload: {problem}") from None
