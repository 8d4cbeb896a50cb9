"""The tables of `zdissect top`: one after the other, or in place on a terminal."""

import shutil
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from zdissect.output.text import payload, prose, safe
from zdissect.output.time_formats import formatter
from zdissect.session.model import Link
from zdissect.stats.activity import Activity, KeyActivity
from zdissect.table import endpoint

from .outcome import describe
from .ros_rows import RosNames
from .stats_units import duration, hertz, many, size
from .table_text import TextColumn, table

if TYPE_CHECKING:
    from rich.live import Live

ORDERS: dict[str, Callable[[KeyActivity, int], Any]] = {
    "rate": lambda key, now_ns: -key.rates(now_ns)[0],
    "bytes": lambda key, now_ns: -key.rates(now_ns)[1],
    "messages": lambda key, _: -key.messages,
    "size": lambda key, _: -key.size,
    "age": lambda key, _: -key.last_ns,
    "key": lambda _, __: 0,
}
"""By what keys are put in order; those that are equal by their names."""
_KEYS = 25
_SESSIONS = 5
_VALUE = 40
_MARGIN = 3
"""Lines of a screen that stay free."""


class View(Protocol):
    """Where tables are shown."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...

    def show(self, activity: Activity, links: list[Link], frames: int, now_ns: int, final: bool) -> None:
        """Shows how it stands; `final` at the end of the capture."""


class Printed:
    """One table after the other.

    Args:
        order: A key of ORDERS.
        rows: So many keys are shown, 0 for all; None: as many as fit.
        raw_keys: Keys of ROS 2 are shown as they are, not by their names.
    """

    def __init__(self, order: str, rows: int | None, raw_keys: bool = False) -> None:
        self.order, self.rows, self.raw_keys = order, rows, raw_keys
        self.shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, activity: Activity, links: list[Link], frames: int, now_ns: int, final: bool) -> None:
        """Prints how it stands."""
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        rows = _KEYS if self.rows is None else self.rows
        lines = self.lines(activity, links, frames, now_ns, rows, width)
        sys.stdout.write("\n" * self.shown + "\n".join(lines) + "\n")
        sys.stdout.flush()
        self.shown = True

    def lines(
        self, activity: Activity, links: list[Link], frames: int, now_ns: int, rows: int, width: int | None
    ) -> list[str]:
        """All lines of a table. Texts of the capture are escaped."""
        total = activity.total
        each, bytes_ = total.rates(now_ns)
        when = formatter("u")(now_ns) if now_ns else ""
        counts = [many(frames, "frame"), many(len(links), "link"), many(activity.messages, "message")]
        if total.messages:
            counts += [f"{many(total.messages, 'value')} ({hertz(each)}, {size(int(bytes_))}/s)"]
        out = [f"{when}  {', '.join(counts)}".strip()]
        if activity.findings:
            out.append(f"findings: {describe(activity.findings)}")
            if (last := activity.last_finding) is not None:
                out.append(f"  last: frame {last.item.frame.number}: {prose(last.message)} [{last.rule.code}]")
        known = in_order(activity, self.order, now_ns)
        shown = known[:rows] if rows else known
        if shown:
            out += ["", *_keys(shown, now_ns, width, self.raw_keys)]
        rest = [f"{len(known) - len(shown)} more keys"] if len(known) > len(shown) else []
        rest += [f"{activity.dropped} keys were silent for longest and aren't kept"] if activity.dropped else []
        out += [f"({'; '.join(rest)})"] if rest else []
        if links:
            out += ["", *_sessions(links, width)]
        return out


class Screen(Printed):
    """In place, on a screen of its own; the last table stays when that is left."""

    live: "Live"

    def __enter__(self) -> Self:
        from rich.live import Live  # only on a terminal
        from rich.text import Text

        self.live = Live(Text("waiting for Zenoh ..."), screen=True, auto_refresh=False)
        self.live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def show(self, activity: Activity, links: list[Link], frames: int, now_ns: int, final: bool) -> None:
        """Shows how it stands."""
        if final:
            self.live.stop()
            super().show(activity, links, frames, now_ns, final)
            return
        from rich.text import Text

        columns, height = shutil.get_terminal_size()
        rows = max(height - _MARGIN - _SESSIONS - 6, 1) if self.rows is None else self.rows
        lines = self.lines(activity, links, frames, now_ns, rows, columns)
        self.live.update(Text("\n".join(lines), no_wrap=True, overflow="ellipsis"), refresh=True)


def in_order(activity: Activity, order: str, now_ns: int) -> list[KeyActivity]:
    """The keys in an order of ORDERS."""
    return sorted(activity.keys.values(), key=lambda key: (ORDERS[order](key, now_ns), key.name))


def _keys(keys: list[KeyActivity], now_ns: int, width: int | None, raw_keys: bool) -> list[str]:
    rates = [key.rates(now_ns) for key in keys]
    names = RosNames([] if raw_keys else [{"key_expr": key.name} for key in keys]).names
    columns = [
        TextColumn("Key", [safe(names.get(key.name, key.name)) for key in keys], least=20),
        TextColumn("Rate", [hertz(each) for each, _ in rates], right=True, whole=True),
        TextColumn("Bytes", [f"{size(int(bytes_))}/s" for _, bytes_ in rates], right=True, whole=True),
        TextColumn("Messages", [str(key.messages) for key in keys], right=True, whole=True, weight=2),
        TextColumn("Total", [size(key.size) for key in keys], right=True, whole=True, weight=3),
        TextColumn("Ago", [_ago(now_ns - key.last_ns) for key in keys], right=True, whole=True, weight=1),
        TextColumn("Encoding", [safe(key.encoding) for key in keys], weight=5, least=10),
        TextColumn("Last value", [_value(key) for key in keys], weight=4, least=16),
    ]
    return table(columns, width)[0]


def _ago(passed_ns: int) -> str:
    return "now" if passed_ns < 10**9 else duration(passed_ns // 10**9).replace(".00", "")


def _value(key: KeyActivity) -> str:
    if key.value_size is None:
        return "(deleted)"
    if key.value_size <= len(key.value):
        return payload(key.value, key.encoding, _VALUE)
    length, _, text = payload(key.value, key.encoding, len(key.value)).partition("  ")
    return f"{length.replace(str(len(key.value)), str(key.value_size), 1)}  {text} ..."


def _sessions(links: list[Link], width: int | None) -> list[str]:
    busiest = sorted(links, key=lambda link: -sum(link.messages))
    shown = busiest[:_SESSIONS]
    columns = [
        TextColumn("Link", [link.flow.id for link in shown], whole=True),
        TextColumn("Opened by", [_end(link, 0) for link in shown]),
        TextColumn("Messages", [str(link.messages[0]) for link in shown], right=True, whole=True),
        TextColumn("With", [_end(link, 1) for link in shown]),
        TextColumn("Messages", [str(link.messages[1]) for link in shown], right=True, whole=True),
    ]
    more = [f"({len(busiest) - len(shown)} more links)"] if len(busiest) > len(shown) else []
    return table(columns, width)[0] + more


def _end(link: Link, direction: int) -> str:
    """A side of a link: role, ZenohID, address."""
    names, where = link.who(direction), endpoint(link.flow.ends[direction])
    return " ".join(filter(None, (names.get("src_role"), safe(names.get("src_zid") or ""), where)))
