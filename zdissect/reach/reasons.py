"""Why a node didn't get samples of a key: from its subscriber to who sends, up to the first thing that is missing.

Each step is something that must be there for a sample to arrive. What a capture can't show is said, and never taken for
missing.
"""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import chain, pairwise
from typing import NamedTuple

from zdissect.reach.key_evidence import DeclaredSubscriber, Evidence
from zdissect.reach.left_out import TIME_NS
from zdissect.reach.paths import Paths
from zdissect.reach.sample_hops import Sample, SampleHops
from zdissect.reach.subscribers import SETTLED_NS
from zdissect.session.keyexprs import intersects

THERE, MISSING, UNKNOWN, NOTE = "there", "missing", "unknown", "note"
_NAMED = 5
_MOST_WANTED = 200
"""Declarations of the node that are looked at."""


class ReachStep(NamedTuple):
    """Something that must be there for a sample to arrive."""

    verdict: str
    """`there`; `missing`; `unknown` (the capture can't tell); `note` (it need not be there)."""
    code: str
    """What it is about: node, subscriber, source, interest, link, declaration, time, sample, key, arrival."""
    text: str
    frames: tuple[int, ...] = ()
    """Frames that show it."""


class NodeError(ValueError):
    """A ZenohID stands for no node of the capture, or for several; the message says which there are."""


