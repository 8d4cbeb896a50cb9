"""Pairs of nodes: which links carry the same session (notes 4.2)."""

from zdissect.session.model import Link, Opened, Session, Side

JOIN_WINDOW_NS = 10 * 10**9
"""Two peers that connect to each other at once open two links within this time; a later link is a new session."""


class Pairs(dict[frozenset[str | None], Session | None]):
    """The sessions of a capture by the ZenohIDs of their nodes."""

    past = False
    """Whether pairs are kept whose last session has ended, with None: who compares the groups of a capture asks for
    it."""

    def join(self, link: Link, now_ns: int) -> None:
        """Adds a link with known ends to the session of their ZenohIDs, or to a new one."""
        handshake = link.handshake
        opener, acceptor = handshake.ends[handshake.opener], handshake.ends[1 - handshake.opener]
        pair = frozenset((opener.zid, acceptor.zid))
        session, agreed = self.get(pair), handshake.agreed
        several = agreed is not None and agreed.multilink
        if session is None or not (several or now_ns - session.opened.ts_ns < JOIN_WINDOW_NS):
            sides = Side(opener.zid, opener.role), Side(acceptor.zid, acceptor.role)
            session = self[pair] = Session(sides, agreed, Opened(link.flow.id, now_ns))
            session.gaps = sum(link.gaps)
        else:
            session.share()
            session.carriers += link.session is not session
        session.links.add(link.flow.id)
        link.session = session
        link.flip = int(handshake.ends[0].zid != session.zids[0])

    def leave(self, session: Session, link: Link) -> None:
        """Removes a link from a session. A session without links isn't kept: the next link starts a new one."""
        session.links.discard(link.flow.id)
        pair = frozenset(session.zids)
        if not session.links and self.get(pair) is session:
            if self.past:
                self[pair] = None
            else:
                del self[pair]
