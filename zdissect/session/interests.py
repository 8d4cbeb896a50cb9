"""Interests and the declarations that answer them; the entities that each side has declared (notes 6.1 and 6.3)."""

from collections import Counter
from dataclasses import dataclass, field

from zdissect.engine.messages import DecodedMessage
from zdissect.grammar.declarations import DISTANCE
from zdissect.grammar.flags import named
from zdissect.grammar.network import INTEREST_OPTIONS

PATIENCE_MS = 10_000
"""Time after which the implementation ends an unanswered interest in existing declarations."""

REMEMBERED = 4096
"""Ended interests and entities that are remembered, to explain late uses."""

KINDS = {"SUBSCRIBER": "subscriber", "QUERYABLE": "queryable", "TOKEN": "token"}
_K, _S, _Q, _T, _R, _N, _M, _A = (named(INTEREST_OPTIONS.bits, name).mask for name in "KSQTRNMA")
FAR = 255
"""Hops beyond which the distance of a queryable is implausible."""


EntityId = tuple[str, int, str | None]
"""Kind and id of an entity, and its key where ids don't tell entities apart."""


@dataclass(slots=True)
class Interest:
    """An interest of one side."""

    ident: int
    frame: int
    ts_ns: int
    mode: str
    answered: bool = False
    """Whether its D_FINAL has come."""
    ended: bool = False

    @property
    def over(self) -> bool:
        """Whether no more declarations can answer it."""
        return self.ended or (self.answered and self.mode == "Current")


@dataclass(slots=True)
class Entity:
    """A subscriber, queryable or token of one side."""

    key: str | None
    frame: int
    scope: int
    alive: bool = True

    @property
    def size(self) -> int:
        """The memory that it takes."""
        return 450 + len(self.key or "")


INTEREST_BYTES = 400
"""Memory that an interest takes."""


