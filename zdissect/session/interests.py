"""Interests and the declarations that answer them; entities that live on a side (notes 6.1 and 6.3)."""

from dataclasses import dataclass, field

from zdissect.engine.messages import Message

PATIENCE_NS = 10 * 10**9
"""After this time an unanswered interest in what is there now is ended by the implementation."""

KINDS = {"SUBSCRIBER": "subscriber", "QUERYABLE": "queryable", "TOKEN": "token"}
_K, _S, _Q, _T, _R, _N, _M, _A = (1 << bit for bit in range(8))
FAR = 255
"""Hops beyond which a queryable isn't believed."""


@dataclass(slots=True)
class Interest:
    """An interest of one side."""

    frame: int
    ts_ns: int
    mode: str
    answered: bool = False
    """Its D_FINAL has come."""
    ended: bool = False


@dataclass(slots=True)
class Entity:
    """A subscriber, queryable or token of one side."""

    key: str | None
    frame: int
    scope: int
    alive: bool = True


@dataclass(slots=True)
class Side:
    """The interests and entities that one side declared."""

    interests: dict[int, Interest] = field(default_factory=dict)
    entities: dict[tuple[str, int], Entity] = field(default_factory=dict)
    waiting: int = 0
    """Interests in what is there now whose D_FINAL hasn't come."""

    def interest(self, message: Message, frame: int, ts_ns: int, complete: bool, roles: tuple[str | None, ...]) -> None:
        """Takes an INTEREST of this side."""
        row = message.row
        ident, mode = row.get("interest_id"), row.get("interest_mode", "")
        if ident is None:
            return
        if roles == ("router", "router"):
            message.remark("interest-role", "a router sends an interest to a router")
        if mode == "Final":
            known = self.interests.get(ident)
            if known is not None:
                self.waiting -= not known.answered and "Current" in known.mode
                known.ended = known.answered = True
            elif complete:
                message.remark("interest-final-unknown", f"there is no interest {ident}", "interest.id")
            return
        self.options(message, mode)
        self.interests[ident] = Interest(frame, ts_ns, mode)
        self.waiting += "Current" in mode

    @staticmethod
    def options(message: Message, mode: str) -> None:
        """Rule 47: what an interest may ask for."""
        options = message.value("interest.options")
        if options is None:
            return
        at = "interest.options"
        if not options & (_K | _S | _Q | _T):
            message.remark("interest-empty", "no kind is asked for", at)
        if mode == "Current" and (not options & _T or options & (_S | _Q)):
            message.remark("interest-mode", "Current is for tokens alone", at)
        if options & _A and options & _T:
            message.remark("interest-aggregate", "tokens can't be aggregated", at)
        if not options & _R and options & (_N | _M):
            message.remark("interest-flags", "N or M without R", at)

    def answer(self, message: Message, complete: bool) -> Interest | None:
        """Takes a DECLARE that answers an interest of this side; the interest."""
        row = message.row
        ident, final = row.get("interest_id"), row.get("body") == "D_FINAL"
        if ident is None:
            if final:
                message.remark("final-without-interest", "D_FINAL answers no interest", "d_final.header")
            return None
        interest = self.interests.get(ident)
        if interest is None:
            # 0 stands for the interest that nobody needs to declare: peers end it once, when a session starts
            if ident == 0 and final:
                self.interests[0] = Interest(0, 0, "", answered=True)
            elif ident and complete:
                message.remark("unknown-interest", f"there is no interest {ident}", "declare.interest_id")
            return None
        if interest.answered and not interest.ended:
            code = "second-interest-final" if final else "declaration-after-final"
            message.remark(code, f"interest {ident} has had its D_FINAL", "declare.interest_id")
        if final and not interest.answered:
            interest.answered = True
            self.waiting -= "Current" in interest.mode
        return interest

    def overdue(self, message: Message, ts_ns: int) -> None:
        """Reports interests that nobody answered in time, at the message that shows it."""
        if not self.waiting:
            return
        for ident, interest in self.interests.items():
            late = not interest.answered and "Current" in interest.mode and ts_ns - interest.ts_ns > PATIENCE_NS
            if late:
                interest.answered = interest.ended = True
                self.waiting -= 1
                message.remark("interest-unanswered", f"interest {ident} of frame {interest.frame} has no D_FINAL")

    def declare(self, message: Message, kind: str, frame: int, current: bool) -> None:
        """Takes a D_SUBSCRIBER, D_QUERYABLE or D_TOKEN of this side.

        Args:
            current: It answers an interest in what is there now only: it isn't to be remembered.
        """
        row = message.row
        ident, key = row.get("entity_id"), row.get("key_expr")
        info = message.value("d_queryable.ext_queryable_info.value")
        if info is not None and (info >> 8 & 0xFFFF) > FAR:
            message.remark("far-queryable", f"{info >> 8 & 0xFFFF} hops", "d_queryable.ext_queryable_info.value")
        if ident is None or current:
            return
        known = self.entities.get((kind, ident))
        if known is not None and known.alive and None not in (known.key, key) and known.key != key:
            text = f"{KINDS[kind]} {ident} of frame {known.frame} is {known.key}"
            message.remark("entity-remapped", text)
        self.entities[kind, ident] = Entity(key, frame, row.get("key_scope") or 0)

    def undeclare(self, message: Message, kind: str, complete: bool) -> Entity | None:
        """Takes a U_SUBSCRIBER, U_QUERYABLE or U_TOKEN of this side; what it ends."""
        ident = message.row.get("entity_id")
        known = self.entities.get((kind, ident)) if ident is not None else None
        if known is None or not known.alive:
            if complete and ident is not None:
                message.remark("undeclare-unknown", f"there is no {KINDS[kind]} {ident}")
            return known
        known.alive = False
        return known

    def uses(self, scope: int) -> bool:
        """Whether an entity that lives was declared with this scope."""
        return any(entity.alive and entity.scope == scope for entity in self.entities.values())
