"""What a view holds, as JSON has it: nodes, endpoints, topics, messages, services, actions, problems."""

from collections import defaultdict
from typing import Any

from zdissect.pipeline import Pipeline
from zdissect.ros2.doctor import problems
from zdissect.ros2.goals import RosGoal
from zdissect.ros2.graph import RosEntity, topic_of
from zdissect.ros2.owners import Owners
from zdissect.ros2.publications import RosPublisher, message_entry
from zdissect.ros2.rmw_keys import RosKey, action_of
from zdissect.ros2.tokens import PARTNER, RosToken
from zdissect.ros2.view import RosView

Entry = dict[str, Any]


class RosReport:
    """The entries of a view, at the end of a capture.

    Args:
        view: What was collected.
        pipeline: After its end.
        at: Only what was there at this time, nanoseconds since 1970; None: all.
    """

    def __init__(self, view: RosView, pipeline: Pipeline, at: int | None = None) -> None:
        self.view, self.pipeline, self.at = view, pipeline, at
        self.owners = Owners(view.graph)
        self.latest = {message.key: message.content.value for message in view.messages.listed.values()}

    def entities(self, kinds: tuple[str, ...]) -> list[RosEntity]:
        """The entities of some kinds that are to be shown."""
        every = (entity for entity in self.view.graph.known.values() if entity.token.kind in kinds)
        return [entity for entity in every if self.at is None or entity.alive(self.at)]

    def all(self) -> Entry:
        """All entries."""
        return {
            "nodes": self.nodes(), "endpoints": self.endpoints(), "topics": self.topics(), "messages": self.messages(),
            "services": self.calls(), "actions": self.actions(), "problems": self.problems(),
            "unlisted": self.unlisted(),
        }  # fmt: skip

    def unlisted(self) -> int:
        """How many messages, calls, goals and entities weren't kept."""
        view = self.view
        return view.messages.unlisted + view.calls.unlisted + view.graph.unlisted + view.goals.unlisted

    def graph(self) -> Entry:
        """Nodes and what connects them."""
        return {"nodes": self.nodes(), "topics": self.topics(), "services": self.services(), "actions": self.actions()}

    def nodes(self) -> list[Entry]:
        """The nodes."""
        out = []
        for entity in self.entities(("node",)):
            mine = [one.token for one in self.endpoints_of(entity)]
            kinds = [_kind_of(token) for token in mine]
            counts = {f"{kind}s": kinds.count(kind) for kind in (*_ENDPOINTS, "action_server", "action_client")}
            out.append(entity.entry(self.view.graph.addresses) | {"full_name": entity.token.full_node} | counts)
        return out

    def endpoints_of(self, node: RosEntity) -> list[RosEntity]:
        """The endpoints of a node."""
        token = node.token
        return [
            one for one in self.entities(_ENDPOINTS)
            if (one.token.zid, one.token.domain, one.token.full_node, one.token.nid)
            == (token.zid, token.domain, token.full_node, token.nid)
        ]  # fmt: skip

    def connections(self, node: RosEntity) -> list[tuple[str, str, str, list[str]]]:
        """The endpoints and actions of a node: kind, name, type, and the nodes that they connect it with."""
        out = []
        for token in (one.token for one in self.endpoints_of(node)):
            there = self.owners.by_key.get((PARTNER[token.kind], topic_of(token)), [])
            partners = [other for other in there if self.at is None or other.alive(self.at)]
            kind, action = _kind_of(token), action_of(token.name)
            name, made_of = (action, token.type.removesuffix("_SendGoal")) if action else (token.name, token.type)
            if kind:
                out.append((kind, name, made_of, list(dict.fromkeys(other.token.full_node for other in partners))))
        return out

    def last_content(self, topic: Entry) -> Entry | None:
        """The content of the last message of a topic that is listed."""
        return self.latest.get(RosKey(topic["domain"], topic["name"], topic["type"], topic["hash"]))

    def endpoints(self) -> list[Entry]:
        """Publishers, subscriptions, service servers and clients."""
        return [entity.entry(self.view.graph.addresses) for entity in self.entities(_ENDPOINTS)]

    def messages(self) -> list[Entry]:
        """The messages, each once."""
        out = []
        for message in self.view.messages.listed.values():
            owner = self.owners.owner("publisher", message.key, message.attachment.gid, message.origin, message.sender)
            out.append(message_entry(message, owner.token.full_node if owner else None))
        return out

    def topics(self) -> list[Entry]:
        """The topics: who publishes and subscribes, and what was sent."""
        out = self.grouped(("publisher", "subscription"))
        for publisher in self.view.messages.publishers.values():
            entry = out.setdefault(publisher.key, _entry(publisher.key, ("publisher", "subscription")))
            owner = self.owners.owner("publisher", publisher.key, publisher.gid, publisher.origin)
            entry["senders"].append(_sender(publisher, owner))
        for entry in out.values():
            entry["messages"] = sum(sender["messages"] for sender in entry["senders"])
            entry["bytes"] = sum(sender["bytes"] for sender in entry["senders"])
            rates = [sender["rate_hz"] for sender in entry["senders"] if sender["rate_hz"] is not None]
            entry["rate_hz"] = sum(rates) if rates else None
        return _ordered(out)

    def services(self) -> list[Entry]:
        """The services, with their calls."""
        out = self.grouped(("service_server", "service_client"))
        for call, entry in zip(self.view.calls.listed.values(), self.calls(), strict=True):
            kept = out.setdefault(call.key, _entry(call.key, ("service_server", "service_client")))
            kept["calls"].append(entry)
        return _ordered(out)

    def grouped(self, kinds: tuple[str, str]) -> dict[tuple[Any, ...], Entry]:
        """Entries of topics or services, with the nodes at both sides."""
        out: dict[tuple[Any, ...], Entry] = {}
        for entity in self.entities(kinds):
            entry = out.setdefault(topic_of(entity.token), _entry(RosKey(*topic_of(entity.token)), kinds))
            qos = entity.token.qos
            entry[f"{entity.token.kind}s"].append(
                {"node": entity.token.full_node, "zid": entity.token.zid, "qos": qos.text() if qos else None}
            )
        return out

    def calls(self) -> list[Entry]:
        """The calls of services."""
        now_ns, out = self.view.extent.now_ns, []
        for call in self.view.calls.listed.values():
            owner = self.owners.owner("service_client", call.key, call.attachment.gid, call.client)
            out.append(call.entry(owner.token.full_node if owner else None, now_ns))
        return out

    def goals(self) -> list[RosGoal]:
        """The goals."""
        return self.view.goals.report(self.view.calls.listed.values())

    def actions(self) -> list[Entry]:
        """The actions, each with its servers, clients and goals."""
        out: dict[tuple[int, str], Entry] = {}
        for entity in self.entities(("service_server", "service_client")):
            token, action = entity.token, action_of(entity.token.name)
            if action and token.name.endswith("/send_goal"):
                entry = out.setdefault((token.domain, action), _action(token.domain, action))
                entry["type"] = entry["type"] or token.type.removesuffix("_SendGoal")
                entry["servers" if token.kind == "service_server" else "clients"].append(token.full_node)
        for goal in self.goals():
            entry = out.setdefault((goal.key.domain, goal.key.action), _action(goal.key.domain, goal.key.action))
            entry["type"] = entry["type"] or goal.type
            send = goal.send
            owner = self.owners.owner("service_client", send.key, send.attachment.gid, send.client) if send else None
            entry["goals"].append(goal.entry(owner.token.full_node if owner else None, self.view.extent.now_ns))
        return [out[name] for name in sorted(out)]

    def problems(self) -> list[Entry]:
        """What is wrong."""
        found = problems(self.view, self.view.session_entries(self.pipeline), self.goals())
        return [problem.entry() for problem in found]


