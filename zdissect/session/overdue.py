"""Finds what didn't come in time: ends of requests, answers to interests, signs of life.

Deadlines are checked at the next message of the session, or at the next tick of the capture, whatever that frame
carries. An answer that comes later is reported when it comes.
"""

from collections.abc import Callable, Iterator

from zdissect.dissection import Dissection, Notice
from zdissect.records import Frame
from zdissect.session.deadlines import NEVER, Deadlines
from zdissect.session.interests import PATIENCE_MS, Interest
from zdissect.session.liveness import OTHER, OTHER_SIDE, Pulse
from zdissect.session.model import Awaited, Link, Session
from zdissect.session.requests import Request


class Overdue:
    """The sessions that await something."""

    def __init__(self) -> None:
        self.sessions: Deadlines[Session] = Deadlines()
        self.behind: Callable[[], None] | None = None
        """Takes all that was asked up to now, where messages are read in blocks: what awaits an answer isn't listed
        before that."""

    def watch(self, link: Link, direction: int) -> None:
        """Watches the lease of a side that has just been heard."""
        pulse, lease_ms = link.pulses[direction], link.handshake.ends[direction].lease_ms
        if lease_ms and not pulse.watched and not link.over:
            due_ns = pulse.due_ns(lease_ms)
            if due_ns is not None:
                pulse.watched = True
                link.session.awaited.add(due_ns, Awaited(pulse, link, direction, link.session.gaps))
                link.session.awaited.keep(matters)

    def list(self, session: Session) -> None:
        """Registers when a session must be checked."""
        due_ns = session.awaited.due_ns
        if due_ns < session.listed_ns:
            session.listed_ns = due_ns
            self.sessions.add(int(due_ns), session)
            self.sessions.keep(_once())

    @staticmethod
    def left(session: Session, link: Link) -> None:
        """A link has left a session, or is gone: nobody waits for a sign of life on it, nor, if the session has no
        other link, for an answer: `look` passes over what is still listed, and `Session.clear` lets go of it."""
        for pulse in link.pulses:
            pulse.watched = False
        if not session.links:
            session.listed_ns = NEVER

    def tick(self, frame: Frame) -> Iterator[Notice]:
        """What is overdue in any session by the time of a frame."""
        if self.behind is not None:
            self.behind()
        for due_ns, session in self.sessions.passed(frame.now_ns):
            if session.listed_ns <= frame.now_ns:  # else it was listed again since: one entry more would stay for ever
                session.listed_ns = NEVER
            if session.behind is not None:
                session.behind()
            yield from self.notices(session, frame, due_ns)

    def notices(self, session: Session, frame: Frame, due_ns: int = 0) -> Iterator[Notice]:
        """What is overdue in a session by the time of a frame that holds no message of it."""
        for awaited, code, text in self.look(session, frame.now_ns):
            yield Notice(frame, awaited.link.flow, awaited.direction, text, code, due_ns)

    def remark(self, session: Session, item: Dissection) -> None:
        """Reports what is overdue in a session at the message that shows it."""
        message = item.messages[-1]
        for awaited, code, text in self.look(session, item.frame.now_ns):
            sender = awaited.link.flow is item.flow and awaited.direction == item.direction
            others = OTHER if isinstance(awaited.what, Pulse) else f"{OTHER_SIDE}'s "
            message.remark(code, text if sender else others + text)

    def look(self, session: Session, now_ns: int) -> Iterator[tuple[Awaited, str, str]]:
        """(what was awaited, rule, text) for what is overdue in a session."""
        for _, awaited in session.awaited.passed(now_ns):
            what, link, direction, gaps = awaited
            side = session.sides[direction ^ link.flip]
            if link.over and not session.links:
                continue  # the link ended before the deadline: nobody is waiting
            if isinstance(what, Pulse):
                code, text = "lease-exceeded", self.silence(what, awaited, session, now_ns)
            elif isinstance(what, Request):
                code, text = "no-final", side.requests.overdue(what)
                if text and side.role == "router":
                    text += " (a router has passed it on)"
            else:
                code, text = "interest-unanswered", side.declared.overdue(what)
            if text and session.gaps == gaps:  # else the capture may have lost it
                yield awaited, code, text
        self.list(session)

    @staticmethod
    def silence(pulse: Pulse, awaited: Awaited, session: Session, now_ns: int) -> str:
        """What is wrong with the silence of a side; empty if it was heard, or need not be."""
        _, link, direction, _ = awaited
        if not pulse.watched:
            return ""
        pulse.watched = False
        lease_ms = link.handshake.ends[direction].lease_ms
        if link.over or link.session is not session or not lease_ms:
            return ""
        due_ns = pulse.due_ns(lease_ms)
        if due_ns is None:
            return ""
        if due_ns <= now_ns:
            return pulse.exceeded(now_ns, lease_ms)
        pulse.watched = True
        session.awaited.add(due_ns, awaited._replace(gaps=session.gaps))
        return ""


def await_final(link: Link, direction: int, request: Request) -> None:
    """Awaits the end of a request."""
    if request.due_ns is not None:
        link.session.awaited.add(request.due_ns, Awaited(request, link, direction, link.session.gaps))
        link.session.awaited.keep(matters)


def await_answer(link: Link, direction: int, interest: Interest) -> None:
    """Awaits the D_FINAL of an interest."""
    due_ns = interest.ts_ns + PATIENCE_MS * 1_000_000
    link.session.awaited.add(due_ns, Awaited(interest, link, direction, link.session.gaps))
    link.session.awaited.keep(matters)


def matters(_: int, awaited: Awaited) -> bool:
    """Whether something is still awaited."""
    what, link, direction, _ = awaited
    if isinstance(what, Pulse):
        return what.watched
    if isinstance(what, Interest):
        return not what.answered
    return link.side(direction).requests.open.get(what.ident) is what


def _once() -> Callable[[int, Session], bool]:
    """Says whether a session is listed for a time, once."""
    known = set[Session]()

    def matters(due_ns: int, session: Session) -> bool:
        if due_ns != session.listed_ns or session in known:
            return False
        known.add(session)
        return True

    return matters
