"""The graph of nodes and topics as `rqt_graph` draws it: for Graphviz (DOT) and for Mermaid."""

import json
from collections.abc import Iterator
from typing import Any

from zdissect.output.text import prose

Entry = dict[str, Any]
Edge = tuple[str, str, str]
"""From, to, and what it is: `topic`, `service`, `action`."""

_QUIET = ("/rosout", "/parameter_events")
"""Topics of each node, which are drawn only if somebody subscribes."""


_ENTITIES = str.maketrans({char: f"#{ord(char)};" for char in '"#&<>'})
"""What Mermaid, and the page that it draws into, would take for more than text."""


def _label(*lines: str) -> str:
    """Names in lines of their own, with all that isn't printable escaped."""
    return "\n".join(map(prose, lines))


def _edges(graph: Entry) -> Iterator[Edge]:
    """The arrows: from publishers to topics to subscriptions, from clients to services and actions to servers."""
    for topic in graph["topics"]:
        quiet = topic["name"] in _QUIET and not topic["subscriptions"]
        if "/_action/" in topic["name"] or quiet:
            continue
        name = _label(topic["name"], topic["type"])
        yield from ((_label(one["node"]), name, "topic") for one in topic["publishers"])
        yield from ((name, _label(one["node"]), "topic") for one in topic["subscriptions"])
    for service in graph["services"]:
        if "/_action/" in service["name"] or not service["service_clients"]:
            continue
        name = _label(service["name"], service["type"])
        yield from ((_label(one["node"]), name, "service") for one in service["service_clients"])
        yield from ((name, _label(one["node"]), "service") for one in service["service_servers"])
    for action in graph["actions"]:
        name = _label(action["name"], action["type"] or "action")
        yield from ((_label(node), name, "action") for node in action["clients"])
        yield from ((name, _label(node), "action") for node in action["servers"])


def _drawn(graph: Entry) -> tuple[dict[str, str], dict[Edge, None]]:
    """What is drawn, each with its kind; and the arrows, each once."""
    edges = dict.fromkeys(_edges(graph))
    things = {_label(node["full_name"]): "node" for node in graph["nodes"]}
    for start, end, kind in edges:
        for name in (start, end):
            things.setdefault(name, "node" if "\n" not in name else kind)
    return things, edges


def dot(graph: Entry) -> Iterator[str]:
    """Lines for Graphviz.

    Args:
        graph: Nodes, topics, services and actions, as `RosReport.graph` gives them.
    """
    shapes = {"node": "ellipse", "topic": "box", "service": "hexagon", "action": "octagon"}
    things, edges = _drawn(graph)
    yield "digraph ros2 {"
    yield "  rankdir=LR;"
    yield '  node [fontname="sans-serif"];'
    for name, kind in things.items():
        yield f"  {_quoted(name)} [shape={shapes[kind]}];"
    for start, end, kind in edges:
        style = "" if kind == "topic" else " [style=dashed]"
        yield f"  {_quoted(start)} -> {_quoted(end)}{style};"
    yield "}"


def mermaid(graph: Entry) -> Iterator[str]:
    """Lines for Mermaid: as `dot`."""
    shapes = {"node": "([{}])", "topic": "[{}]", "service": "{{{{{}}}}}", "action": "[[{}]]"}
    things, edges = _drawn(graph)
    numbers = {name: f"n{number}" for number, name in enumerate(things)}
    yield "flowchart LR"
    for name, kind in things.items():
        label = f'"{name.translate(_ENTITIES)}"'.replace("\n", "<br>")
        yield f"  {numbers[name]}{shapes[kind].format(label)}"
    for start, end, kind in edges:
        yield f"  {numbers[start]} {'-->' if kind == 'topic' else '-.->'} {numbers[end]}"


def _quoted(text: str) -> str:
    """A name for Graphviz."""
    return json.dumps(text, ensure_ascii=False)
