"""Why endpoints don't meet: another domain, type or hash, or nobody is there.

Name, type, hash and domain are all in the key of rmw_zenoh: endpoints that differ in one of them never match, and
nothing is sent.
"""

from collections import defaultdict
from collections.abc import Iterator, Set
from difflib import get_close_matches
from itertools import islice

from zdissect.ros2.graph import RosEntity, RosGraph, topic_of
from zdissect.ros2.problem import Problem, few, listed
from zdissect.ros2.rmw_keys import action_of
from zdissect.ros2.tokens import PARTNER
from zdissect.ros2.type_finder import TypeFinder

_VERBS = {
    "publisher": ("publishes", "publish"), "subscription": ("subscribes to", "subscribe to"),
    "service_server": ("serves", "serve"), "service_client": ("calls", "call"),
}  # fmt: skip
"""What a node, and what several nodes do."""
_LIKE, _MOST_LIKE, _MOST_ASKED = 0.85, 50, 100
"""How like each other misspelled names are; with how many others a name is compared, and how many names are."""
_EVERYWHERE = ("/rosout", "/parameter_events", "/clock")
"""Topics of each node, to which often nobody subscribes."""

Topic = tuple[int, str, str, str]


class Mismatches:
    """Finds endpoints without a partner, and why they have none.

    Args:
        graph: The endpoints.
        heard: Topics and services that something was sent on: so somebody is there, known or not.
        types: Tells which releases a hash is from; None: it isn't told.
        complete: Whether all tokens are in the capture: else nobody is said to be missing.
    """

    def __init__(self, graph: RosGraph, heard: Set[Topic], types: TypeFinder | None, complete: bool) -> None:
        self.heard, self.types, self.complete = heard, types, complete
        self.named: dict[tuple[str, str], list[RosEntity]] = defaultdict(list)
        """Endpoints by kind and name."""
        self.lower: dict[tuple[str, int, str], list[RosEntity]] = defaultdict(list)
        """By kind, domain and name in lower case."""
        self.topics: dict[str, set[Topic]] = defaultdict(set)
        for entity in graph.endpoints:
            token = entity.token
            self.named[token.kind, token.name].append(entity)
            self.lower[token.kind, token.domain, token.name.lower()].append(entity)
            self.topics[token.kind].add(topic_of(token))
        self.endpoints = graph.endpoints
        self.alone: dict[tuple[str, int, str], dict[str, list[RosEntity]]] = defaultdict(lambda: defaultdict(list))
        """Endpoints without a partner, by kind, domain and type, and then by name."""
        for entity in self.endpoints:
            token = entity.token
            if not self.matched(entity) and topic_of(token) not in heard:
                self.alone[token.kind, token.domain, token.type][token.name].append(entity)
        self.asked = 0
        """How many names were compared with others."""

    def problems(self) -> Iterator[Problem]:
        """The problems, each once for a name and domain."""
        told: set[tuple[str, str, int | None]] = set()
        for entity in self.endpoints:
            problem = None if self.matched(entity) else self.why(entity)
            if problem is not None and (name := problem[:1] + problem[2:4]) not in told:
                told.add(name)
                yield problem

    def matched(self, entity: RosEntity) -> bool:
        """Whether it has a partner."""
        return topic_of(entity.token) in self.topics[PARTNER[entity.token.kind]] or not entity.token.type

    def why(self, entity: RosEntity) -> Problem | None:
        """Why it has none."""
        token = entity.token
        partners = [other for other in self.named[PARTNER[token.kind], token.name] if other.token.type]
        near = [other for other in partners if other.token.domain == token.domain]
        same_type = [other for other in near if other.token.type == token.type]
        if same_type:
            return self.hashes(entity, same_type)
        if near:
            return self.types_differ(entity, near)
        far = [other for other in partners if other.token.type == token.type]
        if far and (token.kind in ("subscription", "service_client") or not all(map(self.matched, far))):
            return self.domains(entity, far)
        return self.nobody(entity)

    def hashes(self, entity: RosEntity, others: list[RosEntity]) -> Problem:
        """They have another hash."""
        token = entity.token
        text = (
            f"{_who([entity])}, and {_who(others)}, with other definitions of {token.type}: "
            f"type hashes {self.hash(token.type, token.hash)} and "
            f"{listed(self.hash(token.type, other.token.hash) for other in others)}"
        )
        return self.problem("hash-mismatch", entity, others, text)

    def hash(self, name: str, digest: str) -> str:
        """A hash in short, with the releases that it is from."""
        releases = self.types.releases_of(name, digest) if self.types is not None else []
        short = f"{digest[:15]}…" if len(digest) > 32 else digest
        if not releases:
            return short
        first, last = releases[0].capitalize(), releases[-1].capitalize()
        return f"{short} ({first if first == last else f'{first} to {last}'})"

    def types_differ(self, entity: RosEntity, others: list[RosEntity]) -> Problem:
        """They have another type."""
        text = f"{_who([entity])} with type {entity.token.type}, but {_who(others)} with type "
        return self.problem("type-mismatch", entity, others, text + listed(other.token.type for other in others))

    def domains(self, entity: RosEntity, others: list[RosEntity]) -> Problem:
        """They are in another domain."""
        theirs = listed(str(other.token.domain) for other in others)
        text = f"{_who([entity])} in domain {entity.token.domain}, but {_who(others)} in domain {theirs}"
        return self.problem("domain-mismatch", entity, others, text)

    def problem(self, kind: str, entity: RosEntity, others: list[RosEntity], text: str) -> Problem:
        """A mismatch of two sides."""
        token, frames = entity.token, few(one.since.frame for one in (entity, *others))
        subject = "service" if token.kind.startswith("service") else "topic"
        effect = "the service isn't found" if subject == "service" else "nothing arrives"
        if action := action_of(token.name):
            subject = "action"
        return Problem(kind, subject, action or token.name, token.domain, f"{text}: {effect}", frames)

    def nobody(self, entity: RosEntity) -> Problem | None:
        """Nobody is there, or only under a name that is spelled otherwise."""
        token, action = entity.token, action_of(entity.token.name)
        like = self.lower[PARTNER[token.kind], token.domain, token.name.lower()]
        if like:
            text = f"{_who([entity])}, but {_who(like)}: names differ in upper and lower case"
            return self.problem("name-mismatch", entity, like, text)
        unneeded = token.kind == "service_server" or token.name in _EVERYWHERE
        if unneeded or not self.complete or topic_of(token) in self.heard:
            return None
        alike = [one for one in self.named[token.kind, token.name] if topic_of(one.token) == topic_of(token)]
        frames = few(one.since.frame for one in alike)
        if action:
            if token.kind != "service_client" or not token.name.endswith("/send_goal"):
                return None
            text = f"{token.full_node} is a client of {action}, and no action server has it"
            return Problem("action-no-server", "action", action, token.domain, text, frames)
        kind, subject, text = {
            "publisher": ("no-subscriber", "topic", "nobody subscribes to it: no message is sent"),
            "subscription": ("no-publisher", "topic", "nobody publishes it"),
            "service_client": ("service-no-server", "service", "no node serves it: no request is sent"),
        }[token.kind]
        if near := self.like(entity):
            text += f"; {_who(near)}, of the same type, likewise alone: is one of the names or namespaces wrong?"
            frames = few((*frames, *(one.since.frame for one in near)))
        return Problem(kind, subject, token.name, token.domain, f"{_who(alike)}, and {text}", frames)

    def like(self, entity: RosEntity) -> list[RosEntity]:
        """The endpoints that it was perhaps meant for: alone as well, with the same name in another namespace, or with
        a name that is almost the same. Of one name only.
        """
        token = entity.token
        others = self.alone.get((PARTNER[token.kind], token.domain, token.type), {})
        last = token.name.rpartition("/")[2]
        names = list(islice((name for name in others if name.rpartition("/")[2] == last), 1))
        if not names and self.asked < _MOST_ASKED:
            self.asked += 1
            names = get_close_matches(token.name, islice(others, _MOST_LIKE), 1, _LIKE)
        return others[names[0]] if names else []


def _who(entities: list[RosEntity]) -> str:
    """`/talker publishes /chatter`, `/one and /two publish /chatter`."""
    token = entities[0].token
    nodes = dict.fromkeys(entity.token.full_node for entity in entities)
    return f"{listed(nodes)} {_VERBS[token.kind][len(nodes) > 1]} {token.name}"
