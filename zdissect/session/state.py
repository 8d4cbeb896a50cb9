"""The state of all sessions of a capture.

Rules. All state lives in this package. It sees decoded messages only, in the order of their streams, and knows nothing
of files, terminals or filters. It looks back, never ahead: what it says about a message depends neither on later ones
nor on what is displayed. Facts go into the message's row, findings onto its tape. What can't be known stays unknown.

A session is a pair of ZenohIDs, over all its links; a flow whose handshake isn't in the capture is a session of its
own.
"""

from zdissect.dissection import Dissection, Notice, Skip
from zdissect.engine.lazy_messages import LazyTape
from zdissect.engine.messages import DecodedMessage
from zdissect.flow.conversation import Flow
from zdissect.grammar.rule import MALFORMED
from zdissect.grammar.rules import RULES
from zdissect.grammar.short_cache import LONGEST
from zdissect.grammar.structures import DEFAULT_BATCH_SIZE
from zdissect.limits import Limits
from zdissect.records import Endpoint, Frame
from zdissect.session import endings, frame_fragment, network_layer, opening
from zdissect.session.discovery import Discovery
from zdissect.session.fragments import Assembled
from zdissect.session.handshake import STEPS, Handshake
from zdissect.session.model import Link, Session
from zdissect.session.multicast import Groups
from zdissect.session.occurrences import Occurrences
from zdissect.session.overdue import Overdue
from zdissect.session.pairs import Pairs
from zdissect.session.session_memory import SessionMemory
from zdissect.session.usual_messages import UsualMessages

_CARRIERS = ("FRAME", "FRAGMENT", "KEEP_ALIVE")
"""Transport messages that change nothing about a session but its sequence numbers."""
_DECLARING = ("DECLARE", "INTEREST")
"""Network messages of which it is noted who sent them."""
_NODE_BYTES = 4096
"""Memory per node that was only heard of, in terms of the limit of all sessions."""


