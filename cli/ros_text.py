"""What `zdissect ros2` shows people: tables, the graph as text, problems as sentences."""

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from zdissect.listing.listing import ListColumn
from zdissect.output.style import Style
from zdissect.output.text import prose, safe
from zdissect.ros2.rmw_keys import action_of

from .common import complain, folded
from .list_cells import text_columns
from .options import DisplayOptions
from .paging import write_paged
from .relative_times import clock
from .ros_drawings import dot, mermaid
from .ros_rows import (
    ACTIONS,
    CALLS,
    ENDPOINTS,
    GOALS,
    NODES,
    SERVICES,
    TOPICS,
    action_row,
    call_row,
    goal_row,
    in_short,
    service_row,
    short_hash,
    without_actions,
)
from .stats_units import many
from .table_text import table

if TYPE_CHECKING:
    from zdissect.ros2.summaries import RosReport

Entry = dict[str, Any]


def write(report: "RosReport", view: str, display: DisplayOptions) -> None:
    """Prints a view; an overview, if it is empty."""
    if display.form in ("dot", "mermaid"):
        draw = dot if display.form == "dot" else mermaid
        sys.stdout.writelines(f"{line}\n" for line in draw(report.graph()))
        return
    page = RosPage(report, display)
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "nodes": page.nodes, "topics": page.topics, "services": page.services, "actions": page.actions,
        "graph": page.graph, "doctor": page.doctor, "": page.overview,
    }  # fmt: skip
    lines = [f"{line}\n" for line in parts[view]()]
    write_paged(lines, not display.no_pager)
    if view and not lines and report.view.is_ros:
        complain(f"there are no {view} in it")
    if page.dropped:
        complain(f"no room for {', '.join(page.dropped)}: a wider terminal, and --json has all")


_TEXT_AT = 30
"""The column in which the text of a problem begins."""