@dataclass(slots=True)
class DeclaredState:
    """The interests and entities that one side declared."""

    interests: dict[int, Interest] = field(default_factory=dict)
    entities: dict[EntityId, Entity] = field(default_factory=dict)
    ended: dict[EntityId | int, None] = field(default_factory=dict)
    """Interests and entities that have ended, in this order."""
    scopes: Counter[int] = field(default_factory=Counter)
    """How many live entities were declared with each scope."""
    size: int = 0
    """The memory that all take."""

    def interest(
        self, message: DecodedMessage, frame: int, ts_ns: int, complete: bool, roles: tuple[str | None, ...]
    ) -> Interest | None:
        """Takes an INTEREST of this side; returns it if a D_FINAL must answer it."""
        row = message.row
        ident, mode = row.get("interest_id"), row.get("interest_mode", "")
        if ident is None:
            return None
        if roles == ("router", "router"):
            message.remark("interest-role", "a router sends an interest to a router")
        if mode == "Final":
            known = self.interests.get(ident)
            if known is not None:
                known.ended = known.answered = True
                self.end(ident)
            elif complete:
                message.remark("interest-final-unknown", f"there is no interest {ident}", "interest.id")
            return None
        self.options(message, mode)
        interest = self.add(Interest(ident, frame, ts_ns, mode))
        return interest if "Current" in mode else None

    @staticmethod
    def options(message: DecodedMessage, mode: str) -> None:
        """Notes 9, rule 47: what an interest may ask for."""
        options = message.value("interest.options")
        if options is None:
            return
        at = "interest.options"
        if not options & (_K | _S | _Q | _T):
            message.remark("interest-empty", "no kind is asked for", at)
        if mode == "Current" and (not options & _T or options & (_S | _Q)):
            message.remark("interest-mode", "the Rust implementation answers Current for tokens only", at)
        if options & _A and options & _T:
            message.remark("interest-aggregate", "tokens can't be aggregated", at)
        if not options & _R and options & (_N | _M):
            message.remark("interest-flags", "N or M without R", at)

    def answer(self, message: DecodedMessage, complete: bool) -> Interest | None:
        """Takes a DECLARE that answers an interest of this side; returns the interest."""
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
                self.add(Interest(0, 0, 0, "", answered=True))
            elif ident and complete:
                message.remark("unknown-interest", f"there is no interest {ident}", "declare.interest_id")
            return None
        if interest.answered and not interest.ended:
            code = "second-interest-final" if final else "declaration-after-final"
            message.remark(code, f"interest {ident} already has its D_FINAL", "declare.interest_id")
        interest.answered = interest.answered or final
        if final and interest.over:
            self.end(ident)
        return interest

    def add(self, interest: Interest) -> Interest:
        """Remembers an interest."""
        self.size += INTEREST_BYTES * (interest.ident not in self.interests)
        self.interests[interest.ident] = interest
        self.ended.pop(interest.ident, None)
        return interest

    def overdue(self, interest: Interest) -> str:
        """What is wrong with an interest whose deadline has passed; empty if it was answered, or its id was reused."""
        if interest.answered or self.interests.get(interest.ident) is not interest:
            return ""
        return f"interest {interest.ident} of frame {interest.frame} has no D_FINAL after {PATIENCE_MS // 1000} s"

    def declare(self, message: DecodedMessage, kind: str, frame: int, current: bool, sourced: bool) -> None:
        """Takes a D_SUBSCRIBER, D_QUERYABLE or D_TOKEN of this side.

        Args:
            current: It answers an interest in current declarations only, and so isn't remembered.
            sourced: Declarations have no ids of their own: 0 and the key identify one.
        """
        row = message.row
        ident, key = row.get("entity_id"), row.get("key_expr")
        info = message.value("d_queryable.ext_queryable_info.value")
        if info is not None and DISTANCE.of(info) > FAR:
            message.remark("far-queryable", f"{DISTANCE.of(info)} hops", "d_queryable.ext_queryable_info.value")
        if ident is None or current:
            return
        entity_id = self.entity_id(kind, ident, key, sourced)
        known = self.entities.get(entity_id)
        if known is not None and known.alive and None not in (known.key, key) and known.key != key:
            text = f"{KINDS[kind]} {ident} of frame {known.frame} is {known.key}"
            message.remark("entity-remapped", text)
        if known is not None:
            self.remove(entity_id)
        entity = self.entities[entity_id] = Entity(key, frame, row.get("key_scope") or 0)
        self.scopes[entity.scope] += 1
        self.size += entity.size

    @staticmethod
    def entity_id(kind: str, ident: int, key: str | None, sourced: bool) -> EntityId:
        """What identifies an entity: kind and id, and the key where declarations have no ids (notes 6.1)."""
        return kind, ident, key if sourced and not ident else None

    def undeclare(self, message: DecodedMessage, kind: str, complete: bool, sourced: bool) -> Entity | None:
        """Takes a U_SUBSCRIBER, U_QUERYABLE or U_TOKEN of this side; returns the entity that it ends."""
        ident, key = message.row.get("entity_id"), message.row.get("key_expr")
        entity_id = self.entity_id(kind, ident or 0, key, sourced)
        known = self.entities.get(entity_id) if ident is not None else None
        if known is None or not known.alive:
            if complete and ident is not None:
                which = f"{ident} on {key}" if sourced and not ident else f"{ident}"
                message.remark("undeclare-unknown", f"there is no {KINDS[kind]} {which}")
            return known
        known.alive = False
        self.left(known)
        self.end(entity_id)
        return known

    def end(self, what: EntityId | int) -> None:
        """Notes that something has ended; of too many such, forgets the one that ended first."""
        self.ended[what] = None
        if len(self.ended) > REMEMBERED:
            self.remove(next(iter(self.ended)))

    def remove(self, what: EntityId | int) -> None:
        """Forgets an interest or an entity."""
        self.ended.pop(what, None)
        if isinstance(what, int):
            self.size -= INTEREST_BYTES
            del self.interests[what]
            return
        entity = self.entities.pop(what)
        self.size -= entity.size
        if entity.alive:
            self.left(entity)

    def left(self, entity: Entity) -> None:
        """Notes that a live entity is no more."""
        self.scopes[entity.scope] -= 1
        if not self.scopes[entity.scope]:
            del self.scopes[entity.scope]

    def shrink(self) -> None:
        """Forgets the older half, because all together take too much memory."""
        known: tuple[EntityId | int, ...]
        for known in (tuple(self.interests), tuple(self.entities)):
            for what in known[: (len(known) + 1) // 2]:
                self.remove(what)

    def uses(self, scope: int) -> bool:
        """Whether a live entity was declared with this scope."""
        return scope in self.scopes