class Sessions:
    """All sessions; takes dissections in the order of the capture."""

    def __init__(self, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        self.memory = SessionMemory(limits)
        self.most = limits.sessions // _NODE_BYTES
        """So many members of groups, and senders of SCOUTs, are remembered."""
        self.links: dict[str, Link] = {}
        self.pairs = Pairs()
        self.learned: dict[str, tuple[UsualMessages, UsualMessages]] = {}
        """What is known of the usual messages of each flow, by direction."""
        self.discovery = Discovery(self.most)
        self.groups = Groups()
        self.overdue = Overdue()
        self.refused = Occurrences()
        """Ends of connections during their handshakes."""
        self.notices: list[Notice] = []
        """Notices that haven't been taken yet."""

    def feed(self, item: Dissection) -> list[Assembled]:
        """Adds what the session knows to the messages of a dissection; returns the messages that fragments complete."""
        link = self.link(item.flow)
        direction = item.direction
        link.messages[direction] += len(item.messages)
        out: list[Assembled] = []
        keys = self.memory.keys
        keys.begin()
        self.batch(link, item)
        if item.messages:
            self.pulse(link, item)
        usual = self.usual(link, direction) if isinstance(item.tape, LazyTape) else None
        remarks, unusual = item.tape.remarks, False
        for message in item.messages:
            if usual is not None and usual.take(message, item.frame):
                continue
            unusual = True
            template, before = message.template, (len(remarks), keys.left_out)
            whole = self.message(link, message, item)
            if whole is not None:
                out.append(whole)
            if usual is not None and template is not None and (len(remarks), keys.left_out) == before:
                usual.learn(template, message.row)
            link.session.timestamps.feed(message, item.frame)
        if item.messages and not link.pulses[direction].watched:
            self.overdue.watch(link, direction)
        session = link.session
        if unusual:
            item.keys = keys.held
            self.notices += self.memory.count(session, item)
        self.passed(session, item)
        if session.awaited.due_ns < session.listed_ns:
            self.overdue.list(session)
        return out

    def passed(self, session: Session, item: Dissection) -> None:
        """Reports what is overdue in a session, at the last message of the item."""
        ts_ns = item.frame.now_ns
        if ts_ns >= session.awaited.due_ns and item.messages:
            self.overdue.remark(session, item)

    def tick(self, frame: Frame) -> None:
        """Looks for what is overdue in all sessions, at a tick of the capture."""
        self.notices += self.overdue.tick(frame)

    def close(self, frame: Frame) -> None:
        """Ends the capture: reports what was counted."""
        self.notices += self.groups.close(frame)

    def pulse(self, link: Link, item: Dissection) -> None:
        """Takes the first message of a batch as a sign of life."""
        message, direction = item.messages[0], item.direction
        lease_ms = link.handshake.ends[direction].lease_ms
        if not isinstance(item.tape, LazyTape):  # a lazy one begins with a FRAME or KEEP_ALIVE
            if message.row["layer"] == "scouting":
                return
            if message.row["message"] == "JOIN":
                lease_ms = None  # a late JOIN has a rule of its own
        link.pulses[direction].feed(message, item.frame.now_ns, lease_ms)

    def usual(self, link: Link, direction: int) -> UsualMessages:
        """What is known of the usual messages of this direction."""
        learned = self.learned.get(link.flow.id)
        if learned is None:
            learned = self.learned[link.flow.id] = UsualMessages(link, 0), UsualMessages(link, 1)
        known = learned[direction]
        known.refresh()
        return known

    def message(self, link: Link, message: DecodedMessage, item: Dissection) -> Assembled | None:
        """Adds what the session knows to a message, but for its time; returns what a fragment completes."""
        row, direction = message.row, item.direction
        layer = row["layer"]
        if layer == "scouting":
            self.discovery.feed(message, item)
            return None
        whole = None
        if layer == "transport":
            whole = self.transport(link, message, item)
        else:
            self.network(link, message, direction, item.frame)
            if row["message"] in _DECLARING:
                item.speaker = link.speaker(direction)
            return None
        row.update(link.who(direction))
        return whole

    def network(self, link: Link, message: DecodedMessage, direction: int, frame: Frame) -> None:
        """Adds what the session knows to a network message, but for its time."""
        network_layer.feed(link, message, direction, frame.number, frame.now_ns)
        row = message.row
        if len(row.get("key_expr") or "") > LONGEST:
            self.memory.keys.feed(row)
        row.update(link.who(direction))

    def link(self, flow: Flow) -> Link:
        """The link of a flow."""
        link = self.links.get(flow.id)
        if link is None:
            link = self.links[flow.id] = self.groups.link(flow)
        return link

    @staticmethod
    def batch(link: Link, item: Dissection) -> None:
        """Notes 9, rule 23: batches longer than agreed. Also counts gaps."""
        if item.missing == "lost":
            link.gap(item.direction)
        size, most = len(item.buffer.data), link.batch_size
        bounded = not (item.framing.low_latency or item.origin)  # in low latency a message is one batch, of any size
        if bounded and most is not None and size > most:
            text = f"a batch of {size} bytes, where at most {most} were agreed on"
            item.tape.remarks.append(("batch-size", item.tape.start, min(size, item.tape.start + 2), text))

    def framed(self, item: Dissection) -> None:
        """Reports, once per link, that its framing was found by trial and not negotiated."""
        framing, tape = item.framing, item.tape
        if not (framing.compression or framing.low_latency):
            return
        link = self.link(item.flow)
        if link.guessed or link.handshake.agreed is not None:
            return
        link.guessed = True
        how = "compressed batches" if framing.compression else "low-latency batches"
        stop = min(tape.start + max(framing.prefix, 1), tape.stop)
        tape.remarks.append(("guessed-framing", tape.start, stop, f"{how}: the handshake isn't in the capture"))

    def skip(self, item: Skip) -> None:
        """Takes bytes that couldn't be read: they may have held what later messages refer to."""
        link = self.link(item.flow)
        link.gap(item.direction)

    def transport(self, link: Link, message: DecodedMessage, item: Dissection) -> Assembled | None:
        """Takes a transport message."""
        name, direction = message.row["message"], item.direction
        if name not in _CARRIERS:
            link.session.epoch += 1
            link.names = [None, None]
        end = link.handshake.ends[direction]
        if end.closed and name == "CLOSE" and link.handshake.low_latency:
            message.remark("close-repeated", "repeats this side's CLOSE")
        elif end.closed and name not in STEPS:
            message.remark("after-close", f"{name} after CLOSE")
        if name in STEPS:
            self.handshake(link, message, item)
        elif name == "FRAME" or name == "FRAGMENT":
            return frame_fragment.feed(link, message, direction, item.frame.number)
        elif name == "JOIN":
            self.groups.join(link, message, item)
            self.groups.shrink(self.most)
        elif name == "CLOSE":
            self.passed(link.session, item)
            if endings.close(link, message, item):
                self.refused.add(item.frame)
            self.over(link)
        return None

    def handshake(self, link: Link, message: DecodedMessage, item: Dissection) -> None:
        """Takes an INIT or OPEN; once both ends are known, the link joins or starts their session."""
        name = message.row["message"]
        if name == "INIT_SYN" and link.handshake.step and link.is_closed():
            link.handshake, link.over = Handshake(), False
            self.leave(link, link.session)
            link.session, link.flip = Session(shared=self.groups.shares(link)), 0
        whole = not item.missing and not any(RULES[code].group == MALFORMED for code, *_ in item.tape.remarks)
        item.next_framing = opening.feed(link, message, item.direction, whole) or item.next_framing
        if name == "OPEN_SYN" and link.handshake.known:
            before = link.session
            self.pairs.join(link, item.frame.now_ns)
            if link.session is not before:
                link.session.shared |= self.groups.shares(link)
                self.leave(link, before)
        side = link.side(item.direction)
        if name.startswith("OPEN") and side.initial_sn is None:
            side.initial_sn = link.handshake.ends[item.direction].initial_sn

    def batch_limit(self, flow: Flow) -> int:
        """Largest size of a decompressed batch."""
        agreed = self.link(flow).handshake.agreed
        return agreed.batch_size if agreed is not None else DEFAULT_BATCH_SIZE

    def ending(self, flow: Flow, direction: int, frame: Frame | None) -> None:
        """Handles the end of a side's stream, in a frame; None stands for the end of the capture."""
        link = self.links.get(flow.id)
        if link is None:
            return
        if frame is not None:
            self.notices += self.overdue.notices(link.session, frame)
            for notice in () if link.over else endings.hang_up(link, direction, frame):
                self.notices.append(notice)
                if notice.code == endings.REFUSED:
                    self.refused.add(frame)
        self.over(link)

    def over(self, link: Link) -> None:
        """Stops waiting for anything on a link: a node that connects again starts a new session."""
        link.over = True
        self.pairs.leave(link.session, link)
        self.overdue.left(link.session, link)

    def leave(self, link: Link, session: Session) -> None:
        """A link doesn't carry a session any more."""
        self.pairs.leave(session, link)
        self.overdue.left(session, link)
        self.memory.drop(session)
        session.release()

    def forget(self, now_ns: int, before_ns: int) -> set[Endpoint]:
        """Forgets what no longer matters, in a capture without an end; returns those whose SCOUT may still be answered.

        Args:
            now_ns: The time.
            before_ns: Members of multicast groups are forgotten if their last JOIN came before this time, and requests
                from before it if they are overdue.
        """
        self.learned.clear()  # what is still usual is soon learned again
        self.groups.forget(before_ns)
        for link in self.links.values():
            for side in link.session.sides:
                side.requests.forget(before_ns)
        return self.discovery.forget(now_ns)

    def end(self, flow: str) -> Link | None:
        """Handles the end of a flow: its link leaves the session."""
        link = self.links.pop(flow, None)
        if link is not None:
            self.learned.pop(flow, None)
            self.leave(link, link.session)
            self.groups.left(link.flow)
            link.handshake.forget()
        return link

    def assembled(self, item: Dissection) -> None:
        """Takes a message that was reassembled from fragments."""
        link = self.link(item.flow)
        self.memory.keys.begin()
        for message in item.messages:
            self.network(link, message, item.direction, item.frame)
            link.session.timestamps.feed(message, item.frame)
        item.speaker = link.speaker(item.direction)
        self.notices += self.memory.count(link.session, item)
