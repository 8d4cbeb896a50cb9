"""Who is linked to whom in a capture, and the way that samples take."""

import ipaddress
from collections import deque
from typing import Any

from zdissect.reach.key_evidence import Evidence
from zdissect.reach.sample_hops import Sample

_SHORT = 8
"""Digits of a ZenohID in a text."""


class Paths:
    """The sessions of a capture as a graph of nodes."""

    def __init__(self, known: Evidence) -> None:
        self.roles = dict(known.roles)
        self.links: dict[str, dict[str, dict[str, Any]]] = {}
        """Each node's neighbours, with a session with each."""
        self.addresses: dict[str, dict[str, None]] = {}
        """The nodes at each address, with its port and without."""
        for session in known.sessions:
            one, other = (end["zid"] or end["address"] for end in session["ends"])
            for end in session["ends"]:
                name = end["zid"] or end["address"]
                self.roles[name] = self.roles.get(name) or end["role"]
                for address in (end["address"], end["address"].rpartition(":")[0].strip("[]")):
                    self.addresses.setdefault(address, {})[name] = None
            self.links.setdefault(one, {})[other] = session
            self.links.setdefault(other, {})[one] = session

    def called(self, name: str) -> str:
        """A node for people: its role, and the first digits of its ZenohID."""
        short = name if ":" in name or len(name) <= _SHORT else f"{name[:_SHORT]}…"
        return f"{self.roles.get(name) or ''} {short}".strip()

    def found(self, text: str) -> list[str]:
        """The nodes that a text may mean: the first digits of a ZenohID, or an address, with its port or without."""
        if text in self.links:
            return [text]
        return [name for name in self.links if name.startswith(text)] or list(self.addresses.get(text, ()))

    def of(self, name: str) -> list[tuple[str, dict[str, Any]]]:
        """A node's neighbours, each with a session, in the order of the sessions."""
        return sorted(self.links.get(name, {}).items(), key=lambda pair: pair[1]["session"])

    def between(self, start: str, end: str, samples: list[Sample], first: set[str]) -> list[str]:
        """The way from one node to another, both included; empty if there is none.

        The shortest; of several, one on which samples went as far as possible. Clients pass nothing on.

        Args:
            first: Neighbours of `start` that the way should lead over, if one of them leads to the end.
        """
        return self._between(start, end, samples, first) or self._between(start, end, samples, set(self.links))

    def _between(self, start: str, end: str, samples: list[Sample], first: set[str]) -> list[str]:
        """The same, over certain neighbours of the start only."""
        came = {node for sample in samples for node in sample.received}
        before: dict[str, str] = {start: ""}
        waiting = deque([start])
        while waiting and end not in before:
            name = waiting.popleft()
            if name != start and self.roles.get(name) == "client":
                continue
            for other in sorted(self.links.get(name, {}), key=lambda one: (one not in came, one)):
                if other not in before and (name != start or other in first):
                    before[other] = name
                    waiting.append(other)
        if end not in before:
            return []
        way = [end]
        while way[-1] != start:
            way.append(before[way[-1]])
        return way[::-1]

    @staticmethod
    def is_group(name: str) -> bool:
        """Whether it is the address of a multicast group."""
        host = name.rpartition(":")[0].strip("[]")
        try:
            return ipaddress.ip_address(host).is_multicast
        except ValueError:
            return False
