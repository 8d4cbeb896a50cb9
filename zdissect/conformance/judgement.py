"""The report of a verdict: captures, their sessions, who broke what in them.

A report of a capture has:

- `files`, `frames`, `messages`, `first_ts_ns`, `unseen` (see `unseen.of_capture`), `unlisted` (violations beyond the
  bound);
- `sessions`: `session` (its number), `flow_ids`, `link`, `handshake`, `first_ts_ns`, `ends` (opener and acceptor:
  `side`, `role`, `zid`, `address`, `messages`), `unseen`, `violations`;
- `elsewhere`: the violations outside of sessions, as in scouting;
- `waived`: findings that don't count by the profile, by rule.

A violation has `rule`, `severity`, `duty` (sender or receiver), `side`, `role`, `zid` and `address` of who broke it,
`message`, `key_expr`, `field`, `text` (of the first time), `count`, `frames` (the first ones), `last_frame`, `file`,
`ts_ns`, `flow_id`, `buffer`, `offset`, `length` and `bytes` (hex, the first ones; those before it, if `length` is 0) of
what is wrong, `then` (what the other side did, see `reactions`), `docs` (where the rule is described), `fingerprint`
(see `baseline`) and `known` (whether a baseline has it).
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from zdissect.conformance.baseline import fingerprint
from zdissect.conformance.unseen import HANDSHAKE, OTHER_VERSION, of_capture, of_session
from zdissect.conformance.violations import Violation, Violations
from zdissect.grammar.profiles import duty
from zdissect.grammar.rule import SEVERITIES
from zdissect.listing.listing import Entry
from zdissect.output.rules_page import anchor
from zdissect.pipeline import Pipeline
from zdissect.session.model import Link

SIDES = ("opener", "acceptor")


class Judgement(Violations):
    """Judges a capture: fed with frames and with the items of a pipeline, which must keep its history."""

    def report(self, pipeline: Pipeline) -> Entry:
        """The report, after the pipeline's end."""
        self.list_outer([])
        links = {link.flow.id: link for link in pipeline.all_links()}
        found: dict[str, list[Violation]] = {}
        for violation in self.known.values():
            found.setdefault(violation.first["flow_id"], []).append(violation)
        sessions = [
            self._session(entry, found, links)
            for entry in self.sessions.report(pipeline.all_links(), self.extent.now_ns)
        ]
        elsewhere = [
            entry
            for rest in found.values()
            for violation in rest
            if (entry := self._entry(violation, {"role": None, "zid": None, "address": None}, "")) is not None
        ]
        lacks = sum(self.lacks.values(), Counter[str]())
        return {
            "files": [],
            "frames": self.extent.frames,
            "messages": self.messages,
            "first_ts_ns": self.extent.first_ns,
            "unseen": of_capture(pipeline, lacks),
            "sessions": sessions,
            "elsewhere": _ordered(_merged(elsewhere)),
            "waived": dict(sorted(self.waived.items())),
            "unlisted": self.unlisted,
        }

    def _session(self, entry: dict[str, Any], found: dict[str, list[Violation]], links: dict[str, Link]) -> Entry:
        """The report of a session; what belongs to it is taken from `found` and from what the capture lacks."""
        lacks: Counter[str] = Counter()
        violations = []
        ends = [{"side": side, **_end(end)} for side, end in zip(SIDES, entry["ends"], strict=True)]
        self.nodes |= {end["zid"] for end in ends if end["zid"]}
        for one in entry["links"]:
            flow = one["flow_id"]
            lacks += self.lacks.pop(flow, Counter())
            flip = links[flow].flip if flow in links else 0
            for violation in found.pop(flow, ()):
                side = violation.direction ^ flip
                made = self._entry(violation, ends[side], SIDES[side])
                violations += [made] if made is not None else []
        unseen = of_session(entry, lacks)
        if any(one["what"] == OTHER_VERSION for one in unseen):  # what they seem to break may not be in their version
            violations = [one for one in violations if one["rule"] == "version"]
        if any(one["rule"] == "handshake-refused" for one in violations):  # nothing of it is missing
            unseen = [one for one in unseen if one["what"] != HANDSHAKE]
        return {
            "session": entry["session"],
            "flow_ids": [one["flow_id"] for one in entry["links"]],
            "link": entry["links"][0]["link"],
            "handshake": entry["handshake"],
            "first_ts_ns": entry["first_ts_ns"],
            "ends": ends,
            "unseen": unseen,
            "violations": _ordered(_merged(violations)),
        }

    def _entry(self, violation: Violation, end: Entry, side: str) -> Entry | None:
        """The entry of a violation; None if who broke the rule isn't judged."""
        first = violation.first
        zid, address = end["zid"], end["address"]
        if zid is None and not side:
            zid, address = (None, first["src"]) if ":" in (first["src"] or ":") else (first["src"], None)
        self.nodes |= {zid} if zid else set()
        bound = duty(violation.code)
        if not self.terms.judges(bound, zid):
            return None
        made = {
            "rule": violation.code, "severity": violation.severity, "duty": bound, "side": side or None,
            "role": end["role"], "zid": zid, "address": address,
            "message": first["message"], "key_expr": first["key_expr"], "field": violation.place or None,
            "text": first["text"], "count": violation.count, "frames": violation.frames, "last_frame": violation.last,
            "file": first["file"], "ts_ns": first["ts_ns"], "flow_id": first["flow_id"],
            "buffer": violation.buffer or None, "offset": violation.start, "length": violation.size,
            "bytes": violation.data.hex(), "then": self.reactions.of(violation),
            "docs": anchor(violation.code), "known": False,
        }  # fmt: skip
        return {**made, "fingerprint": fingerprint(made)}


def _end(end: Entry) -> Entry:
    return {name: end[name] for name in ("role", "zid", "address", "messages")}


def _merged(violations: list[Entry]) -> list[Entry]:
    """The same violations on several links of a session are one."""
    out: dict[tuple[Any, ...], Entry] = {}
    for one in violations:
        key = (one["rule"], one["side"], one["zid"], one["address"], one["message"])
        known = out.setdefault(key, one)
        if known is not one:
            known["count"] += one["count"]
            known["last_frame"] = max(known["last_frame"], one["last_frame"])
    return [*out.values()]


def _ordered(violations: list[Entry]) -> list[Entry]:
    """The worst first; of the same severity in the order of the capture."""
    return sorted(violations, key=lambda one: (-SEVERITIES.index(one["severity"]), one["ts_ns"], one["frames"]))


def violations_of(report: Entry) -> Iterator[Entry]:
    """All violations in the report of a capture."""
    for session in report["sessions"]:
        yield from session["violations"]
    yield from report["elsewhere"]