class Why:
    """Walks what a capture tells.

    Args:
        known: All of it; the capture is over.
        to: The node that should get the samples: the first digits of its ZenohID, or its address.
        source: The node that should send them, likewise; empty for any.

    Raises:
        NodeError: There are no such nodes.
    """

    def __init__(self, known: Evidence, to: str, source: str = "") -> None:
        self.known = known
        self.paths = Paths(known)
        self.to = self.find(to)
        self.source = self.find(source) if source else ""

    def find(self, text: str) -> str:
        """A node by the beginning of its name."""
        found = self.paths.found(text)
        if len(found) == 1:
            return found[0]
        what = f"may be {', '.join(map(self.paths.called, found[:_NAMED]))}" if found else "is no node of the capture"
        there = (
            "" if found else f": there are {', '.join(map(self.paths.called, list(self.paths.links)[:20])) or 'none'}"
        )
        raise NodeError(f"{text!r} {what}{there}")

    def steps(self) -> list[ReachStep]:
        """The steps, up to the first thing that is missing; from there on, for each source on its own."""
        wanted = [one for one in self.known.declared if one.hop[0] == self.to][:_MOST_WANTED]
        samples = [one for one in self.known.samples if one.source != self.to and self.source in ("", one.source)]
        out = _up_to_missing(chain(self.node(), self.subscriber(wanted), self.sent(samples)))
        if out[-1].verdict != MISSING:
            for source in (list(dict.fromkeys(one.source for one in samples)) or self.askers())[:_NAMED]:
                own = [one for one in samples if one.source == source]
                out += _up_to_missing(self.way(source, own, wanted))
        return out

    def node(self) -> Iterator[ReachStep]:
        """The node, its sessions, and what is not captured of them."""
        name, called = self.to, self.paths.called(self.to)
        there = self.paths.of(name)
        numbers = ", ".join(f"{one['session']} with {self.paths.called(other)}" for other, one in there)
        yield ReachStep(THERE, "node", f"{called} is in the capture: session{'s' * (len(there) > 1)} {numbers}")
        partial = [one for _, one in there if {link["flow_id"] for link in one["links"]} & self.known.gaps]
        if partial:
            which = f"session{'s' * (len(partial) > 1)} {', '.join(str(one['session']) for one in partial)}"
            text = f"the capture hasn't all of {which}: what is declared or sent there may not be in it"
            yield ReachStep(UNKNOWN, "node", text)
        if not self.known.said.get(name):
            text = f"nothing that {called} sends is in the capture: perhaps only one direction was captured"
            yield ReachStep(UNKNOWN, "node", text)

    def lacks(self, *nodes: str) -> bool:
        """Whether the capture lacks something of the sessions of some nodes."""
        flows = {link["flow_id"] for name in nodes for _, one in self.paths.of(name) for link in one["links"]}
        silent = any(not self.known.said.get(name) and not self.paths.is_group(name) for name in nodes)
        return silent or bool(flows & self.known.gaps)

    def subscriber(self, wanted: list[DeclaredSubscriber]) -> Iterator[ReachStep]:
        """Its subscriber."""
        called, key = self.paths.called(self.to), self.known.key
        if wanted:
            words = ", ".join(f"{one.key} to {self.paths.called(one.hop[1])}{_until(one)}" for one in wanted[:_NAMED])
            frames = tuple(one.frame for one in wanted[:_NAMED])
            yield ReachStep(THERE, "subscriber", f"{called} declares a subscriber: {words}", frames)
            return
        others = self.known.other_keys.get(self.to, {})
        near = get_close_matches(key, others, _NAMED, 0.6) or list(others)[:_NAMED]
        hint = f"; it subscribes to {', '.join(near)}" if near else ""
        verdict = UNKNOWN if self.lacks(self.to) else MISSING
        yield ReachStep(
            verdict, "subscriber", f"{called} declares no subscriber that has anything in common with {key}{hint}"
        )

    def askers(self) -> list[str]:
        """Who has asked for subscribers of the key, as publishers do, without sending anything."""
        names = dict.fromkeys(one.hop[0] for one in self.known.asked.values() if one.hop[0] != self.to)
        return [name for name in names if self.source in ("", name)]

    def sent(self, samples: list[Sample]) -> Iterator[ReachStep]:
        """What is sent."""
        key = self.known.key
        counts: dict[str, list[Sample]] = {}
        for one in samples:
            counts.setdefault(one.source, []).append(one)
        for source, own in sorted(counts.items(), key=lambda pair: -len(pair[1]))[:_NAMED]:
            frames = (own[0].frame.number, own[-1].frame.number)
            text = f"{self.paths.called(source)} sends {_many(len(own))} on {key}"
            yield ReachStep(THERE, "source", text, frames if len(own) > 1 else frames[:1])
        if samples:
            return
        if self.known.unresolved:
            text = "there are samples whose keys aren't known, as their declarations aren't in the capture"
            yield ReachStep(UNKNOWN, "source", text, tuple(self.known.unresolved.values())[:_NAMED])
        yield from self.unsent()

    def unsent(self) -> Iterator[ReachStep]:
        """Why nobody sends: publishers ask their router whether there are subscribers."""
        for one in self.known.asked.values():
            if one.hop[0] not in self.askers():
                continue
            who, router = self.paths.called(one.hop[0]), self.paths.called(one.hop[1])
            asks = f"{who} asks {router} for subscribers of {one.key or 'all keys'}, as its publisher does"
            if one.final_frame is None and not one.answers:
                yield ReachStep(MISSING, "interest", f"{asks}, and gets no answer", (one.frame,))
            elif not one.answers:
                text = f"{asks}, and is told that there are none: so it sends nothing"
                yield ReachStep(NOTE, "interest", text, (one.frame, *((one.final_frame,) if one.final_frame else ())))
            else:
                yield ReachStep(NOTE, "interest", f"{asks}, and is told of one", (one.frame, *one.answers[:_NAMED]))
        near = get_close_matches(self.known.key, self.known.sent_keys, _NAMED, 0.6)
        hint = f"; there are samples on {', '.join(near)}" if near else ""
        if not self.askers():
            who = f"{self.paths.called(self.source)} sends nothing" if self.source else "nobody sends anything"
            verdict = UNKNOWN if self.known.unresolved or self.known.gaps else MISSING
            yield ReachStep(verdict, "source", f"{who} on {self.known.key}{hint}")

    def way(self, source: str, samples: list[Sample], wanted: list[DeclaredSubscriber]) -> Iterator[ReachStep]:
        """From a source to the node."""
        path = self.paths.between(self.to, source, samples, {one.hop[1] for one in wanted})
        if not path:
            text = f"no chain of sessions leads from {self.paths.called(source)} to {self.paths.called(self.to)}"
            yield ReachStep(MISSING, "link", f"{text} in this capture: perhaps they are linked out of its sight")
            return
        yield ReachStep(THERE, "link", f"the way is {' > '.join(self.paths.called(name) for name in reversed(path))}")
        yield from self.told(path)
        if not samples:
            text = f"{self.paths.called(source)} has been told of it and sends nothing: its application doesn't publish"
            yield ReachStep(MISSING, "source", text)
            return
        covered = [one for one in samples if self.covers(one, path, wanted) or self.to in one.received]
        yield from self.timely(samples, covered, wanted)
        yield from self.passed(covered, path)

    def told(self, path: list[str]) -> Iterator[ReachStep]:
        """That each node on the way has told the next one of the subscriber. A client sends without being told."""
        for nearer, further in pairwise(path):
            own, group = nearer == self.to, self.paths.is_group(nearer)
            if own or group or (further == path[-1] and self.client_sends(further)):
                continue
            found = [one for one in self.known.declared if one.hop == (nearer, further)]
            who = f"{self.paths.called(nearer)} tells {self.paths.called(further)}"
            if found:
                keys = ", ".join(f"{one.key}{_until(one)}" for one in found[:_NAMED])
                yield ReachStep(
                    THERE, "declaration", f"{who} of a subscriber: {keys}", tuple(one.frame for one in found[:_NAMED])
                )
            else:
                verdict = UNKNOWN if self.lacks(nearer, further) else MISSING
                yield ReachStep(verdict, "declaration", f"{who} of no subscriber of {self.known.key}")

    def client_sends(self, name: str) -> bool:
        """Whether a node is a client that has sent samples of the key: it needs to be told of nobody."""
        return self.known.roles.get(name) == "client" and any(one.source == name for one in self.known.samples)

    def covers(self, sample: Sample, path: list[str], wanted: list[DeclaredSubscriber]) -> bool:
        """Whether a sample was sent while a subscriber of the node was known to its neighbour on the way, as far as the
        capture tells; not at the very end, where it may not have been passed on yet.
        """
        if self.known.end_ns - sample.frame.now_ns < TIME_NS:
            return False
        own = [one for one in wanted if one.hop == (path[0], path[1])]
        return not wanted or any(_covers(declared, sample) for declared in own)

    def timely(
        self, samples: list[Sample], covered: list[Sample], wanted: list[DeclaredSubscriber]
    ) -> Iterator[ReachStep]:
        """Which samples came at a time at which the node didn't subscribe."""
        known = {id(one) for one in covered}
        others = [one for one in samples if id(one) not in known]
        if not others or not wanted:
            return
        count = f"{len(others)} of {len(samples)} samples" if covered else "every sample"
        verb = "are" if covered and len(others) > 1 else "is"
        first = min(one.frame for one in wanted)
        early = all(one.frame.number < first for one in others)
        when = f"before the subscriber is declared (frame {first})" if early else "while it isn't declared"
        if all(self.known.end_ns - one.frame.now_ns < TIME_NS for one in others):
            when, covered = "at the very end of the capture", samples
        frames = (others[0].frame.number, others[-1].frame.number)
        yield ReachStep(NOTE if covered else MISSING, "time", f"{count} {verb} sent {when}", frames)

    def passed(self, samples: list[Sample], path: list[str]) -> Iterator[ReachStep]:
        """Where samples got that should have arrived: the first hop that lacks some."""
        forth = path[::-1]
        expected = samples
        for giver, taker in pairwise(forth):
            got = [one for one in expected if taker in one.received or self.paths.is_group(giver)]
            arrived = {id(one) for one in got}
            lost = [one for one in expected if id(one) not in arrived]
            if lost:
                yield self.lost(giver, taker, lost, len(expected))
            yield from self.renamed(giver, taker, got)
            expected = got
        if expected:
            times = [SampleHops.came(one, self.to) - one.frame.now_ns for one in expected]
            there = (one.received.get(self.to) for one in (expected[0], expected[-1]))
            frames = dict.fromkeys(hop.frame for hop in there if hop is not None)
            after = f", after {max(times) / 1e6:.3f} ms at most" if max(times) else ""
            reach = f"{'reaches' if len(expected) == 1 else 'reach'} {self.paths.called(self.to)}{after}"
            text = f"{_many(len(expected))} of {self.paths.called(forth[0])} {reach}"
            yield ReachStep(THERE, "arrival", text, tuple(frames))

    def renamed(self, giver: str, taker: str, samples: list[Sample]) -> Iterator[ReachStep]:
        """Samples that a node passed on as another key, as version 1.2 does."""
        there = ((one, one.received.get(taker)) for one in samples)
        found = [(one, hop) for one, hop in there if hop is not None and hop.key != one.row.get("key_expr")]
        if found:
            text = (
                f"{self.paths.called(giver)} passes {_many(len(found))} on to {self.paths.called(taker)} as another key"
            )
            yield ReachStep(MISSING, "key", f"{text}: {found[0][1].key}", tuple(hop.frame for _, hop in found[:_NAMED]))

    def lost(self, giver: str, taker: str, lost: list[Sample], of: int) -> ReachStep:
        """Samples that a node had and didn't pass on."""
        drop = sum(one.row.get("congestion_control") == "Drop" for one in lost)
        why = f"; {drop} of them may be dropped where there is no room (congestion control Drop)" if drop else ""
        count = f"{len(lost)} of {of} samples" if of > 1 else "the one sample"
        blind = (giver, taker) in self.known.unresolved or self.lacks(giver, taker)
        verb = f"{'perhaps ' if blind else ''}{'is' if len(lost) == 1 else 'are'} not sent"
        text = f"{count} that {self.paths.called(giver)} has {verb} to {self.paths.called(taker)}{why}"
        return ReachStep(
            UNKNOWN if blind else MISSING, "sample", text, tuple(one.frame.number for one in lost[:_NAMED])
        )


def _covers(declared: DeclaredSubscriber, sample: Sample) -> bool:
    """Whether a sample was sent while a subscriber for it was declared."""
    key, sent_ns = sample.row.get("key_expr") or "", sample.frame.now_ns
    over = declared.until_ns is not None and sent_ns >= declared.until_ns
    return sent_ns >= declared.now_ns + SETTLED_NS and not over and intersects(declared.key, key)


def _up_to_missing(steps: Iterable[ReachStep]) -> list[ReachStep]:
    """Steps up to the first at which something is missing; each with every frame once."""
    out = []
    for step in steps:
        out.append(step._replace(frames=tuple(dict.fromkeys(step.frames))))
        if step.verdict == MISSING:
            break
    return out


def _many(samples: int) -> str:
    return "1 sample" if samples == 1 else f"{samples} samples"


def _until(declared: DeclaredSubscriber) -> str:
    return f" (until frame {declared.until_frame})" if declared.until_frame is not None else ""
