"""Multicast: members of a group and their JOINs (notes 4.3)."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

from zdissect.dissection import Dissection, Notice
from zdissect.engine.messages import DecodedMessage, Row
from zdissect.flow.conversation import Flow
from zdissect.grammar.enums import DATA, DEFAULT_BITS, PRIORITY
from zdissect.grammar.structures import DEFAULT_MULTICAST_BATCH_SIZE
from zdissect.records import DATAGRAM_LINKS, RAW_ETHERNET, Endpoint, Frame
from zdissect.session.handshake import LinkEnd, Offer, Parameters
from zdissect.session.liveness import SLACK_MS
from zdissect.session.model import Link
from zdissect.session.sequence import Channel

_KEPT = ("zid", "role", "sn_bits", "rid_bits", "batch_size", "lease_ms")
"""Parameters that a member may not change from one JOIN to the next."""
_COMMON = ("version", "sn_bits", "rid_bits", "batch_size")
"""Parameters that all members of a group must have in common."""

Terms = tuple[int | None, ...]
"""The values of these parameters, see `_COMMON`."""


@dataclass(slots=True)
class Differing:
    """Two members that ignore each other."""

    link: Link
    direction: int
    text: str
    count: int = 1
    """Number of JOINs that showed it."""


def _stated(end: LinkEnd, name: str) -> Any:
    """A parameter that a member has stated, as its own or in its offer."""
    return getattr(end.offer if name in Offer._fields else end, name)


def _terms(end: LinkEnd) -> Terms:
    return tuple(_stated(end, name) for name in _COMMON)


def _offer(row: Row) -> Offer:
    """The parameters that a JOIN states."""
    return Offer(
        row.get("resolution_sn", DEFAULT_BITS), row.get("resolution_rid", DEFAULT_BITS),
        row.get("batch_size", DEFAULT_MULTICAST_BATCH_SIZE), row.get("patch", 0),
    )  # fmt: skip


class Groups:
    """The members of all groups, by group and source."""

    def __init__(self) -> None:
        self.members: dict[Endpoint | str, dict[Endpoint, LinkEnd]] = {}
        self.joined_ns: dict[tuple[Endpoint, Endpoint | str], int] = {}
        """When each source last joined a group."""
        self.stations: dict[Endpoint, dict[str, Link]] = {}
        """The links of each station on raw Ethernet that haven't ended, by flow."""
        self.terms: dict[Endpoint | str, dict[Terms, dict[Endpoint, LinkEnd]]] = {}
        """The members of each group by the parameters that they must have in common, in order of appearance."""
        self.differing: dict[frozenset[Endpoint], Differing] = {}
        """Pairs of members that ignore each other."""

    def link(self, flow: Flow) -> Link:
        """The link of a new flow.

        A station on raw Ethernet chooses receivers by key expression, but has one sequence of numbers for all of them
        (zenoh-pico, `_zp_raweth_set_socket`): numbers that are missing on one of its links may be on another.
        """
        link = Link(flow)
        for end in flow.ends if flow.link == RAW_ETHERNET else ():
            if end.address and not end.address[0] & 1:  # else a group address, or unknown
                links = self.stations.setdefault(end, {})
                link.session.shared = link.session.shared or bool(links)
                for other in links.values() if len(links) == 1 else ():  # of more, each was told when it came
                    other.session.shared = True
                links[flow.id] = link
        return link

    def shares(self, link: Link) -> bool:
        """Whether a station of a link has other links, which the same sequence of numbers is for."""
        flow = link.flow
        return flow.link == RAW_ETHERNET and any(len(self.stations.get(end, ())) > 1 for end in flow.ends)

    def left(self, flow: Flow) -> None:
        """The link of a flow has ended: its stations don't keep it."""
        for end in flow.ends if flow.link == RAW_ETHERNET else ():
            if (links := self.stations.get(end)) is not None:
                links.pop(flow.id, None)
                if not links:
                    del self.stations[end]

    def join(self, link: Link, message: DecodedMessage, item: Dissection) -> None:
        """Takes a JOIN: its sender is a member of the group that it is sent to, or one end of a connection."""
        row = message.row
        src, dst = item.flow.ends if item.direction == 0 else item.flow.ends[::-1]
        group = dst if item.flow.link in DATAGRAM_LINKS else item.flow.id
        end = LinkEnd(
            row.get("zid"), message.value("join.zid") or b"", row.get("whatami"), row.get("version"), _offer(row),
            row.get("lease_ms"), opened=True,
        )  # fmt: skip
        members = self.members.setdefault(group, {})
        before = members.get(src)
        if before is None:
            link.session.agreed = None
            terms = link.side(item.direction).stated = Parameters(end.offer.sn_bits)
            self.anchor(link, message, item.direction, terms.sn_mask)
        else:
            changed = [name for name in _KEPT if _stated(before, name) != _stated(end, name)]
            if changed:
                message.remark("join-changed", f"{', '.join(changed)} changed")
            self.late(message, before, item.frame.now_ns - self.joined_ns[src, group])
        self.compare(link, message, item.direction, self.terms.setdefault(group, {}), src, before, end)
        members[src] = copy(end)  # an INIT on the same link changes the link's own
        self.joined_ns.pop((src, group), None)
        self.joined_ns[src, group] = item.frame.now_ns
        ends = list(link.handshake.ends)
        ends[item.direction] = end
        link.handshake.ends = (ends[0], ends[1])

    def compare(
        self, link: Link, message: DecodedMessage, direction: int, groups: dict[Terms, dict[Endpoint, LinkEnd]],
        src: Endpoint, before: LinkEnd | None, end: LinkEnd,
    ) -> None:  # fmt: skip
        """Notes 9, rule 30: compares a member with the first one that has other terms, and reports each pair once."""
        if before is not None and _terms(before) != _terms(end):
            groups[_terms(before)].pop(src)
            if not groups[_terms(before)]:
                del groups[_terms(before)]
        groups.setdefault(_terms(end), {})[src] = end
        for terms, others in groups.items():
            if terms == _terms(end) or not others:
                continue
            address, other = next(iter(others.items()))
            known = self.differing.get(frozenset((src, address)))
            if known is not None:
                known.count += 1
                return
            differs = [name for name, own, theirs in zip(_COMMON, _terms(end), terms, strict=True) if own != theirs]
            text = f"{', '.join(differs)} not the same as in {other.zid}"
            self.differing[frozenset((src, address))] = Differing(link, direction, f"{end.zid}: {text}")
            message.remark("join-differs", text)
            return

    def forget(self, before_ns: int) -> None:
        """Forgets the members whose last JOIN came before a time."""
        self.remove([member for member, joined_ns in self.joined_ns.items() if joined_ns < before_ns])

    def shrink(self, most: int) -> None:
        """Forgets the half of the members that joined first, if there are more members, or pairs that differ."""
        if len(self.joined_ns) + len(self.differing) > most:
            self.remove(list(self.joined_ns)[: (len(self.joined_ns) + 1) // 2])

    def remove(self, gone: list[tuple[Endpoint, Endpoint | str]]) -> None:
        """Forgets members."""
        for src, group in gone:
            del self.joined_ns[src, group]
            end = self.members[group].pop(src)
            self.terms[group].get(_terms(end), {}).pop(src, None)
        # what is empty would stay for ever, too: there may always be new groups and terms
        self.members = {group: members for group, members in self.members.items() if members}
        self.terms = {
            group: {terms: others for terms, others in self.terms[group].items() if others} for group in self.members
        }
        sources = {src for src, _ in gone}
        self.differing = {pair: differing for pair, differing in self.differing.items() if not pair & sources}

    def close(self, frame: Frame) -> Iterator[Notice]:
        """Reports pairs of members that differed, with the number of JOINs."""
        for pair in self.differing.values():
            if pair.count > 1:
                yield Notice(frame, pair.link.flow, pair.direction, f"{pair.text}, in {pair.count} JOINs")

    @staticmethod
    def late(message: DecodedMessage, before: LinkEnd, apart_ns: int) -> None:
        """Notes 9, rule 31: reports a JOIN that came later than its sender's lease allows."""
        apart_ms = apart_ns // 1_000_000
        if before.lease_ms and apart_ms > before.lease_ms + SLACK_MS:
            message.remark("join-late", f"{apart_ms} ms after the JOIN before it; the lease is {before.lease_ms} ms")

    @staticmethod
    def anchor(link: Link, message: DecodedMessage, direction: int, mask: int) -> None:
        """Starts the sequence numbers at those that the first JOIN states."""
        side = direction ^ link.flip
        reliable = message.values("join.ext_qos.priorities.next_sn_reliable")
        best_effort = message.values("join.ext_qos.priorities.next_sn_best_effort")
        if not reliable:
            reliable, best_effort = [None] * len(PRIORITY.names), [None] * len(PRIORITY.names)
            reliable[DATA] = message.value("join.next_sn_reliable")
            best_effort[DATA] = message.value("join.next_sn_best_effort")
        for channel, numbers in ((True, reliable), (False, best_effort)):
            for priority, sn in enumerate(numbers):
                if sn is not None and (side, channel, priority) not in link.session.channels:
                    link.session.channels[side, channel, priority] = space = Channel(mask)
                    space.start(sn)