class RosPage:
    """The lines of the views.

    Args:
        report: What there is.
        display: How it is to be shown.
    """

    def __init__(self, report: "RosReport", display: DisplayOptions) -> None:
        self.report = report
        self.style: Style = display.style
        self.clock = clock(display.times, report.view.extent.first_ns)
        self.width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        self.dropped: dict[str, None] = {}
        hashes = Counter(entry["name"] for entry in report.topics())
        self.ambiguous = {name for name, number in hashes.items() if number > 1}
        """Names of topics with several types or hashes."""

    def table(self, kinds: Sequence[ListColumn], rows: list[Entry]) -> Iterator[str]:
        """A table; nothing without rows. What no row has is left out, and the domain, unless there are several."""
        if not rows:
            return
        one = len({row.get("domain") for row in rows}) == 1 and kinds is not NODES
        shown = [{column.name: row.get(column.name) for column in kinds} for row in rows]
        said = {column.name for column in kinds if any(row[column.name] not in (None, 0, "", []) for row in shown)}
        wanted = [
            column for column in kinds
            if (column.vital or column.name in said) and not (one and column.name == "domain")
        ]  # fmt: skip
        lines, dropped = table(
            text_columns(wanted, shown, self.clock, self.style), self.width, self.style.dim, self.style.end
        )
        self.dropped |= dict.fromkeys(dropped)
        yield from lines

    def overview(self) -> Iterator[str]:
        """All of it in short."""
        report = self.report
        if not report.view.is_ros:
            return
        nodes, actions = report.nodes(), report.actions()
        topics, services = without_actions(report.topics()), without_actions(report.services())
        counts = (many(len(nodes), "node"), many(len(topics), "topic"), many(len(services), "service"))
        domains = sorted({entry["domain"] for entry in (*nodes, *topics, *services, *actions)})
        words = f"domain{'s' if len(domains) > 1 else ''} {', '.join(map(str, domains))}"
        yield f"{self.style.frame}ROS 2: {', '.join((*counts, many(len(actions), 'action'), words))}{self.style.end}"
        for lines in (
            self.table(NODES, nodes),
            self.table(TOPICS, [self.topic(entry) for entry in topics]),
            self.table(SERVICES, [service_row(entry) for entry in services]),
            self.table(ACTIONS, [action_row(entry) for entry in actions]),
            self.doctor(),
        ):
            ready = [*lines]
            if ready:
                yield ""
                yield from ready

    def nodes(self) -> Iterator[str]:
        """The nodes."""
        yield from self.table(NODES, self.report.nodes())

    def topics(self) -> Iterator[str]:
        """The topics, and their endpoints."""
        yield from self.table(TOPICS, [self.topic(entry) for entry in without_actions(self.report.topics())])
        yield from self.endpoints(("publisher", "subscription"))

    def endpoints(self, kinds: tuple[str, str]) -> Iterator[str]:
        """Endpoints with their QoS."""
        wanted = [one for one in self.report.entities(kinds) if not action_of(one.token.name)]
        entities = sorted(wanted, key=lambda one: (one.token.name, one.token.kind))
        rows = [
            one.token._asdict()
            | {
                "kind": one.token.kind.replace("_", " "), "node": one.token.full_node,
                "qos": one.token.qos.text() if one.token.qos else None, "hash": short_hash(one.token.hash),
            }
            for one in entities
        ]  # fmt: skip
        if rows:
            yield ""
        yield from self.table(ENDPOINTS, rows)

    def services(self) -> Iterator[str]:
        """The services, their calls, and their endpoints."""
        services = without_actions(self.report.services())
        yield from self.table(SERVICES, [service_row(entry) for entry in services])
        calls = [call_row(call) for call in self.report.calls() if not action_of(call["service"])]
        if calls:
            yield ""
        yield from self.table(CALLS, calls)
        yield from self.endpoints(("service_server", "service_client"))

    def actions(self) -> Iterator[str]:
        """The actions, and their goals."""
        actions = self.report.actions()
        yield from self.table(ACTIONS, [action_row(entry) for entry in actions])
        goals = [goal_row(goal) for entry in actions for goal in entry["goals"]]
        if goals:
            yield ""
        yield from self.table(GOALS, goals)

    def topic(self, entry: Entry) -> Entry:
        """The row of a topic."""
        senders = entry["senders"]
        latencies = [sender["latency_mean_ns"] for sender in senders if sender["latency_mean_ns"] is not None]
        return entry | {
            "hash": short_hash(entry["hash"]) if entry["name"] in self.ambiguous else None,
            "publishers": [one["node"] for one in entry["publishers"]],
            "subscriptions": [one["node"] for one in entry["subscriptions"]],
            "missing": sum(sender["missing"] for sender in senders) or None,
            "latency": sum(latencies) / len(latencies) if latencies else None,
            "last": in_short(self.report.last_content(entry)),
        }

    def graph(self) -> Iterator[str]:
        """Each node with what it has, and with whom that connects it."""
        entities = self.report.entities(("node",))
        for node in entities:
            yield f"{self.style.frame}{safe(node.token.full_node)}{self.style.end}"
            for kind, name, type_name, partners in self.report.connections(node):
                verb, arrow = _VERBS[kind]
                others = ", ".join(map(safe, partners)) or f"{self.style.warning}nobody{self.style.end}"
                yield f"  {verb:13} {safe(name)}  {self.style.dim}{safe(type_name)}{self.style.end}  {arrow} {others}"

    def doctor(self) -> Iterator[str]:
        """The problems, a line each; folded on a terminal."""
        problems = self.report.problems()
        if not problems and self.report.view.is_ros:
            yield "Nothing wrong was found."
        for problem in problems:
            severity, frames = problem["severity"], problem["frames"]
            where = f"frame{'s' if len(frames) > 1 else ''} {', '.join(map(str, frames))}" if frames else ""
            start = f"{self.style.severity(severity)}{severity:7}{self.style.end}  {problem['kind']:19}"
            *above, last = self.fitted(prose(problem["text"]))
            if self.width is not None and _TEXT_AT + len(last) + 2 + len(where) > self.width:
                above, last = [*above, last], ""
            end = f"{'  ' * bool(last)}{self.style.dim}{where}{self.style.end}" if where else ""
            first, *below = [*above, f"{last}{end}"]
            yield f"{start}  {first}"
            yield from (f"{'':{_TEXT_AT}}{line}" for line in below if line)

    def fitted(self, text: str) -> list[str]:
        """The lines of a text beside the kind of problem that it is about; one where there is no terminal."""
        return [text] if self.width is None else folded(text, self.width - _TEXT_AT)


_VERBS = {
    "publisher": ("publishes", "→"), "subscription": ("subscribes", "←"),
    "service_server": ("serves", "←"), "service_client": ("calls", "→"),
    "action_server": ("serves action", "←"), "action_client": ("calls action", "→"),
}  # fmt: skip