_ENDPOINTS = ("publisher", "subscription", "service_server", "service_client")


def _kind_of(token: RosToken) -> str:
    """The kind of an endpoint; `action_server` or `action_client` for one part of an action, empty for the others."""
    if not action_of(token.name):
        return token.kind
    return token.kind.replace("service", "action") if token.name.endswith("/send_goal") else ""


def _ordered(entries: dict[tuple[Any, ...], Entry]) -> list[Entry]:
    return [entries[key] for key in sorted(entries)]


def _entry(key: RosKey, kinds: tuple[str, str]) -> Entry:
    """A topic or service that nothing is known of yet."""
    lists: dict[str, list[Any]] = defaultdict(list)
    what = {f"{kind}s": lists[kind] for kind in kinds}
    what["senders" if "publisher" in kinds else "calls"] = lists[""]
    return {"name": key.name, "domain": key.domain, "type": key.type, "hash": key.hash, **what}


def _action(domain: int, name: str) -> Entry:
    """An action that nothing is known of yet."""
    return {"name": name, "domain": domain, "type": None, "servers": [], "clients": [], "goals": []}


def _sender(publisher: RosPublisher, owner: RosEntity | None) -> Entry:
    """What a publisher has sent."""
    least, greatest, total = publisher.latencies or (None, None, 0)
    lasted = publisher.last.ts_ns - publisher.first.ts_ns
    return {
        "node": owner.token.full_node if owner else None, "gid": publisher.gid, "messages": publisher.messages,
        "copies": publisher.copies, "bytes": publisher.size, "first_seq": publisher.lowest,
        "last_seq": publisher.highest, "missing": len(publisher.missing) + publisher.untold,
        "repeated": sum(path.repeated for path in publisher.paths.values()),
        "rate_hz": (publisher.messages - 1) * 1e9 / lasted if lasted > 0 and publisher.messages > 1 else None,
        "latency_min_ns": least, "latency_max_ns": greatest,
        "latency_mean_ns": total // publisher.live if publisher.live else None,
        "attachment_layout": publisher.layout,
    }  # fmt: skip
