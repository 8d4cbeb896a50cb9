"""Lengths of time as people write them: 100ms, 1s, 2min."""

import re
from decimal import Decimal
from typing import Any

import click

_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_LONGEST_NS = 1 << 62


class SpanOfTime(click.ParamType[int]):
    """A length of time above zero; its value is nanoseconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,18})?) ?([a-zA-Zµ]*)", value.strip())
        unit = match[2].lower().replace("µ", "u") if match else ""
        if match is None or (unit or "s") not in _UNITS:
            self.fail(f"{value!r} isn't a length of time such as 100ms, 1s, 2min ({', '.join(_UNITS)})", param, ctx)
        span_ns = int(Decimal(match[1]) * _UNITS[unit or "s"])
        if not 0 < span_ns < _LONGEST_NS:
            self.fail(f"{value!r} is too {'long' if span_ns else 'short'}", param, ctx)
        return span_ns
