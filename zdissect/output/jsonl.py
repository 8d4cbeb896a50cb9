"""Rows as JSON: one flat object per message with exactly the columns of the message table."""

from datetime import UTC, datetime, timedelta
from typing import Any

from zdissect.engine.messages import Row
from zdissect.grammar.columns import COLUMNS
from zdissect.output.printable import dumps
from zdissect.table import complete

_TIMES = tuple(column.name for column in COLUMNS if column.type == "timestamp")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def line(row: Row) -> str:
    """A row as one line of JSON. Bytes are hex, timestamps RFC 3339 in UTC."""
    out: dict[str, Any] = complete(row)
    for name in _TIMES:
        if out[name] is not None:
            out[name] = time_text(out[name])
    return dumps(out)


def time_text(us: int) -> str | None:
    """Microseconds since 1970 as RFC 3339 in UTC; None in years that this hasn't."""
    try:
        return (_EPOCH + timedelta(microseconds=us)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    except OverflowError:
        return None
